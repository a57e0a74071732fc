//! Deleting tasks.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::fence::{Caller, check_epoch, check_holder};
use crate::error::{Code, Error, Result};
use crate::id::{self, TaskId};
use crate::ops::{Context, no_task};
use crate::store::Transaction;
use crate::task::Task;

#[derive(Args, Default, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[command(after_help = "Examples:\n  cleo delete T3 --dry-run\n  cleo delete T1 --cascade")]
pub(crate) struct Delete {
    /// The task
    #[serde(rename = "id")]
    pub(crate) task: TaskId,

    /// Also delete all tasks below it
    #[arg(long)]
    pub(crate) cascade: bool,

    /// Delete the task although other tasks depend on it (the dependency is removed) or another
    /// holder has it
    #[arg(long)]
    pub(crate) force: bool,

    /// Show what would be deleted
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,
}

/// The result of deleting.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Deleted {
    /// Ids of the deleted tasks, parents first.
    pub(crate) deleted: Vec<TaskId>,
    /// Tasks that no longer depend on a deleted one.
    pub(crate) released: Vec<TaskId>,
    /// True when nothing was done.
    pub(crate) dry_run: bool,
}

/// Deletes a task. Children are deleted only with `cascade`; tasks outside that depend on deleted ones, and tasks that
/// somebody else holds, need `force`.
pub(crate) fn delete(context: &mut Context, request: Delete) -> Result<Deleted> {
    let (id, cascade, dry_run) = (request.task, request.cascade, request.dry_run);
    let caller = Caller::without_task(context);
    let own = context.surroundings.assignment.task;
    let of_own = own.map(|own| (own, Caller::for_task(context, own, None)));
    let plan = |transaction: &dyn Transaction| {
        let (deleted, released) = plan_deletion(transaction, id, cascade, request.force)?;
        if let Some((own, caller)) = of_own.as_ref().filter(|(own, _)| deleted.contains(own)) {
            check_epoch(transaction, &read_salvaged(transaction, *own)?, caller)?;
        }
        if !request.force {
            for id in &deleted {
                check_holder(
                    transaction,
                    &read_salvaged(transaction, *id)?,
                    &caller,
                    false,
                )?;
            }
        }
        for id in &deleted {
            caller.refuse_removal(transaction, &read_salvaged(transaction, *id)?)?;
        }
        Ok(Deleted {
            deleted,
            released,
            dry_run,
        })
    };
    if dry_run {
        return context.read(|transaction| plan(transaction));
    }
    context.write(|transaction| {
        let done = plan(&*transaction)?;
        for id in done.deleted.iter().rev() {
            transaction.delete(*id)?;
        }
        Ok(done)
    })
}

fn plan_deletion(
    tasks: &dyn Transaction,
    id: TaskId,
    cascade: bool,
    force: bool,
) -> Result<(Vec<TaskId>, Vec<TaskId>)> {
    read_salvaged(tasks, id)?;
    let mut going = vec![id];
    going.extend(tasks.nodes(Some(id))?.iter().map(|node| node.id));
    let released = find_released(tasks, &going)?;
    if going.len() > 1 && !cascade {
        let message = format!("{id} has tasks below it: {}", id::list(&going[1..]));
        let look = format!("cleo delete {id} --cascade --dry-run");
        let all = format!("cleo delete {id} --cascade");
        let error = Error::new(Code::HasChildren, message).fix(look);
        return Err(error.or("delete all of them", all));
    }
    if !released.is_empty() && !force {
        let others = id::list(&released);
        let message =
            format!("others would lose what they depend on: {others}; --force releases them");
        return Err(Error::new(Code::HasChildren, message).fix(format!("cleo deps {id}")));
    }
    Ok((going, released))
}

/// Reads a task, which may be damaged: it can be deleted.
fn read_salvaged(tasks: &dyn Transaction, id: TaskId) -> Result<Task> {
    tasks.salvage(id)?.ok_or_else(|| no_task(id))
}

/// Finds the tasks that depend on deleted ones and are not deleted.
fn find_released(tasks: &dyn Transaction, going: &[TaskId]) -> Result<Vec<TaskId>> {
    let mut released = Vec::new();
    for id in going {
        released.extend(tasks.dependents(*id)?);
    }
    released.retain(|id| !going.contains(id));
    released.sort_unstable();
    released.dedup();
    Ok(released)
}
