//! Undo of an operation: each task that it changed becomes what it was before, unless a later operation changed that
//! task. All of it or nothing, as an operation of its own, which can be undone in turn.

use std::collections::BTreeSet;
use std::fmt::Display;

use clap::Args;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::claims::{Caller, check_holder};
use super::complete::needs_proof;
use super::log::{Entry, describe, entry, require_operation};
use super::tasks::{check_graph, deserialize_given, refuse_open_parts};
use super::{Context, require};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::store::log::{CHANGED, CLAIMS, DELETED, LINKED, UNDOABLE, UNLINKED};
use crate::store::{Change, Operation, Removed, Transaction};
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
Only tasks and their links are undone, never claims, sessions, phases and runs. If a later operation
changed one of the tasks, undo names it and changes nothing.

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
    let name = &caller.name;
    let (undone, warnings) = context.write_if(|transaction| {
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
        // All agents of a run have the name of the run.
        if caller.run.is_some() && (request.operation.is_none() || operation.by != *name) {
            let message =
                "an agent of a run undoes by number, and only what agents of that run did";
            return Err(Error::new(Code::StatusRefused, message).fix("cleo log"));
        }
        let number = operation.number;
        let own = transaction.undoing(number)?;
        let others = revert(transaction, caller, &operation).map_err(|refused| Error {
            message: format!("operation {number} cannot be undone: {}", refused.message),
            fix: refused
                .fix
                .or(Some(format!("cleo log --operation {number}"))),
            ..refused
        })?;
        let others = others.iter().take(SHOWN);
        let warnings = others.map(|one| format!("not undone: {}", describe(one)));
        let made = transaction.changes_of(own, u32::MAX)?;
        let undone = Undone {
            operation: entry(transaction, operation)?,
            undo: (!request.dry_run).then_some(own),
            total: made.len(),
            changes: made.into_iter().take(SHOWN).map(|one| one.change).collect(),
            dry_run: request.dry_run,
        };
        Ok(((undone, warnings.collect::<Vec<_>>()), !request.dry_run))
    })?;
    context.notes.warn(warnings);
    Ok(undone)
}

/// Reads the changes of an operation, apart from those that are not of tasks and stay. Refuses one that is undone,
/// damaged in part, took or ended a claim, or changed no task.
fn read_changes(
    transaction: &dyn Transaction,
    operation: &Operation,
) -> Result<(Vec<Change>, Vec<Change>)> {
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
    let is_fixed = |one: &&Change| changes.is_empty() || CLAIMS.contains(&one.kind.as_str());
    if let Some(fixed) = others.iter().find(is_fixed) {
        let only = "only changes of tasks are undone, no claims, sessions or phases";
        let message = format!("{}; {only}", describe(fixed));
        return Err(Error::new(Code::NothingToUndo, message));
    }
    Ok((changes, others))
}

/// Reverts the changes that an operation made to tasks, the last first. Returns its other changes.
fn revert(
    transaction: &mut dyn Transaction,
    caller: &Caller,
    operation: &Operation,
) -> Result<Vec<Change>> {
    let number = operation.number;
    let (changes, others) = read_changes(transaction, operation)?;
    let tasks: BTreeSet<TaskId> = changes.iter().filter_map(|one| one.task).collect();
    for id in &tasks {
        refuse_changed(transaction, *id, number, "")?;
    }
    let mut done_again = Vec::new();
    for change in changes.iter().rev() {
        let detail = &change.detail;
        let id: TaskId = read(&json!(change.task))?;
        match change.kind.as_str() {
            LINKED => drop(transaction.unlink(&read(detail)?)?),
            UNLINKED => drop(transaction.link(&read(detail)?)?),
            DELETED => {
                let removed: Removed = read(detail)?;
                refuse_taken_names(transaction, &removed.task, number)?;
                transaction.restore(&removed)?;
            }
            CHANGED => {
                let after = require(transaction, id)?;
                let mut before = read_before(&after, &read(detail)?)?;
                let is_whole = before.archived_at.is_none() || before.is_closed();
                if (before.id, &before.uid) != (id, &after.uid) || !is_whole {
                    return Err(damaged(&format!("{id} was never like that")));
                }
                before.touch(&caller.now);
                refuse_taken_names(transaction, &before, number)?;
                caller.refuse_change(transaction, &after, &before)?;
                if before.status != after.status {
                    refuse_held(transaction, caller, &after)?;
                    done_again.extend((before.status == Status::Done).then_some(id));
                }
                transaction.put(&before)?;
            }
            _ => {
                let users = [transaction.dependents(id)?, transaction.children(id)?];
                for user in users.concat() {
                    refuse_changed(transaction, user, number, &format!(", which uses {id},"))?;
                }
                let task = require(transaction, id)?;
                caller.refuse_removal(transaction, &task)?;
                refuse_held(transaction, caller, &task)?;
                transaction.delete(id)?;
            }
        }
    }
    check_graph(transaction, &tasks).map_err(conflict)?;
    for id in done_again {
        refuse_open_parts(transaction, id, None).map_err(conflict)?;
        // Files may have changed since it was proven.
        if needs_proof(transaction, &require(transaction, id)?)? {
            let message = format!("{id} has to be verified to be done again");
            let error = Error::new(Code::UndoConflict, message);
            return Err(error.fix(format!("cleo complete {id}")));
        }
    }
    Ok(others)
}

fn conflict(error: Error) -> Error {
    let code = Code::UndoConflict;
    Error { code, ..error }
}

/// Refuses to move or remove a task under the hands of somebody who works on it.
fn refuse_held(transaction: &dyn Transaction, caller: &Caller, task: &Task) -> Result<()> {
    check_holder(transaction, task, caller, false, "undo").map_err(|error| Error {
        alternatives: Vec::new(),
        ..conflict(error)
    })?;
    let claim = transaction.claim(task.id)?;
    if claim.is_none_or(|claim| claim.holder.is_none()) {
        return Ok(());
    }
    let message = format!("{} is claimed; release it first", task.id);
    Err(Error::new(Code::UndoConflict, message).fix(format!("cleo release {}", task.id)))
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
    read(&row)
}

/// Refuses a row whose uid or key another task was given since.
fn refuse_taken_names(transaction: &dyn Transaction, row: &Task, number: u64) -> Result<()> {
    let by_uid = transaction.task_by_uid(&row.uid)?;
    let by_key = transaction.task_by_key(row.key.as_deref().unwrap_or_default())?;
    for other in by_uid.into_iter().chain(by_key) {
        let what = format!(", which has the uid or key of {},", row.id);
        refuse_changed(transaction, other, number, &what)?;
    }
    Ok(())
}

/// Refuses a task that was changed since an operation, and names what changed it.
fn refuse_changed(transaction: &dyn Transaction, id: TaskId, since: u64, what: &str) -> Result<()> {
    let Some(later) = transaction.latest_change(id, since)? else {
        return Ok(());
    };
    let (number, command, by) = (later.number, &later.command, &later.by);
    let message = format!("{id}{what} was changed by operation {number} ({command}, by {by})");
    let look = format!("cleo log --operation {number}");
    let error = Error::new(Code::UndoConflict, message).fix(look);
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
