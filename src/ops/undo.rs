//! Undo of an operation: each task that it changed gets back the fields that it had before, where they are still as
//! the operation left them. All of it or nothing, as an operation of its own, which can be undone in turn.

use std::collections::BTreeSet;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Context;
use super::claims::Caller;
use super::log::{Entry, describe, entry, require_operation};
use super::tasks::{DEPTH_MAX, depth, height, waits_for};
use crate::error::{Code, Error, Result};
use crate::id::{self, TaskId};
use crate::store::log::{ADDED, CHANGED, DELETED, LINKED, RESTORED, UNLINKED};
use crate::store::{Change, Link, Operation, OperationFilter, Recorded, Removed, Transaction};
use crate::task::Task;
use crate::task::graph::circle;

/// Kinds of change that can be undone.
const UNDOABLE: [&str; 6] = [ADDED, CHANGED, DELETED, RESTORED, LINKED, UNLINKED];
/// Kinds of change of a claim. Who works on a task, and under which epoch, never goes backwards.
const CLAIMS: [&str; 4] = ["claimed", "released", "expired", "extended"];
/// How many operations are read at once to find the latest.
const PAGE: u32 = 50;
/// How many changes and warnings an answer shows.
const SHOWN: usize = 100;

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
    /// What stays as it is, and what goes with a task.
    #[serde(skip)]
    pub(crate) warnings: Vec<String>,
}

/// Undoes an operation: the one named, else the caller's latest that is neither an undo nor undone.
pub(crate) fn undo(context: &mut Context, number: Option<u64>, dry_run: bool) -> Result<Undone> {
    let caller = Caller::unbound(context);
    let work = |transaction: &mut dyn Transaction| {
        let operation = match number {
            Some(number) => require_operation(transaction, number)?,
            None => find_latest(transaction, &caller.name)?,
        };
        let changes = read_changes(transaction, &operation)?;
        refuse_fixed(&operation, &changes)?;
        let own = transaction.undoing(operation.number)?;
        let mut undo = Undo {
            transaction,
            number: operation.number,
            own,
            touched: changes.iter().filter_map(|one| one.change.task).collect(),
            now: &caller.now,
            dry_run,
            warnings: Vec::new(),
        };
        for recorded in changes.iter().rev() {
            undo.revert(&recorded.change)?;
        }
        undo.check_graph()?;
        let mut warnings = undo.warnings;
        warnings.truncate(SHOWN);
        let made = transaction.changes_of(own, u32::MAX)?;
        Ok(Undone {
            operation: entry(transaction, operation)?,
            undo: (!dry_run).then_some(own),
            total: made.len(),
            changes: made.into_iter().take(SHOWN).map(|one| one.change).collect(),
            dry_run,
            warnings,
        })
    };
    match dry_run {
        true => context.rehearse(work),
        false => context.write(work),
    }
}

fn find_latest(transaction: &dyn Transaction, by: &str) -> Result<Operation> {
    let mut filter = OperationFilter {
        by: Some(by.to_string()),
        limit: Some(PAGE),
        ..OperationFilter::default()
    };
    loop {
        let (page, _) = transaction.operations(&filter)?;
        let Some(last) = page.last() else {
            let message = format!(
                "{by} has done nothing that can be undone; name what others did by its number"
            );
            return Err(Error::new(Code::NothingToUndo, message).fix("cleo log"));
        };
        filter.before = Some(last.number);
        let mut page = page.into_iter();
        if let Some(one) = page.find(|one| one.undoes.is_none() && one.undone_by.is_none()) {
            return Ok(one);
        }
    }
}

/// Reads all changes of an operation. Without those that are damaged it would be undone in part.
fn read_changes(transaction: &dyn Transaction, operation: &Operation) -> Result<Vec<Recorded>> {
    let number = operation.number;
    let changes = transaction.changes_of(number, u32::MAX)?;
    if changes.len() as u64 == operation.changes {
        return Ok(changes);
    }
    let message = format!("operation {number} cannot be undone: a change of it is damaged");
    Err(Error::new(Code::RowDamaged, message).fix("cleo doctor"))
}

/// Refuses an operation that is undone already, that took or ended a claim, or that changed no task.
fn refuse_fixed(operation: &Operation, changes: &[Recorded]) -> Result<()> {
    let number = operation.number;
    let refuse = |why: &str| {
        let message = format!("operation {number} cannot be undone: {why}");
        Error::new(Code::NothingToUndo, message)
    };
    if let Some(undo) = operation.undone_by {
        let error = refuse(&format!("operation {undo} has already undone it"));
        return Err(error
            .fix(format!("cleo log --operation {undo}"))
            .or("redo it", format!("cleo undo {undo}")));
    }
    let find = |kinds: &[&str]| {
        changes
            .iter()
            .find(|one| kinds.contains(&one.change.kind.as_str()))
    };
    let fixed = match find(&UNDOABLE) {
        Some(_) => find(&CLAIMS),
        None => changes.first(),
    };
    let Some(Recorded { change, .. }) = fixed else {
        return Ok(());
    };
    let fix = change.task.map(|task| format!("cleo show {task}"));
    let why = format!(
        "{}; only changes of tasks are undone, no claims, sessions or phases",
        describe(change)
    );
    Err(refuse(&why).fix(fix.unwrap_or("cleo log".to_string())))
}

/// An undo under way.
struct Undo<'a> {
    transaction: &'a mut dyn Transaction,
    /// The operation that is undone, and that of the undo itself.
    number: u64,
    own: u64,
    /// The tasks that the operation changed.
    touched: BTreeSet<TaskId>,
    now: &'a str,
    dry_run: bool,
    warnings: Vec<String>,
}

impl Undo<'_> {
    fn revert(&mut self, change: &Change) -> Result<()> {
        let detail = &change.detail;
        let text = |name: &str| detail[name].as_str().unwrap_or_default().to_string();
        let link = |task| Link {
            task,
            entry: text("entry"),
            at: text("at"),
        };
        match (change.kind.as_str(), change.task) {
            (ADDED | RESTORED, Some(task)) => self.remove(task),
            (DELETED, Some(task)) => {
                let removed: Removed = read(task, detail.clone())?;
                if self.transaction.status(task)?.is_some() {
                    return Err(self.conflict(&[task], moves, &format!("restored {task}")));
                }
                self.check_row(task, &removed.task)?;
                self.transaction.restore(&removed)
            }
            (CHANGED, Some(task)) => self.put_before(task, detail),
            (LINKED, Some(task)) => self.transaction.unlink(&link(task)).map(drop),
            (UNLINKED, Some(task)) => self.transaction.link(&link(task)).map(drop),
            _ => {
                self.warnings
                    .push(format!("not undone: {}", describe(change)));
                Ok(())
            }
        }
    }

    /// Removes a task that the operation added, unless it was changed or is used by now.
    fn remove(&mut self, task: TaskId) -> Result<()> {
        for newer in self.later(task)? {
            let is_row = [CHANGED, DELETED, RESTORED].contains(&newer.change.kind.as_str());
            let operation = self.transaction.operation(newer.operation)?;
            // An undo of a later operation cancels out with it.
            let stands = operation
                .is_some_and(|one| one.undone_by.is_none() && one.undoes <= Some(self.number));
            if is_row && stands {
                return Err(self.conflict(
                    &[task],
                    |one| one.kind == newer.change.kind,
                    &format!("{} {task}", newer.change.kind),
                ));
            }
        }
        let mut users = self.transaction.dependents(task)?;
        users.extend(self.transaction.children(task)?);
        users.retain(|user| !self.touched.contains(user));
        match users.is_empty() {
            true => self.transaction.delete(task),
            false => Err(self.conflict(&users, moves, &format!("uses {task}"))),
        }
    }

    /// Writes the fields that a task had before, if they are as the operation left them.
    fn put_before(&mut self, id: TaskId, detail: &Value) -> Result<()> {
        let Some(task) = self.transaction.task(id)? else {
            return Err(self.conflict(&[id], moves, &format!("deleted {id}")));
        };
        let mut fields = json!(task);
        for (name, step) in detail.as_object().into_iter().flatten() {
            let Some(before) = before(&fields[name], step) else {
                let has = |newer: &Change| newer.detail.get(name).is_some();
                return Err(self.conflict(&[id], has, &format!("changed {name} of {id}")));
            };
            fields[name] = before;
        }
        fields["updatedAt"] = json!(task.updated_at);
        let mut task: Task = read(id, fields)?;
        task.touch(self.now);
        self.check_row(id, &task)?;
        self.transaction.put(&task)
    }

    fn check_row(&self, id: TaskId, row: &Task) -> Result<()> {
        if row.id != id {
            return Err(damaged(id));
        }
        if let Some(holder) = self.transaction.task_by_uid(&row.uid)?
            && holder != id
        {
            let has = |newer: &Change| newer.kind == ADDED;
            return Err(self.conflict(&[holder], has, &format!("brought {id} back as {holder}")));
        }
        let key = row.key.as_deref().unwrap_or_default();
        match self.transaction.task_by_key(key)? {
            Some(holder) if holder != id => {
                let has = |newer: &Change| newer.kind == ADDED || newer.detail.get("key").is_some();
                Err(self.conflict(&[holder], has, &format!("gave {holder} the key `{key}`")))
            }
            _ => Ok(()),
        }
    }

    /// Refuses what breaks a rule of the graph: a parent and dependencies that exist, no circle, and
    /// no deeper nesting than [`DEPTH_MAX`].
    fn check_graph(&self) -> Result<()> {
        let tasks = &*self.transaction;
        for id in &self.touched {
            let Some(task) = tasks.task(*id)? else {
                continue;
            };
            for need in task.depends.iter().chain(&task.parent) {
                if tasks.status(*need)?.is_none() {
                    return Err(self.conflict(&[*need], moves, &format!("deleted {need}")));
                }
            }
            if let Some(way) = circle([*id], |id| waits_for(tasks, id))? {
                let what = format!("would close a circle with it: {}", id::list(&way));
                return Err(self.conflict(&way, moves, &what));
            }
            if depth(*id, |id| tasks.parent(id))? + height(tasks, *id)? - 1 > DEPTH_MAX {
                let below = tasks.nodes(Some(*id))?.into_iter().map(|node| node.id);
                let around: Vec<TaskId> = below.chain([*id]).chain(task.parent).collect();
                return Err(self.conflict(
                    &around,
                    moves,
                    &format!("would nest {id} too deep with it"),
                ));
            }
        }
        Ok(())
    }

    fn later(&self, task: TaskId) -> Result<Vec<Recorded>> {
        let mut changes = self.transaction.changes(0, Some(task), u32::MAX)?;
        changes.retain(|one| one.operation > self.number && one.operation != self.own);
        Ok(changes)
    }

    /// The error for a later operation in the way: the latest on these tasks with a fitting change.
    fn conflict(&self, tasks: &[TaskId], fits: impl Fn(&Change) -> bool, what: &str) -> Error {
        let later: Result<Vec<_>> = tasks.iter().map(|task| self.later(*task)).collect();
        let later = match later {
            Ok(later) => later.into_iter().flatten().filter(|one| fits(&one.change)),
            Err(error) => return error,
        };
        let refused = format!("operation {} cannot be undone:", self.number);
        let Some(newer) = later.max_by_key(|one| one.cursor) else {
            return Error::new(Code::UndoConflict, format!("{refused} something {what}"))
                .fix("cleo log");
        };
        let (number, command, by) = (newer.operation, newer.command, newer.by);
        let message = format!("{refused} operation {number} ({command}, by {by}) {what}");
        let dry_run = if self.dry_run { " --dry-run" } else { "" };
        Error::new(Code::UndoConflict, message)
            .fix(format!("cleo undo {number}{dry_run}"))
            .or(
                "see what it changed",
                format!("cleo log --operation {number}"),
            )
    }
}

fn read<T: DeserializeOwned>(id: TaskId, value: Value) -> Result<T> {
    serde_json::from_value(value).map_err(|cause| damaged(id).because(cause))
}

fn damaged(id: TaskId) -> Error {
    let message = format!("what the log holds of {id} is damaged, so it cannot be undone");
    Error::new(Code::StoreCorrupt, message).fix("cleo doctor")
}

fn moves(change: &Change) -> bool {
    let has = |field: &str| change.detail.get(field).is_some();
    [ADDED, DELETED, RESTORED].contains(&change.kind.as_str()) || has("depends") || has("parent")
}

/// Returns the value of a field before a step, if it is still as the step left it. Of a list that
/// grew, the log holds the new part only.
fn before(now: &Value, step: &Value) -> Option<Value> {
    match step.get("added").and_then(Value::as_array) {
        Some(added) => Some(now.as_array()?.strip_suffix(added.as_slice())?.into()),
        None => (*now == step["to"]).then(|| step["from"].clone()),
    }
}
