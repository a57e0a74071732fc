//! The inverse of each change.

use std::fmt::Display;

use serde_json::{Value, json};

use super::phase;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::require;
use crate::store::log::{ADDED, CHANGED, DELETED, LINKED, RESTORED, UNLINKED};
use crate::store::{Change, Link, Removed, Transaction};
use crate::task::Task;

/// Says whether a change has an inverse. What happened outside of the store has none.
pub(super) fn is_possible(change: &Change) -> bool {
    let kinds = [ADDED, CHANGED, DELETED, RESTORED, LINKED, UNLINKED];
    phase::is_one(change) || (change.task.is_some() && kinds.contains(&change.kind.as_str()))
}

/// Writes the inverse of a change of a task that has one.
pub(super) fn apply(transaction: &mut dyn Transaction, change: &Change, now: &str) -> Result<()> {
    let Some(task) = change.task else {
        return Ok(());
    };
    match change.kind.as_str() {
        ADDED | RESTORED => transaction.delete(task),
        DELETED => transaction.restore(&removed(change)?),
        CHANGED => {
            let task = before(require(transaction, task)?, &change.detail, now)?;
            transaction.put(&task)
        }
        LINKED => transaction.unlink(&link(task, &change.detail)).map(|_| ()),
        UNLINKED => transaction.link(&link(task, &change.detail)).map(|_| ()),
        _ => Ok(()),
    }
}

/// Reads what a delete kept.
pub(super) fn removed(change: &Change) -> Result<Removed> {
    serde_json::from_value(change.detail.clone()).map_err(|cause| {
        let task = change.task.map(|id| id.to_string());
        unreadable(task.unwrap_or_default(), cause)
    })
}

fn link(task: TaskId, detail: &Value) -> Link {
    let text = |name: &str| detail[name].as_str().unwrap_or_default().to_string();
    Link {
        task,
        entry: text("entry"),
        at: text("at"),
    }
}

/// Returns a task as it was before its fields changed; what changed in others since stays.
fn before(task: Task, detail: &Value, now: &str) -> Result<Task> {
    let id = task.id;
    let mut fields = json!(task);
    for (name, step) in detail.as_object().into_iter().flatten() {
        let value = match grown(step) {
            Some(added) => without(&fields[name], added),
            None => step["from"].clone(),
        };
        fields[name] = value;
    }
    fields["updatedAt"] = json!(now);
    serde_json::from_value(fields).map_err(|cause| unreadable(id, cause))
}

/// Returns what a list grew by, if all that happened to it is that it grew.
pub(super) fn grown(step: &Value) -> Option<&[Value]> {
    let from_nothing = |step: &Value| step["from"].as_array().is_some_and(Vec::is_empty);
    match step.get("added") {
        Some(added) => added.as_array().map(Vec::as_slice),
        None if from_nothing(step) => step["to"].as_array().map(Vec::as_slice),
        None => None,
    }
}

/// Returns a list without the last occurrence of each of `added`.
fn without(list: &Value, added: &[Value]) -> Value {
    let mut left = list.as_array().cloned().unwrap_or_default();
    for gone in added.iter().rev() {
        if let Some(place) = left.iter().rposition(|value| value == gone) {
            left.remove(place);
        }
    }
    Value::Array(left)
}

/// The error for a detail of the log that nobody understands.
pub(super) fn unreadable(of: impl Display, cause: serde_json::Error) -> Error {
    let message = format!("what the log holds of {of} cannot be read: {cause}");
    Error::new(Code::StoreCorrupt, message)
        .fix("cleo log")
        .because(cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_loses_what_it_grew_by_and_nothing_else() {
        for (now, added, left) in [
            (json!(["a", "b"]), json!(["b"]), json!(["a"])),
            (json!(["a", "b", "c"]), json!(["b"]), json!(["a", "c"])),
            (json!(["b", "a", "b"]), json!(["b"]), json!(["b", "a"])),
            (json!(["a"]), json!(["x"]), json!(["a"])),
            (json!(["a", "b"]), json!(["a", "b"]), json!([])),
        ] {
            assert_eq!(
                without(&now, added.as_array().unwrap()),
                left,
                "{now} {added}"
            );
        }
    }

    #[test]
    fn growth_is_told_from_a_change() {
        for (step, expected) in [
            (json!({"added": ["a"]}), Some(1)),
            (json!({"from": [], "to": ["a", "b"]}), Some(2)),
            (json!({"from": ["a"], "to": ["b"]}), None),
            (json!({"from": ["a"], "to": []}), None),
            (json!({"from": null, "to": "x"}), None),
        ] {
            assert_eq!(grown(&step).map(<[Value]>::len), expected, "{step}");
        }
    }
}
