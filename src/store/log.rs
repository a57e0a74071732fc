//! The changes in the log of operations. Pure except for the trait.

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Link, SpawnRecord, Stamp};
use crate::claim::Claim;
use crate::error::Result;
use crate::gate::Gates;
use crate::id::TaskId;
use crate::task::Task;

pub(crate) const ADDED: &str = "added";
pub(crate) const CHANGED: &str = "changed";
pub(crate) const DELETED: &str = "deleted";
pub(crate) const RESTORED: &str = "restored";
pub(crate) const LINKED: &str = "linked";
pub(crate) const UNLINKED: &str = "unlinked";
/// Kinds of change that can be undone.
pub(crate) const UNDOABLE: [&str; 7] = [
    ADDED,
    CHANGED,
    DELETED,
    RESTORED,
    LINKED,
    UNLINKED,
    REQUIRED_GATES,
];
/// Kinds of change of a claim. The holder of a task and its epoch never go backwards.
pub(crate) const CLAIMS: [&str; 4] = ["claimed", "released", "expired", "extended"];

pub(crate) const REQUIRED_GATES: &str = "requiredGates";

pub(crate) trait Log {
    /// Records a change in the operation of this transaction. Changes of tasks, spawns, links and gates are
    /// recorded automatically.
    fn record(&mut self, change: &Change) -> Result<()>;

    /// Begins an operation of its own for the changes that follow; returns its number.
    fn begin_operation(&mut self, stamp: &Stamp) -> Result<u64>;

    /// Notes that the operation of this transaction undoes another one; returns its own number.
    fn note_undone(&mut self, operation: u64) -> Result<u64>;

    /// Reads up to `limit` changes after `cursor` (0: from the start), oldest first, of all tasks or of one.
    fn changes(&self, cursor: u64, task: Option<TaskId>, limit: u32) -> Result<Vec<Recorded>>;

    fn changes_of(&self, operation: u64, limit: u32) -> Result<Vec<Recorded>>;

    /// Returns the cursor of the last change; 0 when nothing has happened.
    fn last_cursor(&self) -> Result<u64>;

    fn operations(&self, filter: &OperationFilter) -> Result<(Vec<Operation>, u64)>;

    fn operation(&self, number: u64) -> Result<Option<Operation>>;

    /// Finds the latest operation of somebody that changed what can be undone, and no claim, and is neither an undo
    /// nor undone.
    fn latest_undoable(&self, by: &str) -> Result<Option<Operation>>;

    /// Finds the latest operation after another one that changed a task. Undone operations do not count, nor do undos
    /// of operations after the other one.
    fn latest_change(&self, task: TaskId, after: u64) -> Result<Option<Operation>>;
}

/// One change of one thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct Change {
    /// Kind of change: `added`, `changed`, `deleted`, `restored` of tasks; `spawned`, `verified`, `gate`, `criterion`,
    /// `requiredGates`, `forced`, `linked`, `unlinked` and other words.
    pub(crate) kind: String,
    /// The changed task.
    pub(crate) task: Option<TaskId>,
    /// More of it. For `changed` an object of fields, each `{"from": …, "to": …}` or, for lists
    /// that only grew, `{"added": […]}`; for `deleted` a [`Removed`].
    pub(crate) detail: Value,
}

/// A change with its place in the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct Recorded {
    /// Its place in the log; later changes have larger numbers.
    pub(crate) cursor: u64,
    /// Number of the operation that it belongs to.
    pub(crate) operation: u64,
    /// When, RFC 3339 in UTC.
    pub(crate) at: String,
    /// Author of the change.
    pub(crate) by: String,
    pub(crate) command: String,
    #[serde(flatten)]
    pub(crate) change: Change,
}

/// Everything that one transaction did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Operation {
    /// Its number; later operations have larger ones.
    pub(crate) number: u64,
    /// When, RFC 3339 in UTC.
    pub(crate) at: String,
    /// Author of the change.
    pub(crate) by: String,
    pub(crate) command: String,
    /// The operation that it undoes.
    pub(crate) undoes: Option<u64>,
    /// The operation that undid it, unless that was undone.
    pub(crate) undone_by: Option<u64>,
    /// How many changes it made.
    pub(crate) changes: u64,
}

#[derive(Args, Clone, Debug, Default, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct OperationFilter {
    /// Only changes of this task, also of a deleted one
    #[arg(long, short, value_name = "TASK")]
    pub(crate) task: Option<TaskId>,

    /// Only operations since a date, a time or an age such as 90m, 12h, 2d or 1w
    // The store reads a time, RFC 3339 in UTC.
    #[arg(long, value_name = "WHEN")]
    #[schemars(transform = crate::task::schema::past)]
    pub(crate) since: Option<String>,

    /// Only operations before this one
    #[arg(long, value_name = "OPERATION")]
    pub(crate) before: Option<u64>,

    /// Maximum number of operations (20), or of changes of one operation (1000)
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Removed {
    pub(crate) task: Task,
    pub(crate) spawns: Vec<SpawnRecord>,
    pub(crate) links: Vec<Link>,
    pub(crate) gates: Gates,
    /// Its last claim, whose epoch must outlive the task: it may come back.
    #[serde(default)]
    pub(crate) claim: Option<Claim>,
    /// Whether a part of it could not be read. It does not come back, because a demand for proof may be missing.
    #[serde(default)]
    pub(crate) is_damaged: bool,
}

#[derive(Serialize)]
pub(super) struct Added<'a> {
    title: &'a str,
}

impl Added<'_> {
    pub(super) fn new(task: &Task) -> Added<'_> {
        Added { title: &task.title }
    }
}

pub(super) fn task_change(before: Option<&Task>, after: &Task) -> Option<Change> {
    let (kind, detail) = match before {
        None => (ADDED, json!(Added::new(after))),
        Some(before) => (CHANGED, Value::Object(difference(before, after))),
    };
    let is_change = before.is_none() || detail.as_object().is_some_and(|fields| !fields.is_empty());
    is_change.then(|| change(kind, after.id, detail))
}

pub(super) fn delete(removed: &Removed) -> Change {
    change(DELETED, removed.task.id, json!(removed))
}

pub(super) fn restore(removed: &Removed) -> Change {
    let task = &removed.task;
    change(RESTORED, task.id, json!({"title": task.title}))
}

/// Returns the change of a spawn: prompt handed out, or output verified. It has neither prompt nor receipt.
/// Forced completions are recorded with the gates.
pub(super) fn spawn(before: Option<&SpawnRecord>, after: &SpawnRecord) -> Option<Change> {
    let id = &after.manifest_id;
    let (kind, detail) = match before {
        Some(before) if before.at == after.at && before.receipt == after.receipt => {
            if before.verified_at == after.verified_at {
                return None;
            }
            let digest = &after.output_digest;
            (
                "verified",
                json!({"manifestId": id, "outputDigest": digest}),
            )
        }
        _ => {
            let (skill, file) = (&after.receipt["skill"], &after.output_file);
            let detail = json!({"manifestId": id, "outputFile": file, "skill": skill});
            ("spawned", detail)
        }
    };
    Some(change(kind, after.task, detail))
}

pub(super) fn link(kind: &str, link: &Link) -> Change {
    change(kind, link.task, json!(link))
}

fn change(kind: &str, task: TaskId, detail: Value) -> Change {
    Change {
        kind: kind.to_string(),
        task: Some(task),
        detail,
    }
}

/// Returns the changes of the gates of a task: gates set, criteria checked, required gates, and forced
/// completions.
pub(super) fn gates(task: TaskId, before: &Gates, after: &Gates) -> Vec<Change> {
    let mut told = Vec::new();
    let mut tell = |kind: &str, detail| told.push(change(kind, task, detail));
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
            REQUIRED_GATES,
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
            changed.insert(name.clone(), describe_step(from, to));
        }
    }
    changed
}

/// Tells what became of a value; of a list that only grew, what it grew by.
fn describe_step(from: Option<&Value>, to: Option<&Value>) -> Value {
    match (from, to) {
        (Some(Value::Array(from)), Some(Value::Array(to)))
            if !from.is_empty() && to.starts_with(from) =>
        {
            json!({"added": to[from.len()..]})
        }
        (from, to) => json!({"from": from, "to": to}),
    }
}

/// Returns a task as it was before a change with this detail.
pub(crate) fn read_before(after: &Task, changed: &Value) -> serde_json::Result<Task> {
    let mut row = json!(after);
    for (field, step) in changed.as_object().into_iter().flatten() {
        match (step["added"].as_array(), row[field].as_array_mut()) {
            // The removal of a task has taken it from the list already.
            (Some(added), Some(list)) => added.iter().rev().for_each(|value| {
                list.pop_if(|last| last == value);
            }),
            _ => row[field] = step["from"].clone(),
        }
    }
    Task::deserialize(row)
}
