//! What happens in a run: an event as the store keeps it, and as a line of `events.jsonl` and of a
//! stream tells it. Pure.

use serde::Serialize;
use serde_json::Value;

use super::{Detail, STEP};

/// The event with which a run ends; nothing comes after it.
pub const RUN_FINISHED: &str = "run.finished";
/// The event with which a plan goes on after its process ended, or after it failed.
pub const PLAN_RESUMED: &str = "resumed";

/// Something that happened in a run. Cursors grow: whoever goes on from the last one misses nothing.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// Its number among all events.
    pub cursor: u64,
    /// The run.
    pub run: String,
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// What happened, such as `task.started`, `execution_start`, [`STEP`] or
    /// [`DELEGATION`](super::DELEGATION).
    pub kind: String,
    /// What belongs to it.
    pub detail: Detail,
}

/// An event as one line of JSON. What an event is about stands beside its detail and not in it.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// Its number among all events.
    pub cursor: u64,
    /// What happened.
    #[serde(rename = "type")]
    pub kind: String,
    /// When, RFC 3339 in UTC.
    pub ts: String,
    /// The run.
    pub run_id: String,
    /// The task that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The step of a plan that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Which try of it, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u64>,
    /// What else belongs to it.
    pub detail: Detail,
}

impl From<&Event> for Line {
    fn from(event: &Event) -> Line {
        let mut detail = event.detail.clone();
        // The step of an execution has fields of its own.
        let mut word = |name: &str| {
            let is_there = event.kind != STEP && detail.get(name).is_some_and(Value::is_string);
            let value = is_there.then(|| detail.remove(name)).flatten()?;
            value.as_str().map(str::to_string)
        };
        let (task_id, step) = (word("taskId"), word("step"));
        let attempt = detail.get("attempt").and_then(Value::as_u64);
        if attempt.is_some() {
            detail.remove("attempt");
        }
        Line {
            cursor: event.cursor,
            kind: event.kind.clone(),
            ts: event.at.clone(),
            run_id: event.run.clone(),
            task_id,
            step,
            attempt,
            detail,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(detail: serde_json::Value) -> serde_json::Value {
        let event = Event {
            cursor: 7,
            run: "r".into(),
            at: "t".into(),
            kind: "task.started".into(),
            detail: detail.as_object().unwrap().clone(),
        };
        json!(Line::from(&event))
    }

    #[test]
    fn what_an_event_is_about_stands_beside_its_detail() {
        let whole = line(json!({"taskId": "T3", "attempt": 2, "skill": "x"}));
        let expected = json!({"cursor": 7, "type": "task.started", "ts": "t", "runId": "r",
            "taskId": "T3", "attempt": 2, "detail": {"skill": "x"}});
        assert_eq!(whole, expected);
        assert_eq!(line(json!({"step": "s1"}))["step"], "s1");
    }

    #[test]
    fn what_has_another_form_stays_where_it_is() {
        let odd = line(json!({"step": {"id": 1}, "attempt": "first"}));
        assert_eq!(
            odd["detail"],
            json!({"step": {"id": 1}, "attempt": "first"})
        );
    }
}
