//! Archiving closed tasks, and unarchiving.

use std::collections::{BTreeSet, HashSet};

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::clock::past;
use crate::error::{Code, Error, Result};
use crate::id::{self, TaskId};
use crate::ops::{Context, require};
use crate::store::{Archived, Filter, Tasks, Transaction};
use crate::task::{Status, Task};

const WHICH: [&str; 3] = ["tasks", "older_than", "epic"];

#[derive(Args, Default, Deserialize, schemars::JsonSchema)]
#[schemars(transform = crate::task::schema::require_one("anyOf", serde_json::json!({
        "tasks": {"minItems": 1}, "olderThan": {"type": "string"}, "epic": {"type": "string"},
    })))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[command(after_help = "\
Examples:
  cleo archive T3 T4
  cleo archive --older-than 30d --dry-run
  cleo archive --older-than 2026-01-01 --epic T1
  cleo list --archived
  cleo unarchive T3")]
#[command(group = clap::ArgGroup::new("which").required(true).multiple(true).args(WHICH))]
pub(crate) struct Selection {
    /// Tasks to archive, with all tasks below them
    #[arg(value_name = "TASK")]
    tasks: Vec<TaskId>,

    /// All tasks closed longer ago than 12h, 30d or 2w, or before a date, with all tasks below them
    #[arg(long, value_name = "AGE", conflicts_with = "tasks")]
    #[schemars(transform = crate::task::schema::past)]
    older_than: Option<String>,

    /// Only this task and all tasks below it
    #[arg(long, value_name = "TASK", conflicts_with = "tasks")]
    epic: Option<TaskId>,

    /// Show what would be archived
    #[arg(long, short = 'n')]
    dry_run: bool,
}

#[cfg(test)]
impl From<TaskId> for Selection {
    fn from(task: TaskId) -> Selection {
        Selection {
            tasks: vec![task],
            ..Selection::default()
        }
    }
}

#[derive(Args, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[command(after_help = "Examples:\n  cleo unarchive T3\n  cleo list --archived")]
pub(crate) struct Unarchive {
    /// Archived tasks to restore, with all tasks below them
    #[arg(required = true, value_name = "TASK")]
    #[schemars(length(min = 1))]
    tasks: Vec<TaskId>,

    /// Show what would be restored
    #[arg(long, short = 'n')]
    #[serde(default)]
    dry_run: bool,
}

/// The result of archiving or unarchiving.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Archival {
    /// The tasks, by id.
    pub(crate) tasks: Vec<TaskId>,
    pub(crate) total: usize,
    /// True when nothing was done.
    pub(crate) dry_run: bool,
}

/// Archives closed tasks, all or none: lists leave them out, and they still count by their status.
/// A named task that is open or has open tasks below it is refused; `older_than` selects only tasks
/// that are closed as a whole.
pub(crate) fn archive(context: &mut Context, selection: Selection) -> Result<Archival> {
    let now = context.now();
    let epic = selection.epic;
    let closed_before = (selection.older_than)
        .map(|text| past(&text, context.surroundings.clock.now()))
        .transpose()?;
    let mut tasks = selection.tasks;
    match epic {
        Some(_) if !tasks.is_empty() => {
            return Err(error!(InputInvalid, "`epic` cannot be used with `tasks`"));
        }
        Some(epic) if closed_before.is_none() => tasks.push(epic),
        None if tasks.is_empty() && closed_before.is_none() => {
            let message = "name what to archive: `tasks`, `olderThan` or `epic`";
            return Err(Error::new(Code::InputInvalid, message));
        }
        _ => {}
    }
    let plan = |transaction: &dyn Transaction| -> Result<BTreeSet<TaskId>> {
        let mut chosen = BTreeSet::new();
        for id in &tasks {
            chosen.extend(list_closed_below(transaction, *id)?);
        }
        if let Some(moment) = &closed_before {
            chosen.extend(list_closed_before(transaction, moment, epic)?);
        }
        Ok(chosen)
    };
    set(context, plan, Some(&now), selection.dry_run)
}

pub(crate) fn unarchive(context: &mut Context, request: Unarchive) -> Result<Archival> {
    if request.tasks.is_empty() {
        return Err(error!(InputInvalid, "name the tasks to restore: `tasks`"));
    }
    let plan = |transaction: &dyn Transaction| -> Result<BTreeSet<TaskId>> {
        let mut chosen = BTreeSet::new();
        for id in &request.tasks {
            require(transaction, *id)?;
            chosen.extend(list_with_descendants(transaction, *id)?);
        }
        Ok(chosen)
    };
    set(context, plan, None, request.dry_run)
}

/// Sets or clears the time when tasks were archived, and skips tasks that need no change.
fn set(
    context: &mut Context,
    plan: impl Fn(&dyn Transaction) -> Result<BTreeSet<TaskId>>,
    moment: Option<&str>,
    dry_run: bool,
) -> Result<Archival> {
    let now = context.now();
    context.write_if(|transaction| {
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
        let archival = Archival {
            total: tasks.len(),
            tasks,
            dry_run,
        };
        Ok((archival, !dry_run))
    })
}

fn list_with_descendants(tasks: &dyn Tasks, id: TaskId) -> Result<Vec<TaskId>> {
    let mut all = vec![id];
    all.extend(tasks.nodes(Some(id))?.iter().map(|node| node.id));
    Ok(all)
}

/// Returns a task with all below it, all of which must be closed.
fn list_closed_below(tasks: &dyn Tasks, id: TaskId) -> Result<Vec<TaskId>> {
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
    let open = below.iter().filter(|node| node.is_open());
    let open: Vec<TaskId> = open.map(|node| node.id).collect();
    if let Some(first) = open.first() {
        let message = format!(
            "{id} cannot be archived while tasks below it are open: {}",
            id::list(&open)
        );
        return Err(Error::new(Code::HasChildren, message)
            .fix(format!("cleo list --parent {id} --tree"))
            .or("finish the first of them", format!("cleo complete {first}")));
    }
    list_with_descendants(tasks, id)
}

fn list_closed_before(
    tasks: &dyn Tasks,
    moment: &str,
    epic: Option<TaskId>,
) -> Result<Vec<TaskId>> {
    let filter = Filter {
        statuses: vec![Status::Done, Status::Cancelled],
        closed_before: Some(moment.to_string()),
        archived: Archived::Hidden,
        ..Filter::default()
    };
    let mut found = tasks.list(&filter)?.tasks;
    if let Some(epic) = epic {
        require(tasks, epic)?;
        let scope: HashSet<TaskId> = list_with_descendants(tasks, epic)?.into_iter().collect();
        found.retain(|task| scope.contains(&task.id));
    }
    find_closed_below(tasks, &found)
}

fn find_closed_below(tasks: &dyn Tasks, found: &[Task]) -> Result<Vec<TaskId>> {
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
