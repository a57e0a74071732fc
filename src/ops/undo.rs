//! Undo of an operation: each task that it changed becomes what it was before, unless a later operation changed that
//! task. All of it or nothing, as an operation of its own, which can be undone in turn.

use std::collections::BTreeSet;
use std::fmt::Display;

use clap::Args;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::claims::Caller;
use super::complete::needs_proof;
use super::log::{Entry, describe, entry, require_operation};
use super::tasks::{check_graph, refuse_open_parts};
use super::{Context, require};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::store::log::{CHANGED, CLAIMS, DELETED, LINKED, REQUIRED_GATES, UNDOABLE, UNLINKED};
use crate::store::{Change, Operation, Removed, Transaction};
use crate::task::fields::deserialize_given;
use crate::task::{Status, Task};

/// How many changes and warnings a reply holds.
const SHOWN: usize = 100;

// A doc comment would become the help of the command.
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(rename = "UndoRequest")
)]
#[derive(Args, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[command(after_help = "\
Without a number: your own latest operation (that of CLEO_AGENT) that can be undone and is neither
an undo nor undone; claims and spawns since are passed over. Name anybody else's by its number.
Only tasks and their links are undone, never claims, gates, sessions, phases and runs, and nothing
by an agent of a run. If a later operation changed one of the tasks, undo names it and changes nothing.

Examples:
  cleo undo --dry-run
  cleo undo
  cleo undo 12                                the number is that of `cleo log`")]
pub(crate) struct Request {
    /// Number of the operation
    // Without a default and never null: only the command line may leave it out.
    #[serde(deserialize_with = "deserialize_given")]
    #[cfg_attr(feature = "schemas", schemars(with = "u64"))]
    pub(crate) operation: Option<u64>,

    /// Show what would be changed
    #[arg(long, short = 'n')]
    #[serde(default)]
    pub(crate) dry_run: bool,
}

/// What an undo did, or would do.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Undone {
    /// The operation that was undone.
    pub(crate) operation: Entry,
    /// Number of the operation that did it; none when nothing was done.
    pub(crate) undo: Option<u64>,
    /// The first changes that it made.
    pub(crate) changes: Vec<Change>,
    /// How many there are.
    pub(crate) total: usize,
    /// True when nothing was done.
    pub(crate) dry_run: bool,
}

/// Undoes an operation: the one named, else the caller's latest that can be undone and is neither an undo nor
/// undone.
pub(crate) fn undo(context: &mut Context, request: Request) -> Result<Undone> {
    let caller = &Caller::unbound(context);
    if caller.run.is_some() {
        let message = "an agent of a run undoes nothing: the run may have judged it";
        return Err(Error::new(Code::StatusRefused, message).fix("cleo log"));
    }
    let name = &caller.name;
    context.write_if(|transaction| {
        let found = match request.operation {
            Some(number) => Some(require_operation(transaction, number)?),
            None => transaction.latest_undoable(name)?,
        };
        let operation = found.ok_or_else(|| {
            let message = format!(
                "{name} has done nothing that can be undone; name what others did by its number"
            );
            Error::new(Code::NothingToUndo, message).fix("cleo log")
        })?;
        let number = operation.number;
        let own = transaction.undoing(number)?;
        revert(transaction, caller, &operation).map_err(|refused| Error {
            message: format!("operation {number} cannot be undone: {}", refused.message),
            fix: refused
                .fix
                .or(Some(format!("cleo log --operation {number}"))),
            ..refused
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

/// Reads the changes of an operation to tasks. Refuses one that is undone, damaged in part, took or ended a claim,
/// changed the gates that a task needs, or changed no task.
fn read_changes(transaction: &dyn Transaction, operation: &Operation) -> Result<Vec<Change>> {
    if let Some(undo) = operation.undone_by {
        let message = format!("operation {undo} has already undone it");
        let error = Error::new(Code::NothingToUndo, message);
        return Err(error.or("redo it", format!("cleo undo {undo}")));
    }
    let changes = transaction.changes_of(operation.number, u32::MAX)?;
    if changes.len() as u64 != operation.changes {
        return Err(Error::new(Code::RowDamaged, "a change of it is damaged").fix("cleo doctor"));
    }
    let (changes, others): (Vec<Change>, Vec<Change>) = changes
        .into_iter()
        .map(|one| one.change)
        .partition(|one| UNDOABLE.contains(&one.kind.as_str()));
    let is_fixed = |one: &&Change| {
        let kind = one.kind.as_str();
        changes.is_empty() || kind == REQUIRED_GATES || CLAIMS.contains(&kind)
    };
    match others.iter().find(is_fixed).map(describe) {
        Some(fixed) => {
            let only = "only changes of tasks are undone, no claims, gates, sessions or phases";
            Err(Error::new(Code::NothingToUndo, format!("{fixed}; {only}")))
        }
        None => Ok(changes),
    }
}

/// Reverts the changes that an operation made to tasks, the last first.
fn revert(transaction: &mut dyn Transaction, caller: &Caller, operation: &Operation) -> Result<()> {
    let changes = read_changes(transaction, operation)?;
    let tasks: BTreeSet<TaskId> = changes.iter().filter_map(|one| one.task).collect();
    for id in &tasks {
        refuse_changed(transaction, *id, operation.number)?;
    }
    let mut done_again = Vec::new();
    for change in changes.iter().rev() {
        let (id, detail): (TaskId, _) = (read(&json!(change.task))?, &change.detail);
        match change.kind.as_str() {
            LINKED => drop(transaction.unlink(&read(detail)?)?),
            UNLINKED => drop(transaction.link(&read(detail)?)?),
            DELETED => {
                let removed: Removed = read(detail)?;
                refuse_taken_names(transaction, &removed.task)?;
                transaction.restore(&removed)?;
            }
            CHANGED => {
                let after = require(transaction, id)?;
                let mut before = read_before(&after, &read(detail)?)?;
                before.touch(&caller.now);
                refuse_taken_names(transaction, &before)?;
                if before.status != after.status {
                    refuse_held(transaction, id, &caller.name)?;
                    done_again.extend((before.status == Status::Done).then_some(id));
                }
                transaction.put(&before)?;
            }
            _ => {
                let users = [transaction.dependents(id)?, transaction.children(id)?].concat();
                if let Some(user) = users.iter().find(|user| !tasks.contains(user)) {
                    return Err(conflict(&format!("{user} uses {id}"), *user));
                }
                refuse_held(transaction, id, &caller.name)?;
                transaction.delete(id)?;
            }
        }
    }
    let in_conflict = |error| Error {
        code: Code::UndoConflict,
        ..error
    };
    check_graph(transaction, &tasks).map_err(in_conflict)?;
    for id in done_again {
        refuse_open_parts(transaction, id, None).map_err(in_conflict)?;
        // Files may have changed since it was proven.
        if needs_proof(transaction, &require(transaction, id)?)? {
            let error = conflict(&format!("{id} has to be verified to be done again"), id);
            return Err(error.fix(format!("cleo complete {id}")));
        }
    }
    Ok(())
}

fn conflict(message: &str, look_at: TaskId) -> Error {
    Error::new(Code::UndoConflict, message).fix(format!("cleo show {look_at}"))
}

/// Refuses to move or remove a task that another one works on.
fn refuse_held(transaction: &dyn Transaction, id: TaskId, caller: &str) -> Result<()> {
    let holder = transaction.claim(id)?.and_then(|claim| claim.holder);
    match holder.filter(|holder| holder != caller) {
        Some(holder) => Err(conflict(&format!("{id} is claimed by {holder}"), id)),
        None => Ok(()),
    }
}

/// Returns the row of a task before a change.
fn read_before(after: &Task, changed: &Map<String, Value>) -> Result<Task> {
    let mut row = json!(after);
    for (field, step) in changed {
        match (step["added"].as_array(), row[field].as_array_mut()) {
            // Of a list that grew, the log holds the new part only. The removal of a task has taken it from there.
            (Some(added), Some(list)) => {
                for value in added.iter().rev() {
                    list.pop_if(|last| last == value);
                }
            }
            _ => row[field] = step["from"].clone(),
        }
    }
    let before: Task = read(&row)?;
    let is_whole = before.archived_at.is_none() || before.is_closed();
    if (before.id, &before.uid) != (after.id, &after.uid) || !is_whole {
        return Err(damaged(&format!("{} was never like that", after.id)));
    }
    Ok(before)
}

/// Refuses a row whose uid or key another task was given since.
fn refuse_taken_names(transaction: &dyn Transaction, row: &Task) -> Result<()> {
    let by_uid = transaction.task_by_uid(&row.uid)?;
    let by_key = transaction.task_by_key(row.key.as_deref().unwrap_or_default())?;
    match by_uid
        .into_iter()
        .chain(by_key)
        .find(|other| *other != row.id)
    {
        Some(other) => Err(conflict(
            &format!("{other} has the uid or key of {}", row.id),
            other,
        )),
        None => Ok(()),
    }
}

/// Refuses a task that was changed since an operation, and names what changed it.
fn refuse_changed(transaction: &dyn Transaction, id: TaskId, since: u64) -> Result<()> {
    let Some(later) = transaction.latest_change(id, since)? else {
        return Ok(());
    };
    let (number, command, by) = (later.number, &later.command, &later.by);
    let message = format!("{id} was changed by operation {number} ({command}, by {by})");
    let error = conflict(&message, id).fix(format!("cleo log --operation {number}"));
    // One that took a claim cannot be undone either.
    if read_changes(transaction, &later).is_err() {
        return Err(error);
    }
    let first = "undo that first, if it is not needed";
    Err(error.or(first, format!("cleo undo {number}")))
}

fn read<T: DeserializeOwned>(detail: &Value) -> Result<T> {
    T::deserialize(detail).map_err(|cause| damaged(&cause))
}

fn damaged(cause: &dyn Display) -> Error {
    let message = format!("its log is damaged: {cause}");
    Error::new(Code::StoreCorrupt, message).fix("cleo doctor")
}
