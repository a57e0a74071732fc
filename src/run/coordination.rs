//! The activity of the coordinator of a plan or a query, and the agents that it has asked. Pure.

use std::collections::BTreeSet;

use serde_json::Value;

use super::event::RUN_INTERRUPTED;
use super::{Detail, PLAN_RESUMED, RUN_FINISHED};
use crate::words::closed;

closed! {
    /// The activity of a coordinator. The words are those of the coordinator specification, section 8.
    #[derive(Default)]
    CoordinatorState, "state of a coordinator":
    /// Its run is over.
    Waiting = "waiting",
    /// It makes the plan of a pass.
    #[default]
    Decomposing = "decomposing",
    /// Agents work on the steps.
    Dispatching = "dispatching",
    /// All steps are done, and their replies are joined.
    Aggregating = "aggregating",
    /// It judges whether the goal is reached.
    Evaluating = "evaluating",
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Coordination {
    pub(crate) state: CoordinatorState,
    /// The steps that agents work on, each with its agent, in the order in which they were asked.
    pub(crate) asked: Vec<(String, String)>,
    /// The steps of the pass that are not done.
    open: BTreeSet<String>,
}

impl Coordination {
    pub(super) fn apply(&mut self, kind: &str, detail: &Detail) {
        let word = |name: &str| detail.get(name).and_then(Value::as_str).map(String::from);
        let step = word("stepId").unwrap_or_default();
        match kind {
            "plan" => {
                let steps = detail.get("steps").and_then(Value::as_array);
                let ids = steps.into_iter().flatten().map(|step| &step["id"]);
                let mut ids = Vec::from_iter(ids.filter_map(Value::as_str));
                if detail.get("previous").is_some_and(Value::is_string)
                    && word("refine").as_deref() == Some("last-step")
                {
                    ids.drain(..ids.len().saturating_sub(1));
                }
                self.open = ids.into_iter().map(String::from).collect();
                self.state = CoordinatorState::Dispatching;
            }
            "dispatch" | "agentStart" => {
                self.asked.extend(word("agent").map(|agent| (step, agent)));
            }
            "agentComplete" | "error" => self.asked.retain(|(asked, _)| *asked != step),
            "stepCompleted" => {
                self.open.remove(&step);
                if self.open.is_empty() {
                    self.state = CoordinatorState::Aggregating;
                }
            }
            "aggregate" => self.state = CoordinatorState::Evaluating,
            PLAN_RESUMED => {
                self.state = match self.open.is_empty() {
                    true => CoordinatorState::Decomposing,
                    false => CoordinatorState::Dispatching,
                };
            }
            RUN_INTERRUPTED | RUN_FINISHED => {
                self.asked.clear();
                self.state = CoordinatorState::Waiting;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::run::detail;

    #[test]
    fn events_of_a_plan_tell_what_its_coordinator_does() {
        let steps = json!([{"id": "find"}, {"id": "judge"}]);
        let again = json!({"steps": steps, "previous": "p", "refine": "last-step"});
        let asked = |step: &str| json!({"stepId": step, "agent": format!("the-{step}")});
        let mut coordination = Coordination::default();
        let mut seen = vec![(coordination.state.word(), 0)];
        for (kind, fields) in [
            ("plan", json!({"steps": steps, "refine": "last-step"})),
            ("dispatch", json!({"stepId": "find"})),
            ("agentStart", asked("find")),
            ("agentComplete", asked("find")),
            ("stepCompleted", asked("find")),
            ("agentStart", asked("judge")),
            ("error", asked("judge")),
            ("agentStart", asked("judge")),
            ("agentComplete", asked("judge")),
            ("stepCompleted", asked("judge")),
            ("aggregate", json!({})),
            ("plan", again),
            ("agentStart", asked("judge")),
            (RUN_INTERRUPTED, json!({})),
            (PLAN_RESUMED, json!({})),
            ("stepCompleted", asked("judge")),
            ("aggregate", json!({})),
            (RUN_FINISHED, json!({})),
        ] {
            coordination.apply(kind, &detail(fields));
            let now = (coordination.state.word(), coordination.asked.len());
            if seen.last() != Some(&now) {
                seen.push(now);
            }
        }
        let expected = [
            ("decomposing", 0),
            ("dispatching", 0),
            ("dispatching", 1),
            ("dispatching", 0),
            ("dispatching", 1),
            ("dispatching", 0),
            ("dispatching", 1),
            ("dispatching", 0),
            ("aggregating", 0),
            ("evaluating", 0),
            ("dispatching", 0),
            ("dispatching", 1),
            ("waiting", 0),
            ("dispatching", 0),
            ("aggregating", 0),
            ("evaluating", 0),
            ("waiting", 0),
        ];
        assert_eq!(seen, expected);
    }
}
