//! Putting closed tasks away, and taking them out again.

use std::collections::{BTreeSet, HashSet};

use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::id::{self, TaskId};
use crate::ops::{Context, require};
use crate::store::{Archived, Filter, Tasks, Transaction};
use crate::task::{Status, Task};

#[derive(Clone, Debug, Default)]
pub(crate) struct Selection {
    /// These, with everything below them.
    pub(crate) tasks: Vec<TaskId>,
    /// Those that were closed before this moment, RFC 3339 in UTC, with everything below them.
    pub(crate) closed_before: Option<String>,
    /// Of the latter only this task and those below it.
    pub(crate) epic: Option<TaskId>,
}

/// What was archived, or taken out again.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Archival {
    /// The tasks, by id.
    pub(crate) tasks: Vec<TaskId>,
    /// How many there are.
    pub(crate) total: usize,
    /// True when nothing was done.
    pub(crate) dry_run: bool,
}

/// Archives closed tasks, all or none: they are left out of lists and still count as what they
/// are. An open one, or one with open tasks below it, is refused by name; a moment chooses only
/// what is closed as a whole.
pub(crate) fn archive(
    context: &mut Context,
    selection: &Selection,
    dry_run: bool,
) -> Result<Archival> {
    let now = context.now();
    let plan = |transaction: &dyn Transaction| -> Result<BTreeSet<TaskId>> {
        let mut chosen = BTreeSet::new();
        for id in &selection.tasks {
            chosen.extend(whole(transaction, *id)?);
        }
        if let Some(moment) = &selection.closed_before {
            chosen.extend(older(transaction, moment, selection.epic)?);
        }
        Ok(chosen)
    };
    set(context, plan, Some(&now), dry_run)
}

pub(crate) fn unarchive(
    context: &mut Context,
    tasks: &[TaskId],
    dry_run: bool,
) -> Result<Archival> {
    let plan = |transaction: &dyn Transaction| -> Result<BTreeSet<TaskId>> {
        let mut chosen = BTreeSet::new();
        for id in tasks {
            require(transaction, *id)?;
            chosen.extend(with_below(transaction, *id)?);
        }
        Ok(chosen)
    };
    set(context, plan, None, dry_run)
}

/// Sets or clears when tasks were archived; one that stands so already is left as it is.
fn set(
    context: &mut Context,
    plan: impl Fn(&dyn Transaction) -> Result<BTreeSet<TaskId>>,
    moment: Option<&str>,
    dry_run: bool,
) -> Result<Archival> {
    let now = context.now();
    let work = |transaction: &mut dyn Transaction| {
        let mut tasks = Vec::new();
        for id in plan(transaction)? {
            let mut task = require(transaction, id)?;
            if task.archived_at.is_some() == moment.is_some() {
                continue;
            }
            task.archived_at = moment.map(str::to_string);
            task.updated_at.clone_from(&now);
            transaction.put(&task)?;
            tasks.push(id);
        }
        Ok(Archival {
            total: tasks.len(),
            tasks,
            dry_run,
        })
    };
    match dry_run {
        true => context.rehearse(work),
        false => context.write(work),
    }
}

fn with_below(tasks: &dyn Tasks, id: TaskId) -> Result<Vec<TaskId>> {
    let mut all = vec![id];
    all.extend(tasks.nodes(Some(id))?.iter().map(|node| node.id));
    Ok(all)
}

/// Returns a task with all below it, all of which must be closed.
fn whole(tasks: &dyn Tasks, id: TaskId) -> Result<Vec<TaskId>> {
    let task = require(tasks, id)?;
    if !task.is_closed() {
        let message = format!(
            "{id} is {} and cannot be archived: only done and cancelled tasks can",
            task.status
        );
        return Err(Error::new(Code::StatusRefused, message)
            .or("complete it", format!("cleo complete {id}"))
            .or("cancel it", format!("cleo cancel {id}")));
    }
    let below = tasks.nodes(Some(id))?;
    let is_open = |status| !matches!(status, Status::Done | Status::Cancelled);
    let open: Vec<TaskId> = below
        .iter()
        .filter(|node| is_open(node.status))
        .map(|node| node.id)
        .collect();
    if let Some(first) = open.first() {
        let message = format!(
            "{id} cannot be archived while tasks below it are open: {}",
            id::list(&open)
        );
        return Err(Error::new(Code::HasChildren, message)
            .fix(format!("cleo list --parent {id} --tree"))
            .or("finish the first of them", format!("cleo complete {first}")));
    }
    with_below(tasks, id)
}

fn older(tasks: &dyn Tasks, moment: &str, epic: Option<TaskId>) -> Result<Vec<TaskId>> {
    let filter = Filter {
        statuses: vec![Status::Done, Status::Cancelled],
        closed_before: Some(moment.to_string()),
        archived: Archived::Hidden,
        ..Filter::default()
    };
    let mut found = tasks.list(&filter)?.tasks;
    if let Some(epic) = epic {
        require(tasks, epic)?;
        let scope: HashSet<TaskId> = with_below(tasks, epic)?.into_iter().collect();
        found.retain(|task| scope.contains(&task.id));
    }
    closed_below(tasks, &found)
}

fn closed_below(tasks: &dyn Tasks, found: &[Task]) -> Result<Vec<TaskId>> {
    let mut chosen: BTreeSet<TaskId> = found.iter().map(|task| task.id).collect();
    let mut unsure: Vec<TaskId> = chosen.iter().copied().collect();
    while let Some(id) = unsure.pop() {
        let mut is_whole = true;
        for child in tasks.children(id)? {
            let archived = |task: Task| task.archived_at.is_some();
            is_whole &= chosen.contains(&child) || tasks.task(child)?.is_some_and(archived);
        }
        if !is_whole && chosen.remove(&id) {
            unsure.extend(tasks.parent(id)?.filter(|parent| chosen.contains(parent)));
        }
    }
    Ok(chosen.into_iter().collect())
}
