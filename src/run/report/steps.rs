//! What became of the steps of a plan, read from the events of its run: where each stands, and every try.

use std::collections::HashMap;

use serde_json::Value;

use crate::plan::{Plan, read};
use crate::run::told::kind;
use crate::run::track::TaskState;
use crate::run::view::RunView;
use crate::run::{Event, PLAN_RESUMED, RUN_FINISHED, RunKind};

const PLANNED: &str = "plan";
const ASKED: &str = "agentStart";
const ANSWERED: &str = "agentComplete";
const FAILED: &str = "error";

#[derive(Default)]
pub(super) struct Steps<'a> {
    pub(super) plan: Plan,
    /// The tries of steps in all passes, in the order in which they began.
    pub(super) tries: Vec<Try<'a>>,
    pub(super) told_at: &'a str,
    /// Where steps of the last pass stand that do not wait.
    states: HashMap<&'a str, TaskState>,
    said: HashMap<&'a str, &'a str>,
}

pub(super) struct Try<'a> {
    pub(super) step: &'a str,
    /// Which one, from 1, in all passes.
    pub(super) attempt: u32,
    pub(super) agent: &'a str,
    pub(super) from: &'a str,
    pub(super) to: Option<&'a str>,
    /// What its agent came to; none where that was never told.
    end: Option<&'a Event>,
}

impl Try<'_> {
    pub(super) fn is_good(&self) -> bool {
        self.end.is_some_and(|end| end.kind == ANSWERED)
    }
}

impl<'a> Steps<'a> {
    /// Reads the steps of a run; none where it carries out no plan, or its events tell of none.
    pub(super) fn of(view: &'a RunView) -> Option<Steps<'a>> {
        if view.run.record.kind != RunKind::Plan {
            return None;
        }
        let said = view.messages.iter();
        let mut steps = Steps {
            said: said
                .map(|message| (message.id.as_str(), message.content.as_str()))
                .collect(),
            ..Steps::default()
        };
        view.events().iter().for_each(|event| steps.take(event));
        (!steps.plan.steps.is_empty()).then_some(steps)
    }

    pub(super) fn state(&self, step: &str) -> TaskState {
        let state = self.states.get(step);
        state.copied().unwrap_or(TaskState::Waiting)
    }

    pub(super) fn result(&self, one: &Try<'_>) -> String {
        let Some(end) = one.end else {
            let told = match one.to {
                Some(_) => "broken off: nothing was told of its end",
                None => "under way",
            };
            return told.to_string();
        };
        let said = word(end, "responseMessageId").and_then(|id| self.said.get(id));
        match said {
            Some(said) => said.to_string(),
            None => {
                let words = ["code", "message"].map(|name| word(end, name));
                words.into_iter().flatten().collect::<Vec<_>>().join(": ")
            }
        }
    }

    fn take(&mut self, event: &'a Event) {
        match (event.kind.as_str(), word(event, "stepId")) {
            (PLANNED, None) => self.begin_pass(event),
            (ASKED, Some(step)) => self.begin(step, event),
            (ANSWERED | FAILED, Some(step)) => self.end(step, event),
            (PLAN_RESUMED | RUN_FINISHED | kind::RUN_LEFT, None) => {
                let open = self.tries.iter_mut().filter(|one| one.to.is_none());
                open.for_each(|one| one.to = Some(self.told_at));
                self.states.retain(|_, state| *state != TaskState::Running);
            }
            _ => {}
        }
        if event.kind == PLAN_RESUMED {
            self.states.retain(|_, state| *state == TaskState::Done);
        }
        // Others ask for the end, perhaps long after the process was gone.
        if event.kind != kind::RUN_CANCEL {
            self.told_at = &event.at;
        }
    }

    /// Takes the plan of a pass: all of its steps are to be done, or the last one alone, once more.
    fn begin_pass(&mut self, event: &'a Event) {
        let written = event.detail.get("plan").map(ToString::to_string);
        let (plan, faults) = read(written.unwrap_or_default().as_bytes());
        if !faults.is_empty() {
            return;
        }
        let pass = event.detail.get("pass").and_then(Value::as_u64);
        if pass.is_none_or(|pass| pass <= 1) || word(event, "refine") != Some("last-step") {
            self.states.clear();
        }
        if let Some(last) = plan.steps.last() {
            self.states.remove(last.id.as_str());
        }
        self.plan = plan;
    }

    fn begin(&mut self, step: &'a str, event: &'a Event) {
        let before = self.tries.iter().rev().find(|one| one.step == step);
        let attempt = before.map_or(1, |before| before.attempt + 1);
        self.tries.push(Try {
            step,
            attempt,
            agent: word(event, "agent").unwrap_or_default(),
            from: &event.at,
            to: None,
            end: None,
        });
        self.states.insert(step, TaskState::Running);
    }

    fn end(&mut self, step: &'a str, event: &'a Event) {
        let is_retried = event.detail.get("retried") == Some(&Value::Bool(true));
        let state = match event.kind.as_str() {
            ANSWERED => TaskState::Done,
            _ if is_retried => TaskState::Waiting,
            _ => TaskState::Failed,
        };
        self.states.insert(step, state);
        let is_open = |one: &&mut Try<'a>| one.step == step && one.to.is_none();
        if let Some(open) = self.tries.iter_mut().rev().find(is_open) {
            open.to = Some(event.at.as_str());
            open.end = Some(event);
        }
    }
}

fn word<'a>(event: &'a Event, name: &str) -> Option<&'a str> {
    event.detail.get(name)?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::run::Run;
    use crate::run::track::Track;

    fn plan(pass: u32, refine: &str) -> Value {
        json!({"pass": pass, "refine": refine, "plan": {"goal": "g", "steps": [
            {"id": "a", "capability": "x", "instruction": "i"},
            {"id": "b", "capability": "x", "instruction": "i", "dependsOn": ["a"]}]}})
    }

    fn step(id: &str) -> Value {
        json!({"stepId": id, "agent": "w"})
    }

    /// A plan of two steps: the first one is asked twice, the process is killed in the second one, which
    /// fails then and is done after that.
    fn told() -> Vec<(&'static str, Value, [&'static str; 2])> {
        let failed = |id: &str, retried: bool| json!({"stepId": id, "retried": retried});
        vec![
            (PLANNED, plan(1, "last-step"), ["waiting", "waiting"]),
            (ASKED, step("a"), ["running", "waiting"]),
            (FAILED, failed("a", true), ["waiting", "waiting"]),
            (ASKED, step("a"), ["running", "waiting"]),
            (ANSWERED, step("a"), ["done", "waiting"]),
            (ASKED, step("b"), ["done", "running"]),
            (kind::RUN_CANCEL, json!({}), ["done", "running"]),
            (kind::RUN_LEFT, json!({"error": "x"}), ["done", "waiting"]),
            (PLAN_RESUMED, json!({}), ["done", "waiting"]),
            (ASKED, step("b"), ["done", "running"]),
            (FAILED, failed("b", false), ["done", "failed"]),
            (RUN_FINISHED, json!({}), ["done", "failed"]),
            (PLAN_RESUMED, json!({}), ["done", "waiting"]),
            (ASKED, step("b"), ["done", "running"]),
            (ANSWERED, step("b"), ["done", "done"]),
            (PLANNED, plan(2, "last-step"), ["done", "waiting"]),
            (PLANNED, plan(3, "plan"), ["waiting", "waiting"]),
        ]
    }

    fn event(second: usize, kind: &str, detail: Value) -> Event {
        Event {
            cursor: 0,
            run: "exec_1".into(),
            at: format!("2026-01-26T10:00:{second:02}.000Z"),
            kind: kind.into(),
            detail: detail.as_object().unwrap().clone(),
        }
    }

    fn with_steps<T>(
        kind: RunKind,
        events: &[Event],
        look: impl FnOnce(Option<Steps<'_>>) -> T,
    ) -> T {
        let run = Run::new("exec_1".into(), kind, "coordinator", "g".into());
        let mut view = RunView::new(run, &Track::default(), &[], String::new());
        view.events = Some(events.to_vec());
        look(Steps::of(&view))
    }

    #[test]
    fn steps_stand_where_the_events_of_the_last_pass_say() {
        let mut events = Vec::new();
        for (second, (kind, detail, states)) in told().into_iter().enumerate() {
            events.push(event(second, kind, detail));
            let shown = with_steps(RunKind::Plan, &events, |steps| {
                let steps = steps.unwrap();
                ["a", "b"].map(|step| steps.state(step).word())
            });
            assert_eq!(shown, states, "{second} {kind}");
        }
        assert!(with_steps(RunKind::Query, &events, |steps| steps.is_none()));
        assert!(with_steps(RunKind::Plan, &events[1..3], |steps| steps.is_none()));
    }

    #[test]
    fn every_try_is_kept_and_what_a_kill_cut_off_ends_with_the_last_word_of_its_process() {
        let told = told().into_iter().enumerate();
        let events: Vec<Event> = told
            .map(|(second, (kind, detail, _))| event(second, kind, detail))
            .collect();
        let shown = with_steps(RunKind::Plan, &events, |steps| {
            let tries = steps.unwrap().tries;
            let second = |at: &str| at[17..19].parse::<u32>().unwrap();
            let shown = tries.iter().map(|one| {
                let step = one.step.to_string();
                let to = second(one.to.unwrap());
                (step, one.attempt, second(one.from), to, one.is_good())
            });
            shown.collect::<Vec<_>>()
        });
        let tries: [(&str, u32, u32, u32, bool); 5] = [
            ("a", 1, 1, 2, false),
            ("a", 2, 3, 4, true),
            ("b", 1, 5, 5, false),
            ("b", 2, 9, 10, false),
            ("b", 3, 13, 14, true),
        ];
        let tries = tries.map(|(step, attempt, from, to, is_good)| {
            (step.to_string(), attempt, from, to, is_good)
        });
        assert_eq!(shown, tries);
    }
}
