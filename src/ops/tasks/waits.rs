//! The readiness of a task: open and missing dependencies, and open parts.

use crate::error::{Code, Error, Result};
use crate::id::{self, TaskId};
use crate::ops::runs::is_run;
use crate::store::{Tasks, Transaction, missing};
use crate::task::{Status, Task};

/// Maximum number of tasks that a message names.
pub(super) const NAMED_MAX: usize = 20;

/// Returns whether a task waits for nothing but parts that a run, which holds it, has added to it.
pub(in crate::ops) fn is_split(
    transaction: &dyn Transaction,
    task: &Task,
    holder: &str,
) -> Result<bool> {
    let parts = open_children(transaction, task.id)?;
    let others = !waiting_for(transaction, task)?.is_empty() || !missing(task).is_empty();
    if parts.is_empty() || others || task.status == Status::Blocked || !is_run(holder) {
        return Ok(false);
    }
    for part in parts {
        let first = transaction.changes(0, Some(part), 1)?.into_iter().next();
        if first.is_none_or(|first| first.by != holder) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the error for a task that is not ready: a dependency is open or missing.
pub(in crate::ops) fn not_ready(tasks: &dyn Tasks, task: &Task) -> Result<Option<Error>> {
    let mut waits: Vec<String> = Vec::new();
    for (what, open) in [
        ("depends on", waiting_for(tasks, task)?),
        ("has open children", open_children(tasks, task.id)?),
    ] {
        if !open.is_empty() {
            waits.push(format!("it {what} {}", id::list(&open)));
        }
    }
    let missing = missing(task).into_iter();
    waits.extend(missing.map(|need| format!("it depends on {}", need.describe())));
    if task.status == Status::Blocked {
        waits.push("it is blocked".to_string());
    }
    let message = format!("{} is not ready: {}", task.id, waits.join(", and "));
    let error = Error::new(Code::NotReady, message).fix("cleo claim --next");
    Ok((!waits.is_empty()).then_some(error))
}

pub(super) fn open_children(tasks: &dyn Tasks, id: TaskId) -> Result<Vec<TaskId>> {
    try_filter(tasks.children(id)?, |child| {
        let status = tasks.status(*child)?;
        Ok(!status.is_some_and(Status::is_closed))
    })
}

/// Finds the open tasks below a task, without those below them. A closed task may have open parts.
pub(super) fn open_below(tasks: &dyn Tasks, id: TaskId) -> Result<Vec<TaskId>> {
    if tasks.children(id)?.is_empty() {
        return Ok(Vec::new());
    }
    let nodes = tasks.nodes(Some(id))?;
    let is_open = |wanted: TaskId| {
        let found = id::place(&nodes, wanted, |node| node.id);
        found.is_some_and(|place| nodes[place].is_open())
    };
    let open = nodes.iter().filter(|node| node.is_open());
    let first = open.filter(|node| !node.parent.is_some_and(is_open));
    Ok(first.map(|node| node.id).collect())
}

/// Returns a message that names the open tasks below one; none when all are closed.
pub(in crate::ops) fn open_parts(tasks: &dyn Tasks, id: TaskId) -> Result<Option<String>> {
    let open = open_below(tasks, id)?;
    Ok((!open.is_empty())
        .then(|| format!("it has open children: {}", id::list_first(&open, NAMED_MAX))))
}

/// Returns warnings about open and missing dependencies of a task that is moved.
pub(super) fn warn_of_waits(tasks: &dyn Tasks, task: &Task) -> Result<Vec<String>> {
    let (id, waiting) = (task.id, waiting_for(tasks, task)?);
    let open = (!waiting.is_empty()).then(|| {
        let waits = id::list(&waiting);
        format!("{id} depends on {waits}, not done yet")
    });
    let missing = missing(task).into_iter();
    let missing = missing.map(|need| format!("{id} depends on {}", need.describe()));
    Ok(open.into_iter().chain(missing).collect())
}

/// Returns a warning about the parent of a task that is new below it, where the parent is done or cancelled.
pub(super) fn warn_of_closed_parent(tasks: &dyn Tasks, task: &Task) -> Result<Option<String>> {
    let Some(parent) = task.parent else {
        return Ok(None);
    };
    let status = tasks.status(parent)?.filter(|status| status.is_closed());
    Ok(status.map(|status| {
        format!(
            "{parent} is {status} and does not wait for {}: `cleo reopen {parent}`",
            task.id
        )
    }))
}

/// Returns the dependencies of a task that are not done.
pub(in crate::ops) fn waiting_for(tasks: &dyn Tasks, task: &Task) -> Result<Vec<TaskId>> {
    try_filter(task.depends.clone(), |id| {
        Ok(tasks.status(*id)? != Some(Status::Done))
    })
}

pub(super) fn try_filter(
    ids: Vec<TaskId>,
    wanted: impl Fn(&TaskId) -> Result<bool>,
) -> Result<Vec<TaskId>> {
    let mut found = Vec::new();
    for id in ids {
        if wanted(&id)? {
            found.push(id);
        }
    }
    Ok(found)
}
