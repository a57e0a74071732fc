//! The state of a plan between its passes, and how it is read from the record of a run.

use serde::Serialize;

use super::{Refine, StepReport};
use crate::coordinator::request::PlanRequest;
use crate::plan::message::join_results;
use crate::plan::{Plan, read};
use crate::run::{AnsweredBy, Detail, Event, Message, StepState};

#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
pub(crate) struct Course {
    /// The plan of the last pass.
    pub(crate) plan: Plan,
    /// The result of each step in the last pass.
    pub(crate) steps: Vec<StepReport>,
    /// How often it was gone over.
    pub(crate) passes: u32,
    /// Whether the goal is reached, by what the last step said.
    pub(crate) satisfied: bool,
    /// Warnings for the caller.
    #[serde(skip)]
    pub(crate) warnings: Vec<String>,
    /// A pass that a process which ended has begun, with what the one before came to.
    #[serde(skip)]
    pub(super) begun: Option<Option<String>>,
}

impl Course {
    pub(super) fn answer(&self) -> String {
        let steps = self.steps.iter();
        join_results(steps.filter_map(|step| Some((step.step.as_str(), step.text.as_deref()?))))
    }

    pub(super) fn find_source(&self) -> Option<AnsweredBy> {
        let mut all = self.steps.iter().filter_map(|step| step.answered_by);
        let first = all.next()?;
        all.all(|other| other == first).then_some(first)
    }

    pub(super) fn count_done(&self) -> usize {
        let is_done = |step: &&StepReport| step.status == StepState::Done;
        self.steps.iter().filter(is_done).count()
    }
}

impl StepReport {
    pub(super) fn for_waiting_step(step: &str, before: &[StepReport]) -> StepReport {
        let before = before.iter().find(|one| one.step == step);
        StepReport {
            step: step.to_string(),
            tries: before.map_or(0, |one| one.tries),
            ..StepReport::default()
        }
    }
}

/// Reads a record: the last pass, and how its plan is gone over; a maximum in `request` goes before that of the
/// record. Steps that the record does not show, or not usably, are done again.
pub(super) fn read_record(
    events: &[Event],
    messages: &[Message],
    request: &PlanRequest,
) -> (Course, PlanRequest) {
    let mut course = Course::default();
    let mut recorded = request.clone();
    for event in events {
        match event.kind.as_str() {
            "plan" => {
                recorded.clone_from(request);
                course.read_pass(&event.detail, &mut recorded);
            }
            "agentComplete" => course.read_answer(&event.detail, messages),
            _ => {}
        }
    }
    (course, recorded)
}

fn word<'a>(detail: &'a Detail, name: &str) -> Option<&'a str> {
    detail.get(name)?.as_str()
}

impl Course {
    fn read_pass(&mut self, detail: &Detail, request: &mut PlanRequest) {
        let plan = detail.get("plan").map(ToString::to_string);
        let (plan, faults) = read(plan.unwrap_or_default().as_bytes());
        if !faults.is_empty() {
            *self = Course::default();
            return;
        }
        let number = |name: &str| u32::try_from(detail.get(name)?.as_u64()?).ok();
        request.max_loops = request.max_loops.or(number("maxLoops"));
        let refine = word(detail, "refine").and_then(|word| word.parse().ok());
        request.refine = refine.or(request.refine);
        match self.steps.last_mut() {
            // The others keep what they said in an earlier pass.
            Some(last) if refine == Some(Refine::LastStep) => last.status = StepState::Waiting,
            _ => {
                let steps = plan.steps.iter();
                self.steps = steps
                    .map(|step| StepReport::for_waiting_step(&step.id, &[]))
                    .collect();
            }
        }
        self.plan = plan;
        self.passes = number("pass").unwrap_or(1);
        self.begun = Some(word(detail, "previous").map(str::to_string));
    }

    fn read_answer(&mut self, detail: &Detail, messages: &[Message]) {
        let said = word(detail, "responseMessageId")
            .and_then(|id| messages.iter().find(|message| message.id == id));
        let id = word(detail, "stepId");
        let step = self
            .steps
            .iter_mut()
            .find(|step| Some(step.step.as_str()) == id);
        let (Some(said), Some(step)) = (said, step) else {
            return;
        };
        step.status = StepState::Done;
        step.tries += 1;
        step.agent = word(detail, "agent").unwrap_or_default().to_string();
        step.text = Some(said.content.clone());
        let by = detail.get("answeredBy").cloned();
        step.answered_by = by.and_then(|by| serde_json::from_value(by).ok());
        let metadata = detail.get("metadata").and_then(|it| it.as_object());
        step.metadata = metadata.cloned().unwrap_or_default();
    }
}
