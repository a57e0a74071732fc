//! Undo of an operation: each task that it changed gets back what it had before, where that is still as the
//! operation left it. All of it or nothing, as an operation of its own, which can be undone in turn.

use std::collections::BTreeSet;

use clap::Args;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Context;
use super::claims::Caller;
use super::complete::needs_proof;
use super::log::{Entry, describe, entry, require_operation};
use super::tasks::{check_graph, deserialize_given};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::store::log::{CHANGED, CLAIMS, DELETED, LINKED, UNDOABLE, UNLINKED};
use crate::store::{Change, Operation, Recorded, Removed, Transaction};
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
changed the same again, undo names it and changes nothing.

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
    let (undone, warnings) = context.write_if(|transaction| {
        let operation = match request.operation {
            Some(number) => require_operation(transaction, number)?,
            None if caller.run.is_some() => {
                let message =
                    "agents of a run have one name; say by its number what is to be undone";
                return Err(Error::new(Code::NothingToUndo, message).fix("cleo log"));
            }
            None => transaction.latest_undoable(&caller.name)?.ok_or_else(|| {
                let name = &caller.name;
                let message = format!(
                    "{name} has done nothing that can be undone; name what others did by its number"
                );
                Error::new(Code::NothingToUndo, message).fix("cleo log")
            })?,
        };
        let number = operation.number;
        if caller.run.is_some() && operation.by != caller.name {
            let message = "an agent of a run undoes only what agents of that run did";
            return Err(Error::new(Code::StatusRefused, message)
                .fix(format!("cleo log --operation {number}")));
        }
        let changes = read_changes(transaction, &operation)?;
        let tasks: BTreeSet<TaskId> = changes.iter().filter_map(|one| one.task).collect();
        let own = transaction.undoing(number)?;
        let mut undo = Undo {
            transaction,
            caller,
            number,
            tasks,
        };
        for change in changes.iter().rev().filter(|one| is_undoable(one)) {
            undo.revert(change)?;
        }
        check_graph(undo.transaction, &undo.tasks).map_err(|broken| Error {
            fix: broken.fix,
            alternatives: broken.alternatives,
            ..conflict(number, &broken.message)
        })?;
        let kept = changes.iter().filter(|one| !is_undoable(one)).take(SHOWN);
        let warnings = kept.map(|one| format!("not undone: {}", describe(one)));
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

/// Reads the changes of an operation. Refuses one that is undone, damaged in part, took or ended a claim, or
/// changed no task.
fn read_changes(transaction: &dyn Transaction, operation: &Operation) -> Result<Vec<Change>> {
    let number = operation.number;
    let refused = format!("operation {number} cannot be undone:");
    if let Some(undo) = operation.undone_by {
        let message = format!("{refused} operation {undo} has already undone it");
        return Err(Error::new(Code::NothingToUndo, message)
            .fix(format!("cleo log --operation {undo}"))
            .or("redo it", format!("cleo undo {undo}")));
    }
    let changes = transaction.changes_of(number, u32::MAX)?.into_iter();
    let changes: Vec<Change> = changes.map(|one| one.change).collect();
    if changes.len() as u64 != operation.changes {
        let message = format!("{refused} a change of it is damaged");
        return Err(Error::new(Code::RowDamaged, message).fix("cleo doctor"));
    }
    let is_about_tasks = changes.iter().any(is_undoable);
    let is_fixed = |one: &&Change| !is_about_tasks || CLAIMS.contains(&one.kind.as_str());
    let Some(change) = changes.iter().find(is_fixed) else {
        return Ok(changes);
    };
    let only = "only changes of tasks are undone, no claims, sessions or phases";
    let message = format!("{refused} {}; {only}", describe(change));
    Err(Error::new(Code::NothingToUndo, message).fix(format!("cleo log --operation {number}")))
}

fn is_undoable(change: &Change) -> bool {
    UNDOABLE.contains(&change.kind.as_str())
}

/// An undo under way.
struct Undo<'a> {
    transaction: &'a mut dyn Transaction,
    caller: &'a Caller,
    /// Number of the operation that is undone.
    number: u64,
    /// The tasks that it changed.
    tasks: BTreeSet<TaskId>,
}

impl Undo<'_> {
    fn revert(&mut self, change: &Change) -> Result<()> {
        let detail = &change.detail;
        if change.kind == DELETED {
            let removed: Removed = read(detail)?;
            self.check_names(&removed.task)?;
            return self.transaction.restore(&removed);
        }
        let id: TaskId = read(&json!(change.task))?;
        let Some(task) = self.transaction.task(id)? else {
            return self.refuse(id, None, &id.to_string());
        };
        match change.kind.as_str() {
            LINKED => self.transaction.unlink(&read(detail)?).map(drop),
            UNLINKED => self.transaction.link(&read(detail)?).map(drop),
            CHANGED => self.restore_fields(&task, &read(detail)?),
            _ => self.remove(&task),
        }
    }

    /// Gives fields what they held before a change; each must hold what the change left.
    fn restore_fields(&mut self, was: &Task, changed: &Map<String, Value>) -> Result<()> {
        let (id, mut row) = (was.id, json!(was));
        for (name, step) in changed {
            // Of a list that grew, the log holds the new part only.
            let before = match (step["added"].as_array(), row[name].as_array()) {
                (Some(added), Some(list)) => list.strip_suffix(&added[..]).map(Value::from),
                _ => (row[name] == step["to"]).then(|| step["from"].clone()),
            };
            match before {
                Some(before) => row[name] = before,
                None => return self.refuse(id, Some(name), &format!("{name} of {id}")),
            }
        }
        let mut task: Task = read(&row)?;
        task.touch(&self.caller.now);
        self.check_names(&task)?;
        self.caller.refuse_change(was, &task)?;
        let is_done_again = task.status == Status::Done && was.status != Status::Done;
        // Files may have changed since it was proven.
        if is_done_again && needs_proof(self.transaction, &task)? {
            let why = format!("{id} has to be verified to be done again");
            return Err(conflict(self.number, &why).fix(format!("cleo complete {id}")));
        }
        if task.archived_at.is_some() && !task.is_closed() {
            return self.refuse(id, Some("status"), &format!("status of {id}"));
        }
        self.transaction.put(&task)
    }

    /// Removes a task that the operation brought, unless something was done with it since.
    fn remove(&mut self, task: &Task) -> Result<()> {
        let id = task.id;
        let mut users = self.transaction.dependents(id)?;
        users.extend(self.transaction.children(id)?);
        if let Some(user) = users.into_iter().find(|user| !self.tasks.contains(user)) {
            return self.refuse(user, None, &format!("{user}, which uses {id},"));
        }
        let later = self.transaction.latest_change(id, None, self.number)?;
        if later.is_some() {
            return self.refuse(id, None, &id.to_string());
        }
        self.caller.refuse_removal(self.transaction, task)?;
        self.transaction.delete(id)
    }

    /// Refuses a row whose uid or key another task has by now.
    fn check_names(&self, row: &Task) -> Result<()> {
        let key = row.key.as_deref().unwrap_or_default();
        let by_uid = self.transaction.task_by_uid(&row.uid)?;
        let mut holders = by_uid.into_iter().chain(self.transaction.task_by_key(key)?);
        let other = holders.find(|holder| *holder != row.id);
        other.map_or(Ok(()), |other| {
            let what = format!("{other}, which has the uid or key of {},", row.id);
            self.refuse(other, None, &what)
        })
    }

    /// Refuses the undo and names the latest operation that changed a task, or one field of it, since.
    fn refuse(&self, id: TaskId, field: Option<&str>, what: &str) -> Result<()> {
        let later = self.transaction.latest_change(id, field, self.number)?;
        let later = later.ok_or_else(|| {
            let why = format!("{what} is not as it was left");
            conflict(self.number, &why).fix(format!("cleo log --task {id}"))
        })?;
        let (number, command, by) = (later.number, later.command, later.by);
        let why = format!("{what} was changed by operation {number} ({command}, by {by})");
        let error = conflict(self.number, &why).fix(format!("cleo log --operation {number}"));
        let changes = self.transaction.changes_of(number, u32::MAX)?;
        let is_of_claim = |one: &Recorded| CLAIMS.contains(&one.change.kind.as_str());
        if changes.iter().any(is_of_claim) {
            return Err(error);
        }
        let first = "undo that first, if it is not needed";
        Err(error.or(first, format!("cleo undo {number}")))
    }
}

fn conflict(operation: u64, why: &str) -> Error {
    let message = format!("operation {operation} cannot be undone: {why}");
    Error::new(Code::UndoConflict, message)
}

fn read<T: DeserializeOwned>(detail: &Value) -> Result<T> {
    T::deserialize(detail).map_err(|cause| {
        let message = format!("the log is damaged, so it cannot be undone: {cause}");
        Error::new(Code::StoreCorrupt, message).fix("cleo doctor")
    })
}
