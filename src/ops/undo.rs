//! Undo of an operation: each task that it changed gets back what it had before, where that is still as the
//! operation left it. All of it or nothing, as an operation of its own, which can be undone in turn.

use std::collections::btree_map::Entry::{Occupied, Vacant};
use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::Context;
use super::claims::Caller;
use super::complete::needs_proof;
use super::log::{Entry, describe, entry, require_operation};
use super::tasks::check_graph;
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
an undo nor undone. Name anybody else's by its number.
Only tasks and their links are undone, never claims, sessions, phases and runs. If a later operation
changed the same again, undo names it and changes nothing.

Examples:
  cleo undo --dry-run
  cleo undo
  cleo undo 12                                the number is that of `cleo log`")]
pub(crate) struct Request {
    /// Number of the operation
    // Without a default and never null: only the command line may leave it out.
    #[serde(deserialize_with = "read_number")]
    #[cfg_attr(feature = "schemas", schemars(with = "u64"))]
    pub(crate) operation: Option<u64>,

    /// Show what would be changed
    #[arg(long, short = 'n')]
    #[serde(default)]
    pub(crate) dry_run: bool,
}

fn read_number<'de, D>(from: D) -> std::result::Result<Option<u64>, D::Error>
where
    D: Deserializer<'de>,
{
    u64::deserialize(from).map(Some)
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
    let caller = Caller::unbound(context);
    let (undone, warnings) = context.write_if(|transaction| {
        let operation = match request.operation {
            Some(number) => require_operation(transaction, number)?,
            None => find_latest(transaction, &caller.name)?,
        };
        let number = operation.number;
        let changes = read_changes(transaction, &operation)?;
        let own = transaction.undoing(number)?;
        let mut undo = Undo {
            transaction,
            caller: &caller,
            number,
            tasks: changes.iter().filter_map(|one| one.task).collect(),
            later: BTreeMap::new(),
        };
        let mut warnings = Vec::new();
        for change in changes.iter().rev() {
            match change.task.filter(|_| is_undoable(change)) {
                Some(id) => undo.revert(id, change)?,
                None => warnings.push(format!("not undone: {}", describe(change))),
            }
        }
        check_graph(undo.transaction, &undo.tasks).map_err(|broken| Error {
            code: Code::UndoConflict,
            message: undo.refused(&broken.message).message,
            ..broken
        })?;
        warnings.truncate(SHOWN);
        let made = transaction.changes_of(own, u32::MAX)?;
        let undone = Undone {
            operation: entry(transaction, operation)?,
            undo: (!request.dry_run).then_some(own),
            total: made.len(),
            changes: made.into_iter().take(SHOWN).map(|one| one.change).collect(),
            dry_run: request.dry_run,
        };
        Ok(((undone, warnings), !request.dry_run))
    })?;
    context.notes.warn(warnings);
    Ok(undone)
}

fn find_latest(transaction: &dyn Transaction, by: &str) -> Result<Operation> {
    transaction.latest_undoable(by)?.ok_or_else(|| {
        let message =
            format!("{by} has done nothing that can be undone; name what others did by its number");
        Error::new(Code::NothingToUndo, message).fix("cleo log")
    })
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
    let changes = transaction.changes_of(number, u32::MAX)?;
    if changes.len() as u64 != operation.changes {
        let message = format!("{refused} a change of it is damaged");
        return Err(Error::new(Code::RowDamaged, message).fix("cleo doctor"));
    }
    let changes: Vec<Change> = changes.into_iter().map(|one| one.change).collect();
    let is_about_tasks = changes.iter().any(is_undoable);
    let is_fixed = |one: &&Change| !is_about_tasks || CLAIMS.contains(&one.kind.as_str());
    let Some(change) = changes.iter().find(is_fixed) else {
        return Ok(changes);
    };
    let what = describe(change);
    let message = format!(
        "{refused} {what}; only changes of tasks are undone, no claims, sessions or phases"
    );
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
    /// Operations since, by number. Reading one counts its changes, so each is read once.
    later: BTreeMap<u64, Option<Operation>>,
}

impl Undo<'_> {
    fn revert(&mut self, id: TaskId, change: &Change) -> Result<()> {
        match change.kind.as_str() {
            LINKED => self.transaction.unlink(&read(&change.detail)?).map(drop),
            UNLINKED => self.transaction.link(&read(&change.detail)?).map(drop),
            CHANGED => self.restore_fields(id, &change.detail),
            DELETED => {
                let removed: Removed = read(&change.detail)?;
                self.check_names(&removed.task)?;
                self.transaction.restore(&removed)
            }
            _ => self.remove(id),
        }
    }

    /// Gives fields what they held before a change; each must hold what the change left.
    fn restore_fields(&mut self, id: TaskId, changed: &Value) -> Result<()> {
        let Some(was) = self.transaction.task(id)? else {
            return self.refuse(id, None, &format!("{id} was deleted"));
        };
        let mut row = json!(was);
        for (name, step) in changed.as_object().into_iter().flatten() {
            // Of a list that grew, the log holds the new part only.
            let grown = step["added"].as_array().zip(row[name].as_array());
            let before = match grown {
                Some((added, list)) => list.strip_suffix(&added[..]).map(Value::from),
                None => (row[name] == step["to"]).then(|| step["from"].clone()),
            };
            let Some(before) = before else {
                return self.refuse(id, Some(name), &format!("{name} of {id} was changed"));
            };
            row[name] = before;
        }
        let mut task: Task = read(&row)?;
        task.touch(&self.caller.now);
        self.check_names(&task)?;
        self.caller.refuse_fewer_criteria(&was, &task.acceptance)?;
        self.caller.refuse_done(&was, &task)?;
        let is_done_again = task.status == Status::Done && was.status != Status::Done;
        // Files may have changed since it was proven.
        if is_done_again && needs_proof(self.transaction, &task)? {
            let error = self.refused(&format!("{id} has to be verified to be done again"));
            return Err(error.fix(format!("cleo complete {id}")));
        }
        if task.archived_at.is_some() && !task.is_closed() {
            return self.refuse(id, Some("status"), &format!("{id} was opened"));
        }
        self.transaction.put(&task)
    }

    /// Removes a task that the operation brought, unless something was done with it since.
    fn remove(&mut self, id: TaskId) -> Result<()> {
        let mut users = self.transaction.dependents(id)?;
        users.extend(self.transaction.children(id)?);
        if let Some(user) = users.into_iter().find(|user| !self.tasks.contains(user)) {
            return self.refuse(user, None, &format!("{user} uses {id}; it was changed"));
        }
        if self.find_later(id, None)?.is_some() {
            return self.refuse(id, None, &format!("{id} was changed"));
        }
        if let Some(task) = self.transaction.task(id)? {
            self.caller.refuse_removal(self.transaction, &task)?;
        }
        self.transaction.delete(id)
    }

    /// Refuses a row whose uid or key another task has by now.
    fn check_names(&mut self, row: &Task) -> Result<()> {
        let key = row.key.as_deref().unwrap_or_default();
        let by_uid = self.transaction.task_by_uid(&row.uid)?;
        let holders = by_uid.into_iter().chain(self.transaction.task_by_key(key)?);
        for holder in holders.filter(|holder| *holder != row.id) {
            let what = format!("{holder} has the uid or key of {}; it was changed", row.id);
            self.refuse(holder, None, &what)?;
        }
        Ok(())
    }

    /// Finds the latest operation that changed a task, or one field of it, since. An operation and its own undo
    /// cancel out.
    fn find_later(&mut self, id: TaskId, field: Option<&str>) -> Result<Option<Operation>> {
        let number = self.number;
        let counts = |one: &&Recorded| {
            let has_field = field.is_none_or(|field| one.change.detail.get(field).is_some());
            one.operation > number && is_undoable(&one.change) && has_field
        };
        let changes = self.transaction.changes(0, Some(id), u32::MAX)?;
        for newer in changes.iter().rev().filter(counts) {
            let operation = match self.later.entry(newer.operation) {
                Occupied(known) => known.into_mut(),
                Vacant(place) => place.insert(self.transaction.operation(newer.operation)?),
            };
            let holds = |one: &&Operation| one.undone_by.is_none() && one.undoes < Some(number);
            if let Some(operation) = operation.as_ref().filter(holds) {
                return Ok(Some(operation.clone()));
            }
        }
        Ok(None)
    }

    /// Refuses the undo and names the latest operation that changed a task, or one field of it, since.
    fn refuse(&mut self, id: TaskId, field: Option<&str>, what: &str) -> Result<()> {
        let Some(latest) = self.find_later(id, field)? else {
            return Err(self.refused(what).fix(format!("cleo log --task {id}")));
        };
        let (number, command, by) = (latest.number, latest.command, latest.by);
        let what = format!("{what} by operation {number} ({command}, by {by})");
        let (look, undo) = (
            format!("cleo log --operation {number}"),
            format!("cleo undo {number}"),
        );
        let first = "undo that first, if it is not needed";
        Err(self.refused(&what).fix(look).or(first, undo))
    }

    fn refused(&self, why: &str) -> Error {
        let message = format!("operation {} cannot be undone: {why}", self.number);
        Error::new(Code::UndoConflict, message)
    }
}

fn read<T: DeserializeOwned>(detail: &Value) -> Result<T> {
    T::deserialize(detail).map_err(|cause| {
        let message = format!("the log is damaged, so it cannot be undone: {cause}");
        Error::new(Code::StoreCorrupt, message).fix("cleo doctor")
    })
}
