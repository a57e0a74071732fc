//! Undo of an operation: each task that it changed becomes what it was before, unless a later operation changed that
//! task. All of it or nothing, as an operation of its own, which can be undone in turn.

use std::collections::BTreeSet;

use clap::Args;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::log::{Entry, describe, entry, require_operation};
use super::proof::needs_proof;
use super::tasks::{Caller, check_graph, check_holder, refuse_open_parts};
use super::{Context, require};
use crate::error::{Code, Error, Result};
use crate::gate::Gates;
use crate::id::TaskId;
use crate::store::log::{self, CHANGED, DELETED, LINKED, REQUIRED_GATES, UNLINKED};
use crate::store::{Change, Operation, Removed, Transaction};
use crate::task::fields::deserialize_given;
use crate::task::{Status, Task};

/// How many changes a reply holds.
const SHOWN: usize = 100;

#[derive(Args, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "UndoRequest")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[command(after_help = "\
Without a number, undoes the latest operation of your own (of CLEO_AGENT) that can be undone and
is not an undo; claims and spawns are skipped. To undo an operation of another user, give its
number. Undo restores tasks, links and required gates, never claims, proof, sessions or runs, and
nothing done by an agent of a run. If a later operation changed one of the tasks, undo names it
and changes nothing.

Examples:
  cleo undo --dry-run
  cleo undo
  cleo undo 12                                the number is that of `cleo log`")]
pub(crate) struct Request {
    /// Number of the operation
    // Without a default and never null: only the command line may leave it out.
    #[serde(deserialize_with = "deserialize_given")]
    #[schemars(with = "u64")]
    pub(crate) operation: Option<u64>,

    /// Show what would be changed
    #[arg(long, short = 'n')]
    #[serde(default)]
    pub(crate) dry_run: bool,
}

/// The result of an undo.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Undone {
    /// The operation that was undone.
    pub(crate) operation: Entry,
    /// Number of the operation that did it; none when nothing was done.
    pub(crate) undo: Option<u64>,
    /// The first changes that it made.
    pub(crate) changes: Vec<Change>,
    pub(crate) total: usize,
    /// True when nothing was done.
    pub(crate) dry_run: bool,
}

/// Undoes an operation: the one named, else the caller's latest that can be undone and is neither an undo nor
/// undone.
pub(crate) fn undo(context: &mut Context, request: Request) -> Result<Undone> {
    let caller = &Caller::without_task(context);
    if caller.run.is_some() {
        let message = "an agent of a run undoes nothing: the run may have judged it";
        return Err(Error::new(Code::StatusRefused, message).fix("cleo log"));
    }
    let name = &caller.name;
    context.write_if(|transaction| {
        let operation = match request.operation {
            Some(number) => require_operation(transaction, number)?,
            None => transaction.latest_undoable(name)?.ok_or_else(|| {
                let what = "done nothing that can be undone; name what others did by its number";
                let message = format!("{name} has {what}");
                Error::new(Code::NothingToUndo, message).fix("cleo log")
            })?,
        };
        let number = operation.number;
        let own = transaction.note_undone(number)?;
        let reverted = revert(transaction, caller, &operation).map_err(|refused| Error {
            // A later change is the reason if the former state is refused, unless the database is damaged.
            code: match refused.code.exit_code() {
                1 | 3 => refused.code,
                _ if refused.code == Code::NothingToUndo => refused.code,
                _ => Code::UndoConflict,
            },
            message: format!("operation {number} cannot be undone: {}", refused.message),
            fix: refused
                .fix
                .or(Some(format!("cleo log --operation {number}"))),
            ..refused
        });
        reverted.map_err(|error| match request.operation {
            Some(_) => error,
            None => error.or("undo another operation by its number", "cleo log"),
        })?;
        let made = transaction.changes_of(own, u32::MAX)?;
        let undone = Undone {
            operation: entry(transaction, operation)?,
            undo: (!request.dry_run).then_some(own),
            total: made.len(),
            changes: made.into_iter().take(SHOWN).map(|one| one.change).collect(),
            dry_run: request.dry_run,
        };
        Ok((undone, !request.dry_run))
    })
}

/// Reverts the changes that an operation made to tasks, the last first.
fn revert(transaction: &mut dyn Transaction, caller: &Caller, operation: &Operation) -> Result<()> {
    let changes = read_changes(transaction, operation)?;
    let tasks: BTreeSet<TaskId> = changes.iter().filter_map(|one| one.task).collect();
    for id in &tasks {
        if let Some(later) = transaction.latest_change(*id, operation.number)? {
            let (number, command, by) = (later.number, &later.command, &later.by);
            let message = format!("{id} was changed by operation {number} ({command}, by {by})");
            return Err(conflict(message, format!("cleo log --operation {number}")));
        }
    }
    let mut done_again = Vec::new();
    for change in changes.iter().rev() {
        let (id, detail): (TaskId, _) = (read(&json!(change.task))?, &change.detail);
        match change.kind.as_str() {
            LINKED => drop(transaction.unlink(&read(detail)?)?),
            UNLINKED => drop(transaction.link(&read(detail)?)?),
            REQUIRED_GATES => {
                let mut gates = transaction.gates(id)?;
                gates.required = read(&detail["from"])?;
                transaction.put_gates(id, &gates)?;
            }
            DELETED => {
                let removed: Removed = read(detail)?;
                refuse_taken_names(transaction, &removed.task)?;
                transaction.restore(&removed)?;
            }
            CHANGED => {
                let after = require(transaction, id)?;
                let mut before = log::read_before(&after, detail).map_err(damage)?;
                // A log of somebody else may name another task.
                let is_whole = before.archived_at.is_none() || before.is_closed();
                if (before.id, &before.uid) != (id, &after.uid) || !is_whole {
                    return Err(damage(format!("{id} was never like that")));
                }
                before.touch(&caller.now);
                refuse_taken_names(transaction, &before)?;
                if before.status != after.status {
                    check_holder(transaction, &after, caller, false)?;
                    done_again.extend((before.status == Status::Done).then_some(id));
                }
                transaction.put(&before)?;
            }
            _ => {
                refuse_used(transaction, id, &tasks)?;
                check_holder(transaction, &require(transaction, id)?, caller, false)?;
                transaction.delete(id)?;
            }
        }
    }
    check_graph(transaction, &tasks)?;
    for id in &tasks {
        // A task that was completed since has no open parts.
        if let Some(whole) = transaction.parent(*id)?
            && !tasks.contains(&whole)
            && transaction.status(whole)? == Some(Status::Done)
            && transaction
                .latest_change(whole, operation.number)?
                .is_some()
        {
            refuse_open_parts(transaction, whole, None)?;
        }
    }
    for id in done_again {
        refuse_open_parts(transaction, id, None)?;
        // Files may have changed since it was proven.
        if needs_proof(transaction, &require(transaction, id)?)? {
            let message = format!("{id} has to be verified to be done again");
            return Err(conflict(message, format!("cleo complete {id}")));
        }
    }
    Ok(())
}

/// Refuses to delete an added task that others use, or that has a prompt or evidence.
fn refuse_used(transaction: &dyn Transaction, id: TaskId, tasks: &BTreeSet<TaskId>) -> Result<()> {
    let users = [transaction.dependents(id)?, transaction.children(id)?].concat();
    if let Some(user) = users.iter().find(|user| !tasks.contains(user)) {
        let message = format!("{user} uses {id}");
        return Err(conflict(message, format!("cleo show {user}")));
    }
    if transaction.latest_spawn(id)?.is_none() && transaction.gates(id)? == Gates::default() {
        return Ok(());
    }
    let message = format!("{id} was spawned or verified since it was added");
    Err(conflict(message, format!("cleo show {id}")))
}

/// Reads the changes of an operation to tasks. Refuses an operation that is undone, damaged in part, took or ended a
/// claim, or changed no task.
fn read_changes(transaction: &dyn Transaction, operation: &Operation) -> Result<Vec<Change>> {
    if let Some(undo) = operation.undone_by {
        let error = error!(NothingToUndo, "operation {undo} has already undone it");
        return Err(error.or("redo it", format!("cleo undo {undo}")));
    }
    let changes = transaction.changes_of(operation.number, u32::MAX)?;
    if changes.len() as u64 != operation.changes {
        return Err(Error::new(Code::RowDamaged, "a change of it is damaged").fix("cleo doctor"));
    }
    let changes = changes.into_iter().map(|one| one.change);
    let (changes, others): (Vec<Change>, Vec<Change>) =
        changes.partition(|one| log::UNDOABLE.contains(&one.kind.as_str()));
    let is_fixed = |one: &&Change| changes.is_empty() || log::CLAIMS.contains(&one.kind.as_str());
    let Some(fixed) = others.iter().find(is_fixed).map(describe) else {
        return Ok(changes);
    };
    let only = "only changes of tasks are undone, no claims, proofs, sessions or phases";
    Err(Error::new(Code::NothingToUndo, format!("{fixed}; {only}")))
}

/// Refuses a row whose uid or key another task was given since.
fn refuse_taken_names(transaction: &dyn Transaction, row: &Task) -> Result<()> {
    let by_key = transaction.task_by_key(row.key.as_deref().unwrap_or_default())?;
    let mut owners = transaction.task_by_uid(&row.uid)?.into_iter().chain(by_key);
    let Some(other) = owners.find(|owner| *owner != row.id) else {
        return Ok(());
    };
    let message = format!("{other} has the uid or key of {}", row.id);
    Err(conflict(message, format!("cleo show {other}")))
}

fn conflict(message: String, fix: String) -> Error {
    Error::new(Code::UndoConflict, message).fix(fix)
}

fn read<T: DeserializeOwned>(detail: &Value) -> Result<T> {
    T::deserialize(detail).map_err(damage)
}

fn damage(cause: impl ToString) -> Error {
    let message = format!("its log is damaged: {}", cause.to_string());
    Error::new(Code::StoreCorrupt, message).fix("cleo doctor")
}
