//! What a change is, and how the changes of tasks are told. Pure but for the trait.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Link, SpawnRecord};
use crate::error::Result;
use crate::gate::Gates;
use crate::id::TaskId;
use crate::task::Task;

/// What happened, in the order in which it happened.
pub trait Log {
    /// Records a change under the operation of this transaction. Changes of tasks record
    /// themselves; this is for what happens around them.
    fn record(&mut self, change: &Change) -> Result<()>;

    /// Reads the changes after `cursor` (0: from the beginning), oldest first, at most `limit`.
    fn changes(&self, cursor: u64, limit: u32) -> Result<Vec<Recorded>>;
}

/// One change of one thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// What happened: `added`, `changed`, `deleted` of tasks; other words of what is around them.
    pub kind: String,
    /// The task that it is about.
    pub task: Option<TaskId>,
    /// More of it. For `changed` an object of fields, each `{"from": …, "to": …}` or, for lists
    /// that only grew, `{"added": […]}`; for `deleted` the task and what went with it.
    pub detail: serde_json::Value,
}

/// A change with its place in the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// Where it stands; later changes have larger numbers.
    pub cursor: u64,
    /// Number of the operation that it belongs to.
    pub operation: u64,
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// Who.
    pub by: String,
    /// By which command.
    pub command: String,
    /// What.
    #[serde(flatten)]
    pub change: Change,
}

/// Tells what a write of a task changes; nothing if nothing differs.
pub(super) fn put(before: Option<&Task>, after: &Task) -> Option<Change> {
    let (kind, detail) = match before {
        None => ("added", json!({"title": after.title})),
        Some(before) => ("changed", Value::Object(difference(before, after))),
    };
    let is_change = before.is_none() || detail.as_object().is_some_and(|fields| !fields.is_empty());
    is_change.then(|| Change {
        kind: kind.to_string(),
        task: Some(after.id),
        detail,
    })
}

/// Tells that a task is deleted, with everything that goes with it.
pub(super) fn delete(task: &Task, spawns: &[SpawnRecord], links: &[Link], gates: &Gates) -> Change {
    Change {
        kind: "deleted".to_string(),
        task: Some(task.id),
        detail: json!({"task": task, "spawns": spawns, "links": links, "gates": gates}),
    }
}

/// Tells what a write of the gates of a task changes: gates that are set, criteria that are shown
/// to hold or not, the gates that it needs, and a completion by force.
pub(super) fn gates(task: TaskId, before: &Gates, after: &Gates) -> Vec<Change> {
    let mut told = Vec::new();
    let mut tell = |kind: &str, detail| {
        told.push(Change {
            kind: kind.to_string(),
            task: Some(task),
            detail,
        });
    };
    for (gate, record) in &after.gates {
        if before.gates.get(gate) != Some(record) {
            let by_command = record.evidence.iter().any(|each| each.outcome().is_some());
            let (passed, forced) = (record.passed, record.forced);
            let detail =
                json!({"gate": gate, "passed": passed, "forced": forced, "byCommand": by_command});
            tell("gate", detail);
        }
    }
    for (line, record) in &after.criteria {
        if before.criteria.get(line) != Some(record) {
            tell(
                "criterion",
                json!({"criterion": line, "passed": record.passed}),
            );
        }
    }
    if before.required != after.required {
        tell(
            "requiredGates",
            json!({"from": before.required, "to": after.required}),
        );
    }
    if let Some(forced) = after
        .forced
        .as_ref()
        .filter(|_| before.forced != after.forced)
    {
        tell("forced", json!({"reasons": forced.reasons}));
    }
    told
}

/// Returns the fields that differ. When a task was last changed is no change of its own.
fn difference(before: &Task, after: &Task) -> Map<String, Value> {
    let fields = |task: &Task| match json!(task) {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    let (before, after) = (fields(before), fields(after));
    let mut changed = Map::new();
    for name in before.keys().chain(after.keys()) {
        let (from, to) = (before.get(name), after.get(name));
        if from != to && name != "updatedAt" {
            changed.insert(name.clone(), step(from, to));
        }
    }
    changed
}

/// Tells what became of a value; of a list that only grew, what it grew by.
fn step(from: Option<&Value>, to: Option<&Value>) -> Value {
    match (from, to) {
        (Some(Value::Array(from)), Some(Value::Array(to)))
            if !from.is_empty() && to.starts_with(from) =>
        {
            json!({"added": to[from.len()..]})
        }
        (from, to) => json!({"from": from, "to": to}),
    }
}
