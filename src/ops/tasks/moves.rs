//! Changes of status: start, complete, cancel, reopen.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::claim::{end_undone, take_or_renew};
use super::delivered::{Delivered, find_delivered};
use super::fence::{Caller, check_holder};
use super::run_agents::{refuse_outside_task, refuse_task_of_run};
use super::waits::{NAMED_MAX, open_below, open_children, try_filter, warn_of_waits};
use crate::claim::{Claim, Lease};
use crate::error::{Code, Error, Result};
use crate::id::{self, TaskId};
use crate::ops::runs::is_run;
use crate::ops::trust::Trust;
use crate::ops::{Context, require};
use crate::store::Transaction;
use crate::task::rules::check_note;
use crate::task::{Note, Status, Task};

#[derive(Args, Default, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[command(after_help = "\
Examples:
  cleo start T3
  cleo start T3 --lease 4h

A task that waits for others is started with a warning, because its caller chose it. `cleo claim`,
which hands out work, refuses it without --force.")]
pub(crate) struct Start {
    /// The task
    #[serde(rename = "id")]
    pub(crate) task: TaskId,

    #[arg(long, value_name = "DURATION", help = Lease::HELP)]
    pub(crate) lease: Option<Lease>,

    /// Epoch of your claim (or CLEO_EPOCH); fails if the claim was lost
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) epoch: Option<u32>,
}

#[derive(Args, Default, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[command(after_help = "Examples:\n  cleo cancel T3 --reason 'the library does it already'")]
pub(crate) struct Cancel {
    /// The task
    #[serde(rename = "id")]
    pub(crate) task: TaskId,

    /// Reason, kept as a note
    #[arg(long, value_name = "TEXT")]
    #[schemars(transform = crate::task::schema::note)]
    pub(crate) reason: Option<String>,

    /// Cancel the task although another holder has it (recorded in the log)
    #[arg(long)]
    pub(crate) force: bool,
}

#[cfg(test)]
impl From<TaskId> for Start {
    fn from(task: TaskId) -> Start {
        Start {
            task,
            ..Start::default()
        }
    }
}

impl From<TaskId> for Cancel {
    fn from(task: TaskId) -> Cancel {
        Cancel {
            task,
            ..Cancel::default()
        }
    }
}

/// A task after a move, or after a change of its claim.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Moved {
    pub(crate) task: Task,
    /// False when it had this status already.
    pub(crate) changed: bool,
    /// The claim that was made, renewed or ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) claim: Option<Claim>,
    /// The git worktree whose files were verified; none for those of the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) worktree: Option<String>,
    /// Tasks that became ready by the move.
    pub(crate) unblocked: Vec<TaskId>,
    /// Warnings for the caller.
    #[serde(skip)]
    pub(crate) warnings: Vec<String>,
}

impl Moved {
    pub(in crate::ops) fn new(task: Task, changed: bool) -> Moved {
        Moved {
            task,
            changed,
            claim: None,
            worktree: None,
            unblocked: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Warns of output that is there for the task, too.
    pub(super) fn warn_of_delivered(mut self, context: &mut Context) -> Result<Moved> {
        let trust = Trust::new(&context.surroundings, &context.workspace);
        let delivered = context.read(|tasks| find_delivered(&trust, tasks, &[self.task.id]))?;
        self.warnings
            .extend(delivered.iter().map(Delivered::describe));
        Ok(self.warn(context))
    }

    /// Moves the warnings into the notes of the context.
    pub(in crate::ops) fn warn(mut self, context: &mut Context) -> Moved {
        context.move_warnings(&mut self.warnings);
        self
    }
}

/// Starts the work on a task and claims it, or renews the lease of its holder.
pub(crate) fn start(context: &mut Context, request: Start) -> Result<Moved> {
    let id = request.task;
    let lease = request.lease.unwrap_or(context.surroundings.defaults.lease);
    let caller = Caller::for_task(context, id, request.epoch);
    refuse_task_of_run(context, id)?;
    let moved = context.write(|transaction| {
        let task = require(transaction, id)?;
        if task.is_closed() {
            return Err(refuse_move(&task, "started", &format!("cleo reopen {id}")));
        }
        let warnings = warn_of_waits(transaction, &task)?;
        let (claim, is_new) = take_or_renew(transaction, &task, &caller, lease)?;
        let mut moved = move_task(transaction, task, Status::Active, &caller.now)?;
        moved.changed |= is_new;
        moved.claim = Some(claim);
        moved.warnings.extend(warnings);
        Ok(moved)
    })?;
    moved.warn_of_delivered(context)
}

/// Cancels a task, with the reason as a note. A task of another holder is refused unless `force`, which is recorded.
pub(crate) fn cancel(context: &mut Context, request: Cancel) -> Result<Moved> {
    let (id, reason) = (request.task, request.reason);
    let caller = Caller::for_task(context, id, None);
    let (now, by) = (caller.now.clone(), caller.name.clone());
    if let Some(reason) = &reason {
        check_note(reason)?;
    }
    refuse_outside_task(context, id)?;
    let moved = context.write(|transaction| {
        let mut task = require(transaction, id)?;
        if task.status == Status::Done {
            let reopen = format!("cleo reopen {id}");
            return Err(refuse_move(&task, "cancelled", &reopen));
        }
        let taken = check_holder(transaction, &task, &caller, request.force)?;
        if let Some(text) = reason {
            task.notes.push(Note {
                at: now.clone(),
                by: by.clone(),
                text,
            });
            task.touch(&now);
            transaction.put(&task)?;
        }
        let mut moved = move_task(transaction, task, Status::Cancelled, &now)?;
        end_undone(transaction, id, &caller)?;
        moved.warnings.extend(taken);
        let open = open_children(transaction, id)?;
        if !open.is_empty() {
            let open = id::list(&open);
            moved
                .warnings
                .push(format!("its children stay open: {open}"));
        }
        let stuck = transaction.dependents(id)?;
        if !stuck.is_empty() {
            let stuck = id::list(&stuck);
            moved.warnings.push(format!(
                "{stuck} will wait for {id} for ever: cancelled is not done"
            ));
        }
        Ok(moved)
    })?;
    Ok(moved.warn(context))
}

pub(crate) fn reopen(context: &mut Context, id: TaskId) -> Result<Moved> {
    let now = context.now();
    let caller = Caller::without_task(context);
    refuse_outside_task(context, id)?;
    let moved = context.write(|transaction| {
        let task = require(transaction, id)?;
        caller.refuse_replaced(transaction, id)?;
        if !task.is_closed() {
            let warning = format!("{id} is {} and needs no reopening", task.status);
            let mut left = Moved::new(task, false);
            left.warnings.push(warning);
            return Ok(left);
        }
        move_task(transaction, task, Status::Pending, &now)
    })?;
    Ok(moved.warn(context))
}

/// Marks a task done, after its check.
pub(in crate::ops) fn finish(
    transaction: &mut dyn Transaction,
    task: Task,
    force: bool,
    now: &str,
) -> Result<Moved> {
    let id = task.id;
    refuse_cancelled(&task)?;
    if !force {
        refuse_open_parts(transaction, id, None)?;
    }
    let early = warn_of_waits(transaction, &task)?;
    let mut moved = move_task(transaction, task, Status::Done, now)?;
    moved.warnings.extend(early);
    if moved.changed {
        moved.unblocked = transaction.list_unblocked_by(id)?;
    }
    Ok(moved)
}

/// Refuses to complete a task with open parts, except those that this run completes before it.
pub(in crate::ops) fn refuse_open_parts(
    transaction: &dyn Transaction,
    id: TaskId,
    run: Option<&str>,
) -> Result<()> {
    let open = try_filter(open_below(transaction, id)?, |part| {
        Ok(run.is_none() || find_reviewing_run(transaction, *part)?.as_deref() != run)
    })?;
    let Some(first) = open.first() else {
        return Ok(());
    };
    let message = format!(
        "{id} has children that are not done: {}",
        id::list_first(&open, NAMED_MAX)
    );
    Err(Error::new(Code::HasChildren, message).fix(format!("cleo show {first}")))
}

/// Returns the run that holds a task under review and will complete it.
pub(crate) fn find_reviewing_run(
    transaction: &dyn Transaction,
    id: TaskId,
) -> Result<Option<String>> {
    if transaction.status(id)? != Some(Status::Review) {
        return Ok(None);
    }
    let holder = transaction.claim(id)?.and_then(|claim| claim.holder);
    Ok(holder.filter(|holder| is_run(holder)))
}

/// Refuses to complete a cancelled task, with or without force.
pub(in crate::ops) fn refuse_cancelled(task: &Task) -> Result<()> {
    match task.status {
        Status::Cancelled => Err(refuse_move(
            task,
            "completed",
            &format!("cleo reopen {}", task.id),
        )),
        _ => Ok(()),
    }
}

/// Moves a task to a status, unless it has it already.
pub(in crate::ops) fn move_task(
    transaction: &mut dyn Transaction,
    mut task: Task,
    status: Status,
    now: &str,
) -> Result<Moved> {
    let changed = task.status != status;
    if changed {
        task.move_to(status, now);
        transaction.put(&task)?;
    }
    Ok(Moved::new(task, changed))
}

fn refuse_move(task: &Task, verb: &str, fix: &str) -> Error {
    let message = format!("{} is {} and cannot be {verb}", task.id, task.status);
    Error::new(Code::StatusRefused, message).fix(fix)
}
