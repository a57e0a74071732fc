//! What stands against taking back an operation: later ones that changed the same, or that stand
//! on it, and the rules that always hold.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use super::inverse::{grown, is_possible, removed};
use super::{SHOWN, describe};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::tasks::{DEPTH_MAX, depth, height, waits_for};
use crate::store::log::{ADDED, CHANGED, DELETED, LINKED, RESTORED, UNLINKED};
use crate::store::{Change, Operation, Recorded, Transaction};
use crate::task::graph::circle;

/// Operations after the one that is to be taken back.
pub(super) struct Later<'a> {
    /// Where they are read.
    pub(super) transaction: &'a dyn Transaction,
    number: u64,
    /// The operation of the undo itself, once it has begun.
    undo: Option<u64>,
    /// Whether an operation has an effect that stands, by number.
    stands: HashMap<u64, bool>,
}

impl<'a> Later<'a> {
    /// Looks for operations after `number`, but for that of the undo.
    pub(super) fn than(
        transaction: &'a dyn Transaction,
        number: u64,
        undo: Option<u64>,
    ) -> Later<'a> {
        Later {
            transaction,
            number,
            undo,
            stands: HashMap::new(),
        }
    }

    /// Reads the later changes of a task whose effect stands, from a cursor on.
    pub(super) fn changes(&mut self, task: TaskId, cursor: u64) -> Result<Vec<Recorded>> {
        let mut found = Vec::new();
        for change in self.transaction.changes(cursor, Some(task), u32::MAX)? {
            let is_later = change.operation > self.number && Some(change.operation) != self.undo;
            if is_later && self.stands(change.operation)? {
                found.push(change);
            }
        }
        Ok(found)
    }

    /// An operation that was taken back has no effect, nor has the undo of one that came later
    /// than the one that is to be taken back: the two cancel each other out.
    fn stands(&mut self, number: u64) -> Result<bool> {
        if let Some(known) = self.stands.get(&number) {
            return Ok(*known);
        }
        let operation = self.transaction.operation(number)?;
        let stands = operation.is_some_and(|operation| {
            let cancels = operation.undoes.is_some_and(|undone| undone > self.number);
            operation.undone_by.is_none() && !cancels
        });
        self.stands.insert(number, stands);
        Ok(stands)
    }

    /// Finds the last later change of one of these tasks that moved it in the graph.
    fn last_on(&mut self, tasks: &[TaskId]) -> Result<Option<Recorded>> {
        let mut last: Option<Recorded> = None;
        for task in tasks {
            let changes = self.changes(*task, 0)?;
            let mut changes = changes.into_iter().filter(|each| is_move(&each.change));
            let newer = changes.next_back();
            last = last.into_iter().chain(newer).max_by_key(|each| each.cursor);
        }
        Ok(last)
    }
}

/// Refuses to take back what later operations have changed again or stand on. Warns of what
/// happened to a task that goes.
pub(super) fn refuse(
    transaction: &dyn Transaction,
    operation: &Operation,
    changes: &[Recorded],
    warnings: &mut Vec<String>,
) -> Result<()> {
    let mut later = Later::than(transaction, operation.number, None);
    let mut against = BTreeMap::new();
    let own: HashSet<TaskId> = added(changes).collect();
    for recorded in changes.iter().filter(|each| is_possible(&each.change)) {
        let Some(task) = recorded.change.task else {
            continue;
        };
        for newer in later.changes(task, recorded.cursor)? {
            if is_possible(&newer.change) {
                if let Some(what) = overlap(&recorded.change, &newer.change) {
                    against.insert(newer.cursor, (newer, what));
                }
            } else if own.contains(&task) && warnings.len() < SHOWN {
                let what = describe(&newer.change);
                warnings.push(format!(
                    "this cannot be taken back: {what} (operation {})",
                    newer.operation
                ));
            }
        }
    }
    // Whoever came to use them by this very operation leaves them with it.
    let moved: HashSet<TaskId> = moved(changes).collect();
    for task in &own {
        let mut users = transaction.dependents(*task)?;
        users.extend(transaction.children(*task)?);
        users.retain(|user| !moved.contains(user));
        if let Some(newer) = later.last_on(&users)? {
            let what = format!("uses {task}");
            against.insert(newer.cursor, (newer, what));
        }
    }
    if let Some((newer, what)) = against.into_values().next_back() {
        return Err(conflict(operation, &newer, &what));
    }
    keys(transaction, operation, changes)
}

/// Says whether a change moves a task in the graph.
fn is_move(change: &Change) -> bool {
    match change.kind.as_str() {
        ADDED | DELETED | RESTORED => true,
        CHANGED => ["depends", "parent"]
            .iter()
            .any(|field| change.detail.get(field).is_some()),
        _ => false,
    }
}

fn moved(changes: &[Recorded]) -> impl Iterator<Item = TaskId> {
    changes
        .iter()
        .filter(|each| is_move(&each.change))
        .filter_map(|each| each.change.task)
}

fn added(changes: &[Recorded]) -> impl Iterator<Item = TaskId> {
    let is_new = |change: &&Recorded| [ADDED, RESTORED].contains(&change.change.kind.as_str());
    changes
        .iter()
        .filter(is_new)
        .filter_map(|each| each.change.task)
}

/// Says what a newer change has in common with an older one of the same task. Two that made the
/// same list grow are in nobody's way, nor are links beside fields.
fn overlap(older: &Change, newer: &Change) -> Option<String> {
    let is_link = |change: &Change| [LINKED, UNLINKED].contains(&change.kind.as_str());
    let is_field = |change: &Change| change.kind == CHANGED;
    let task = older.task.map(|id| id.to_string()).unwrap_or_default();
    let collides = match (is_field(older), is_field(newer)) {
        (true, true) => {
            return fields(older, newer).map(|names| format!("changed {names} of {task}"));
        }
        (true, false) => !is_link(newer),
        (false, true) => !is_link(older),
        (false, false) if is_link(older) && is_link(newer) => {
            older.detail["entry"] == newer.detail["entry"]
        }
        (false, false) => true,
    };
    collides.then(|| format!("{} {task}", newer.kind))
}

/// Names the fields that both changed, but for lists that both made grow.
fn fields(older: &Change, newer: &Change) -> Option<String> {
    let (older, newer) = (older.detail.as_object()?, newer.detail.as_object()?);
    let collides = |(name, step): &(&String, &Value)| {
        let other = newer.get(*name);
        other.is_some_and(|other| grown(step).is_none() || grown(other).is_none())
    };
    let names: Vec<&str> = older
        .iter()
        .filter(collides)
        .map(|(name, _)| name.as_str())
        .collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Refuses to bring back a key that another task has by now.
fn keys(transaction: &dyn Transaction, operation: &Operation, changes: &[Recorded]) -> Result<()> {
    for recorded in changes {
        let change = &recorded.change;
        let key = match change.kind.as_str() {
            DELETED => removed(change)?.task.key,
            CHANGED => change.detail["key"]["from"].as_str().map(str::to_string),
            _ => None,
        };
        let Some(key) = key else { continue };
        let holder = transaction.task_by_key(&key)?;
        if let Some(holder) = holder.filter(|holder| Some(*holder) != change.task) {
            let why = format!("{holder} has its key `{key}` by now");
            return Err(refused(operation, &why).fix(format!("cleo update {holder} --clear key")));
        }
    }
    Ok(())
}

/// Refuses what breaks a rule that always holds: a parent and dependencies that are there, no
/// circle, no deeper nesting than is allowed.
pub(super) fn refuse_broken(
    transaction: &dyn Transaction,
    operation: &Operation,
    undo: u64,
    touched: &[TaskId],
) -> Result<()> {
    let mut later = Later::than(transaction, operation.number, Some(undo));
    let mut there = Vec::new();
    for id in touched {
        if let Some(task) = transaction.task(*id)? {
            there.push(*id);
            for other in task.depends.iter().chain(&task.parent) {
                if transaction.status(*other)?.is_none() {
                    let why = format!("{id} needs {other}, which is gone");
                    return Err(broken(operation, later.last_on(&[*other])?, &why));
                }
            }
            let levels = depth(*id, |id| transaction.parent(id))? + height(transaction, *id)? - 1;
            if levels > DEPTH_MAX {
                let why = format!("{id} would be nested deeper than {DEPTH_MAX} levels");
                let around = around(transaction, *id)?;
                return Err(broken(operation, later.last_on(&around)?, &why));
            }
        }
    }
    let Some(way) = circle(there, |id| waits_for(transaction, id))? else {
        return Ok(());
    };
    let names: Vec<String> = way.iter().map(TaskId::to_string).collect();
    let why = format!(
        "tasks would wait for each other in a circle: {}",
        names.join(" → ")
    );
    Err(broken(operation, later.last_on(&way)?, &why))
}

/// Names a task with all above and below it.
fn around(transaction: &dyn Transaction, id: TaskId) -> Result<Vec<TaskId>> {
    let mut all: Vec<TaskId> = transaction
        .nodes(Some(id))?
        .iter()
        .map(|node| node.id)
        .collect();
    let mut next = Some(id);
    while let Some(id) = next.filter(|id| !all.contains(id)) {
        all.push(id);
        next = transaction.parent(id)?;
    }
    Ok(all)
}

fn broken(operation: &Operation, newer: Option<Recorded>, why: &str) -> Error {
    match newer {
        Some(newer) => conflict(operation, &newer, &format!("came between: {why}")),
        None => refused(operation, why).fix(format!("cleo log --operation {}", operation.number)),
    }
}

/// The error for an operation that a later one stands on.
pub(super) fn conflict(operation: &Operation, newer: &Recorded, what: &str) -> Error {
    let (number, command, by) = (newer.operation, &newer.command, &newer.by);
    let why = format!("operation {number} ({command}, by {by}) {what}");
    let task = newer.change.task;
    let error = refused(operation, &why).fix(format!("cleo undo {number}"));
    match task {
        Some(task) => error.or("see what happened to it", format!("cleo log --task {task}")),
        None => error,
    }
}

pub(super) fn refused(operation: &Operation, why: &str) -> Error {
    let message = format!("operation {} cannot be taken back: {why}", operation.number);
    Error::new(Code::UndoConflict, message)
}
