//! How far a plan has come, by its record.

use super::{Course, Refine, StepStatus, Stepped};
use crate::plan::read;
use crate::run::{Event, Message};

#[derive(Default)]
pub(super) struct Told {
    pub(super) max_loops: Option<u32>,
    pub(super) refine: Option<Refine>,
}

/// Reads the last pass of a record. What it does not tell, or not so that it can be used, is done again.
pub(super) fn stand(events: &[Event], messages: &[Message]) -> (Course, Told) {
    let last = events.iter().rposition(|event| event.kind == "plan");
    let Some((event, after)) = last.map(|at| (&events[at], &events[at + 1..])) else {
        return Default::default();
    };
    let detail = &event.detail;
    let plan = detail
        .get("plan")
        .map(ToString::to_string)
        .unwrap_or_default();
    let (plan, faults) = read(plan.as_bytes());
    if !faults.is_empty() {
        return Default::default();
    }
    let number = |name: &str| u32::try_from(detail.get(name)?.as_u64()?).ok();
    let refine = detail
        .get("refine")
        .and_then(|word| word.as_str()?.parse().ok());
    let previous = detail.get("previous").and_then(|text| text.as_str());
    let steps = plan.steps.iter().map(|step| Stepped::waits(&step.id, &[]));
    let mut course = Course {
        steps: steps.collect(),
        plan,
        passes: number("pass").unwrap_or(1),
        begun: Some(previous.map(str::to_string)),
        ..Course::default()
    };
    let told = Told {
        max_loops: number("maxLoops"),
        refine,
    };
    // With the last step alone, what the others said stands in an earlier pass.
    let kept = match told.refine {
        Some(Refine::LastStep) => events,
        _ => after,
    };
    kept.iter()
        .for_each(|event| take(&mut course, event, messages));
    if told.refine == Some(Refine::LastStep) && course.passes > 1 {
        redo_last(&mut course, after);
    }
    (course, told)
}

fn take(course: &mut Course, event: &Event, messages: &[Message]) {
    let word = |name: &str| event.detail.get(name).and_then(|value| value.as_str());
    let said = word("responseMessageId").filter(|_| event.kind == "agentComplete");
    let said = messages
        .iter()
        .find(|message| Some(message.id.as_str()) == said);
    let id = word("stepId");
    let step = course
        .steps
        .iter_mut()
        .find(|step| Some(step.step.as_str()) == id);
    let (Some(said), Some(step)) = (said, step) else {
        return;
    };
    step.status = StepStatus::Done;
    step.tries += 1;
    step.agent = word("agent").unwrap_or_default().to_string();
    step.text = Some(said.content.clone());
    let by = event.detail.get("answeredBy").cloned();
    step.answered_by = by.and_then(|by| serde_json::from_value(by).ok());
    let metadata = event.detail.get("metadata").and_then(|it| it.as_object());
    step.metadata = metadata.cloned().unwrap_or_default();
}

/// The last step is done only when it was done in the last pass.
fn redo_last(course: &mut Course, after: &[Event]) {
    let Some(last) = course.steps.last_mut() else {
        return;
    };
    let is_it = |event: &&Event| {
        event.kind == "stepCompleted"
            && event.detail.get("stepId") == Some(&last.step.as_str().into())
    };
    if !after.iter().any(|event| is_it(&event)) {
        last.status = StepStatus::Waiting;
    }
}
