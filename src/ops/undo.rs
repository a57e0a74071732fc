//! Undo of an operation: each task that it changed gets back what it had before, where that is still as the
//! operation left it. All of it or nothing, as an operation of its own, which can be undone in turn.

use std::collections::BTreeSet;

use clap::Args;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Context;
use super::claims::Caller;
use super::complete::needs_proof;
use super::log::{Entry, describe, entry, require_operation};
use super::tasks::{DEPTH_MAX, depth, height, waits_for};
use crate::error::{Code, Error, Result};
use crate::id::{self, TaskId};
use crate::store::log::{ADDED, CHANGED, DELETED, LINKED, RESTORED, UNLINKED};
use crate::store::{Change, Link, Operation, OperationFilter, Recorded, Removed, Transaction};
use crate::task::graph::circle;
use crate::task::{Status, Task};

/// Kinds of change of the row of a task.
const ROWS: [&str; 4] = [ADDED, CHANGED, DELETED, RESTORED];
/// Kinds of change of a claim. The holder of a task and its epoch never go backwards.
const CLAIMS: [&str; 4] = ["claimed", "released", "expired", "extended"];
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
Without a number: your own latest operation (that of CLEO_AGENT) that is neither an undo nor undone.
Name anybody else's by its number.
Only tasks and their links are undone, never claims, sessions, phases and runs. If a later operation
changed the same again, undo names it and changes nothing.

Examples:
  cleo undo --dry-run
  cleo undo
  cleo undo 12                                the number is that of `cleo log`")]
pub(crate) struct Request {
    /// Number of the operation
    // Without a default: only the command line may leave it out.
    #[serde(deserialize_with = "Deserialize::deserialize")]
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
    #[serde(skip)]
    pub(crate) warnings: Vec<String>,
}

/// Undoes an operation: the one named, else the caller's latest that is neither an undo nor undone.
pub(crate) fn undo(context: &mut Context, request: Request) -> Result<Undone> {
    let Request {
        operation: number,
        dry_run,
    } = request;
    let caller = Caller::unbound(context);
    let work = |transaction: &mut dyn Transaction| {
        let operation = match number {
            Some(number) => require_operation(transaction, number)?,
            None => find_latest(transaction, &caller.name)?,
        };
        let changes = read_changes(transaction, &operation)?;
        let own = transaction.undoing(operation.number)?;
        let tasks = changes.iter().filter_map(|one| one.task).collect();
        let mut undo = Undo {
            transaction,
            caller: &caller,
            number: operation.number,
            own,
            tasks,
            dry_run,
        };
        let mut warnings = Vec::new();
        for change in changes.iter().rev() {
            match change.task.filter(|_| is_undoable(change)) {
                Some(id) => undo.revert(id, change)?,
                None => warnings.push(format!("not undone: {}", describe(change))),
            }
        }
        undo.check_graph()?;
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
    let mut undone = match dry_run {
        true => context.rehearse(work),
        false => context.write(work),
    }?;
    context.warn(&mut undone.warnings);
    Ok(undone)
}

fn find_latest(transaction: &dyn Transaction, by: &str) -> Result<Operation> {
    let filter = OperationFilter {
        by: Some(by.to_string()),
        undoable: true,
        limit: Some(1),
        ..OperationFilter::default()
    };
    let (mut latest, _) = transaction.operations(&filter)?;
    latest.pop().ok_or_else(|| {
        let message =
            format!("{by} has done nothing that can be undone; name what others did by its number");
        Error::new(Code::NothingToUndo, message).fix("cleo log")
    })
}

/// Reads the changes of an operation. Refuses one that is undone, damaged in part, took or ended a claim, or
/// changed no task.
fn read_changes(transaction: &dyn Transaction, operation: &Operation) -> Result<Vec<Change>> {
    let refused = format!("operation {} cannot be undone:", operation.number);
    if let Some(undo) = operation.undone_by {
        let message = format!("{refused} operation {undo} has already undone it");
        return Err(Error::new(Code::NothingToUndo, message)
            .fix(format!("cleo log --operation {undo}"))
            .or("redo it", format!("cleo undo {undo}")));
    }
    let changes = transaction.changes_of(operation.number, u32::MAX)?;
    if changes.len() as u64 != operation.changes {
        let message = format!("{refused} a change of it is damaged");
        return Err(Error::new(Code::RowDamaged, message).fix("cleo doctor"));
    }
    let changes: Vec<Change> = changes.into_iter().map(|one| one.change).collect();
    let mut fixed = changes.iter();
    let fixed = match changes.iter().any(is_undoable) {
        true => fixed.find(|one| CLAIMS.contains(&one.kind.as_str())),
        false => fixed.next(),
    };
    let Some(change) = fixed else {
        return Ok(changes);
    };
    let what = describe(change);
    let message = format!(
        "{refused} {what}; only changes of tasks are undone, no claims, sessions or phases"
    );
    let fix = change.task.map(|task| format!("cleo show {task}"));
    Err(Error::new(Code::NothingToUndo, message).fix(fix.unwrap_or("cleo log".to_string())))
}

fn is_undoable(change: &Change) -> bool {
    ROWS.contains(&change.kind.as_str()) || [LINKED, UNLINKED].contains(&change.kind.as_str())
}

/// An undo under way.
struct Undo<'a> {
    transaction: &'a mut dyn Transaction,
    caller: &'a Caller,
    /// Numbers of the operation that is undone, and of the undo itself.
    number: u64,
    own: u64,
    /// The tasks that the operation changed.
    tasks: BTreeSet<TaskId>,
    dry_run: bool,
}

impl Undo<'_> {
    fn revert(&mut self, id: TaskId, change: &Change) -> Result<()> {
        self.refuse_changed(id, change)?;
        let detail = &change.detail;
        let text = |name: &str| detail[name].as_str().unwrap_or_default().to_string();
        let link = || Link {
            task: id,
            entry: text("entry"),
            at: text("at"),
        };
        match change.kind.as_str() {
            LINKED => self.transaction.unlink(&link()).map(drop),
            UNLINKED => self.transaction.link(&link()).map(drop),
            DELETED => {
                let removed: Removed = read(id, detail.clone())?;
                self.check_row(id, &removed.task)?;
                self.transaction.restore(&removed)
            }
            CHANGED => {
                let task = self.transaction.task(id)?.ok_or_else(|| damaged(id))?;
                let was = task.clone();
                let mut row = json!(task);
                for (name, step) in detail.as_object().into_iter().flatten() {
                    // Of a list that grew, the log holds the new part only.
                    let grown = step["added"].as_array().zip(row[name].as_array());
                    let before = match grown {
                        Some((added, list)) => list.strip_suffix(&added[..]).map(Value::from),
                        None => (row[name] == step["to"]).then(|| step["from"].clone()),
                    };
                    row[name] = before.ok_or_else(|| damaged(id))?;
                }
                let mut task: Task = read(id, row)?;
                task.touch(&self.caller.now);
                self.check_row(id, &task)?;
                self.caller.refuse_fewer_criteria(&was, &task.acceptance)?;
                self.caller.refuse_done(&was, &task)?;
                if task.status == Status::Done
                    && was.status != Status::Done
                    && needs_proof(self.transaction, &task)?
                {
                    return self.refuse_proof(id);
                }
                if task.archived_at.is_some() && !task.is_closed() {
                    return self.refuse(
                        None,
                        &format!("opened {id}, and open tasks are not archived"),
                    );
                }
                self.transaction.put(&task)
            }
            _ => {
                let mut users = self.transaction.dependents(id)?;
                users.extend(self.transaction.children(id)?);
                users.retain(|user| !self.tasks.contains(user));
                if let Some(task) = self.transaction.task(id)? {
                    self.caller.refuse_removal(self.transaction, &task)?;
                }
                match users.is_empty() {
                    true => self.transaction.delete(id),
                    false => self.refuse_moved(&users, &format!("uses {id}")),
                }
            }
        }
    }

    /// Refuses if a later operation changed the same of a task. An operation and its own undo cancel out.
    fn refuse_changed(&self, id: TaskId, change: &Change) -> Result<()> {
        for newer in self.later(id)?.into_iter().rev() {
            let mut fields = change.detail.as_object().into_iter().flatten();
            let what = match (change.kind.as_str(), newer.change.kind.as_str()) {
                (CHANGED, CHANGED) => fields
                    .find(|(name, _)| newer.change.detail.get(name).is_some())
                    .map(|(name, _)| format!("changed {name} of {id}")),
                (old, new) if ROWS.contains(&old) && ROWS.contains(&new) => {
                    Some(format!("{new} {id}"))
                }
                _ => None,
            };
            let operation = self.transaction.operation(newer.operation)?;
            let holds = |one: Operation| one.undone_by.is_none() && one.undoes <= Some(self.number);
            if let Some(what) = what.filter(|_| operation.is_some_and(holds)) {
                return self.refuse(Some(newer), &what);
            }
        }
        Ok(())
    }

    /// Refuses to make a task done that has to be proven: files may have changed since it was.
    fn refuse_proof(&self, id: TaskId) -> Result<()> {
        let number = self.number;
        let message = format!(
            "operation {number} cannot be undone: {id} would be done again, which has to be verified"
        );
        Err(Error::new(Code::UndoConflict, message).fix(format!("cleo complete {id}")))
    }

    /// Refuses a row whose uid or key another task has by now.
    fn check_row(&self, id: TaskId, row: &Task) -> Result<()> {
        if row.id != id {
            return Err(damaged(id));
        }
        let key = row.key.as_deref().unwrap_or_default();
        let holders = [
            self.transaction.task_by_uid(&row.uid)?,
            self.transaction.task_by_key(key)?,
        ];
        match holders.into_iter().flatten().find(|holder| *holder != id) {
            Some(holder) => {
                self.refuse_moved(&[holder], &format!("gave {holder} the uid or key of {id}"))
            }
            None => Ok(()),
        }
    }

    /// Refuses what breaks a rule of the graph: parent and dependencies exist, no circle, and no nesting deeper
    /// than [`DEPTH_MAX`].
    fn check_graph(&self) -> Result<()> {
        let tasks = &*self.transaction;
        for id in &self.tasks {
            let Some(task) = tasks.task(*id)? else {
                continue;
            };
            for need in task.depends.iter().chain(&task.parent) {
                if tasks.status(*need)?.is_none() {
                    return self.refuse_moved(&[*need], &format!("deleted {need}"));
                }
            }
            if let Some(way) = circle([*id], |id| waits_for(tasks, id))? {
                let what = format!("would close a circle with it: {}", id::list(&way));
                return self.refuse_moved(&way, &what);
            }
            if depth(*id, |id| tasks.parent(id))? + height(tasks, *id)? - 1 > DEPTH_MAX {
                let below = tasks.nodes(Some(*id))?.into_iter().map(|node| node.id);
                let around: Vec<TaskId> = below.chain([*id]).chain(task.parent).collect();
                return self.refuse_moved(&around, &format!("would nest {id} too deep with it"));
            }
        }
        Ok(())
    }

    fn later(&self, task: TaskId) -> Result<Vec<Recorded>> {
        let mut changes = self.transaction.changes(0, Some(task), u32::MAX)?;
        changes.retain(|one| one.operation > self.number && one.operation != self.own);
        Ok(changes)
    }

    /// Refuses the undo and names the latest operation that moved one of these tasks in the graph.
    fn refuse_moved(&self, tasks: &[TaskId], what: &str) -> Result<()> {
        let mut later = Vec::new();
        for task in tasks {
            later.extend(self.later(*task)?);
        }
        later.retain(|Recorded { change, .. }| {
            let has = |field: &&str| change.detail.get(field).is_some();
            [ADDED, DELETED, RESTORED].contains(&change.kind.as_str())
                || ["depends", "parent", "key"].iter().any(has)
        });
        self.refuse(later.into_iter().max_by_key(|one| one.cursor), what)
    }

    fn refuse(&self, newest: Option<Recorded>, what: &str) -> Result<()> {
        let refused = format!("operation {} cannot be undone:", self.number);
        let Some(newest) = newest else {
            let message = format!("{refused} something {what}");
            return Err(Error::new(Code::UndoConflict, message).fix("cleo log"));
        };
        let (number, command, by) = (newest.operation, newest.command, newest.by);
        let dry_run = if self.dry_run { " --dry-run" } else { "" };
        let show = format!("cleo log --operation {number}");
        let message = format!("{refused} operation {number} ({command}, by {by}) {what}");
        Err(Error::new(Code::UndoConflict, message)
            .fix(format!("cleo undo {number}{dry_run}"))
            .or("see what it changed", show))
    }
}

fn read<T: DeserializeOwned>(id: TaskId, value: Value) -> Result<T> {
    serde_json::from_value(value).map_err(|cause| damaged(id).because(cause))
}

fn damaged(id: TaskId) -> Error {
    let message = format!("what the log holds of {id} is damaged, so it cannot be undone");
    Error::new(Code::StoreCorrupt, message).fix("cleo doctor")
}
