//! Keys after a merge: two sides may have given one key to different tasks, or passed it on.

use std::collections::{BTreeMap, HashMap};

use serde_json::json;

use crate::error::Result;
use crate::id::TaskId;
use crate::ops::require;
use crate::store::Transaction;
use crate::task::Task;
use crate::transfer::formats::cleo::line;
use crate::transfer::merge::{Conflict, Side};

/// What becomes of tasks; none is one that goes.
type Changed = BTreeMap<TaskId, Option<Task>>;

/// Sees to it that a key finds one task: the one that has it here and is to have it still, else the
/// first. What others lose is listed.
pub(super) fn settle(
    transaction: &dyn Transaction,
    changed: &mut Changed,
    lines: &mut BTreeMap<TaskId, String>,
    conflicts: &mut Vec<Conflict>,
) -> Result<()> {
    for (id, key) in without(transaction, changed)? {
        let Some(Some(task)) = changed.get_mut(&id) else {
            continue;
        };
        task.key = None;
        lines.insert(id, line(task));
        conflicts.push(Conflict {
            id,
            field: "key".to_string(),
            here: json!(null),
            file: json!(key),
            taken: Side::Here,
            why: None,
        });
    }
    Ok(())
}

/// Finds the tasks whose key is that of another, each with the key.
fn without(transaction: &dyn Transaction, changed: &Changed) -> Result<Vec<(TaskId, String)>> {
    let key_of = |task: &Option<Task>| task.as_ref().and_then(|task| task.key.clone());
    let (mut owners, mut others) = (HashMap::new(), Vec::new());
    for (id, task) in changed {
        let Some(key) = key_of(task) else {
            continue;
        };
        let keeps = |holder: &TaskId| {
            let after = changed.get(holder);
            after.is_none_or(|after| key_of(after).as_ref() == Some(&key))
        };
        let holder = transaction.task_by_key(&key)?.filter(keeps);
        let owner = *owners.entry(key.clone()).or_insert(holder.unwrap_or(*id));
        if owner != *id {
            others.push((*id, key));
        }
    }
    Ok(others)
}

/// Takes its key from the task that has had it and will not any more.
pub(super) fn free(transaction: &mut dyn Transaction, task: &Task) -> Result<()> {
    let Some(key) = &task.key else {
        return Ok(());
    };
    let holder = transaction.task_by_key(key)?;
    let Some(holder) = holder.filter(|holder| *holder != task.id) else {
        return Ok(());
    };
    let mut before = require(transaction, holder)?;
    before.key = None;
    transaction.put(&before)
}
