//! The log: operations in order, with their authors and changes.

use std::thread;
use std::time::Duration;

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;
use serde_json::Value;

use super::{Context, require};
use crate::clock::past;
use crate::error::{Code, Error, Result, shorten};
use crate::id::{self, TaskId};
use crate::store::{Change, Operation, OperationFilter, Recorded, Store, Transaction, log};

/// Number of operations that are shown by default.
const USUAL: u32 = 20;
/// Number of changes of an operation in its summary.
const SUMMED: u32 = 200;
/// Maximum number of tasks in a summary.
const NAMED: usize = 5;
/// Longest value that a description shows, in characters.
const VALUE_MAX: usize = 60;
/// Number of changes that are read at once.
const FOLLOWED: u32 = 500;
/// Interval of the poll for new changes.
const INTERVAL: Duration = Duration::from_millis(100);
/// Fields that change along with the status and are not named beside it.
const TIMES: [&str; 3] = ["startedAt", "completedAt", "cancelledAt"];

/// An operation and what it did, in a few words.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Entry {
    #[serde(flatten)]
    pub(crate) operation: Operation,
    /// The first tasks that it changed.
    pub(crate) tasks: Vec<TaskId>,
    /// Its changes, on one line, with untrusted text.
    pub(crate) summary: String,
}

/// Operations, newest first.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Logged {
    pub(crate) operations: Vec<Entry>,
    /// How many fit in all.
    pub(crate) total: u64,
}

/// One operation with its changes.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Shown {
    pub(crate) operation: Entry,
    /// Its changes, oldest first.
    pub(crate) changes: Vec<Recorded>,
    /// How many there are in all.
    pub(crate) total: u64,
}

pub(crate) fn log(context: &mut Context, mut filter: OperationFilter) -> Result<Logged> {
    let now = context.surroundings.clock.now();
    filter.since = filter.since.map(|text| past(&text, now)).transpose()?;
    filter.limit.get_or_insert(USUAL);
    context.read(|transaction| {
        if let Some(task) = filter.task {
            // A task that is not there was there once if the log has a change of it.
            if transaction.changes(0, Some(task), 1)?.is_empty() {
                require(transaction, task)?;
            }
        }
        let (operations, total) = transaction.operations(&filter)?;
        let told = operations.into_iter().map(|each| entry(transaction, each));
        Ok(Logged {
            operations: told.collect::<Result<_>>()?,
            total,
        })
    })
}

pub(crate) fn operation(context: &mut Context, number: u64, limit: u32) -> Result<Shown> {
    context.read(|transaction| {
        let operation = require_operation(transaction, number)?;
        let total = operation.changes;
        Ok(Shown {
            operation: entry(transaction, operation)?,
            changes: transaction.changes_of(number, limit)?,
            total,
        })
    })
}

pub(super) fn require_operation(transaction: &dyn Transaction, number: u64) -> Result<Operation> {
    transaction.operation(number)?.ok_or_else(|| {
        let message = format!("there is no operation {number}");
        Error::new(Code::OperationNotFound, message).fix("cleo log")
    })
}

pub(super) fn entry(transaction: &dyn Transaction, operation: Operation) -> Result<Entry> {
    let changes = transaction.changes_of(operation.number, SUMMED)?;
    let changes: Vec<Change> = changes.into_iter().map(|each| each.change).collect();
    let mut tasks = tasks_of(&changes);
    tasks.truncate(2 * NAMED);
    Ok(Entry {
        summary: summary(&changes, operation.changes),
        operation,
        tasks,
    })
}

fn tasks_of<'a>(changes: impl IntoIterator<Item = &'a Change>) -> Vec<TaskId> {
    let tasks = changes.into_iter().filter_map(|change| change.task);
    Vec::from_iter(tasks.collect::<IndexSet<_>>())
}

/// Describes changes on one line, the first of `total`.
fn summary(changes: &[Change], total: u64) -> String {
    let mut kinds: IndexMap<&str, Vec<&Change>> = IndexMap::new();
    for change in changes {
        kinds.entry(&change.kind).or_default().push(change);
    }
    let parts = kinds.into_iter().map(|(kind, own)| match own.as_slice() {
        [only] => describe(only),
        own => format!(
            "{kind} {}",
            id::list_first(&tasks_of(own.iter().copied()), NAMED)
        ),
    });
    let mut parts = Vec::from_iter(parts);
    if total > changes.len() as u64 {
        parts.push(format!("{total} changes in all"));
    }
    parts.join("; ")
}

/// Describes a change on one line, with untrusted text.
pub(crate) fn describe(change: &Change) -> String {
    let task = change.task.map(|id| id.to_string()).unwrap_or_default();
    let detail = &change.detail;
    let text = |name: &str| detail[name].as_str().unwrap_or_default();
    let told = match change.kind.as_str() {
        log::CHANGED => describe_fields(detail),
        log::DELETED => shorten_value(detail["task"]["title"].as_str().unwrap_or_default()),
        log::LINKED | log::UNLINKED => text("entry").to_string(),
        "spawned" | "verified" => text("manifestId").to_string(),
        "gate" => format!("{} {}", text("gate"), format_passed(detail)),
        "criterion" => format!(
            "{} {}",
            shorten_value(text("criterion")),
            format_passed(detail)
        ),
        "requiredGates" => join_words(&detail["to"], ", "),
        "registered" => return text("message").to_string(),
        "forced" => shorten_value(&join_words(&detail["reasons"], "; ")),
        _ => {
            let names = ["title", "session", "phase"].map(text);
            shorten_value(
                names
                    .into_iter()
                    .find(|name| !name.is_empty())
                    .unwrap_or_default(),
            )
        }
    };
    let words = [change.kind.as_str(), task.as_str(), told.as_str()];
    let words = words.into_iter().filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

fn shorten_value(text: &str) -> String {
    shorten(text, VALUE_MAX).into_owned()
}

fn join_words(list: &Value, between: &str) -> String {
    let words = list.as_array().into_iter().flatten();
    let words: Vec<&str> = words.filter_map(Value::as_str).collect();
    words.join(between)
}

fn format_passed(detail: &Value) -> &'static str {
    match detail["passed"] == true {
        true => "passed",
        false => "open",
    }
}

/// Names the fields that changed, with the values of status and priority.
fn describe_fields(detail: &Value) -> String {
    let Some(fields) = detail.as_object() else {
        return String::new();
    };
    let with_status = fields.contains_key("status");
    let named = fields
        .iter()
        .filter(|(name, _)| !(with_status && TIMES.contains(&name.as_str())));
    let told = named.map(|(name, step)| match name.as_str() {
        "status" | "priority" => format!("{name} {}", describe_transition(step)),
        _ => name.clone(),
    });
    told.collect::<Vec<_>>().join(", ")
}

pub(crate) fn describe_transition(step: &Value) -> String {
    match step.get("added") {
        Some(added) => format!("+ {}", describe_value(added)),
        None => format!(
            "{} → {}",
            describe_value(&step["from"]),
            describe_value(&step["to"])
        ),
    }
}

fn describe_value(value: &Value) -> String {
    match value {
        Value::Null => "none".to_string(),
        Value::String(text) => shorten_value(text),
        Value::Array(values) if values.iter().all(Value::is_string) => {
            let texts = values.iter().filter_map(Value::as_str);
            shorten_value(&format!("[{}]", texts.collect::<Vec<_>>().join(", ")))
        }
        other => shorten_value(&other.to_string()),
    }
}

/// Passes each change after a cursor (without one, from now on), and new ones, to `listen`, and none while it waits for
/// more, until that returns false. Writers wait for each other, so a change that becomes visible has a larger cursor than all before it, and
/// a reader that continues from the last cursor neither misses a change nor sees one twice.
pub(crate) fn follow(
    context: &mut Context,
    after: Option<u64>,
    task: Option<TaskId>,
    listen: &mut dyn FnMut(Option<&Recorded>) -> bool,
) -> Result<()> {
    let last = context.read(|transaction| transaction.last_cursor())?;
    let mut cursor = after.unwrap_or(last);
    if cursor > last {
        let message = format!("the cursor {cursor} is past the end of the log, {last}");
        return Err(Error::new(Code::InputInvalid, message));
    }
    loop {
        // Asked before reading: what is committed meanwhile is read the next time at the latest.
        let version = context.store.version()?;
        loop {
            let changes =
                context.read(|transaction| transaction.changes(cursor, task, FOLLOWED))?;
            for change in &changes {
                if !listen(Some(change)) {
                    return Ok(());
                }
                cursor = change.cursor;
            }
            if changes.len() < FOLLOWED as usize {
                break;
            }
        }
        while context.store.version()? == version {
            if !listen(None) {
                return Ok(());
            }
            thread::sleep(INTERVAL);
        }
    }
}
