//! Taking back an operation: its changes are undone, newest first, as an operation of its own,
//! which can be taken back in turn. All of it or nothing.

mod by_hand;
mod claim;
mod conflict;
mod inverse;
mod phase;
mod session;

use serde::Serialize;

use super::Context;
use super::claims::Caller;
use super::log::{Entry, describe, entry, require_operation};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::store::{Change, Operation, OperationFilter, Recorded, Transaction};

/// How many operations are looked at at once, to find one that can be taken back.
const PAGE: u32 = 50;
/// How many changes an answer shows, and how many warnings it has of one kind.
const SHOWN: usize = 100;

/// What an undo did, or would do.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Undone {
    /// The operation that was taken back.
    pub(crate) operation: Entry,
    /// Number of the operation that did it; none when nothing was done.
    pub(crate) undo: Option<u64>,
    /// The first changes that it made.
    pub(crate) changes: Vec<Change>,
    /// How many there are.
    pub(crate) total: usize,
    /// True when nothing was done.
    pub(crate) dry_run: bool,
    /// What could not be taken back.
    #[serde(skip)]
    pub(crate) warnings: Vec<String>,
}

/// Takes back an operation: the one named, else the caller's latest that is not taken back yet and
/// is no undo itself.
pub(crate) fn undo(context: &mut Context, number: Option<u64>, dry_run: bool) -> Result<Undone> {
    let caller = Caller::unbound(context);
    let work = |transaction: &mut dyn Transaction| {
        let operation = match number {
            Some(number) => named(transaction, number)?,
            None => latest(transaction, &caller)?,
        };
        let mut warnings = Vec::new();
        let changes = transaction.changes_of(operation.number, u32::MAX)?;
        let own = take_back(transaction, &operation, &changes, &caller, &mut warnings)?;
        let mut made = transaction.changes_of(own, u32::MAX)?;
        let total = made.len();
        made.truncate(SHOWN);
        Ok(Undone {
            operation: entry(transaction, operation)?,
            undo: (!dry_run).then_some(own),
            changes: made.into_iter().map(|each| each.change).collect(),
            total,
            dry_run,
            warnings,
        })
    };
    match dry_run {
        true => context.rehearse(work).map_err(still_dry),
        false => context.write(work),
    }
}

/// Whoever wanted to look is told how to look.
fn still_dry(mut error: Error) -> Error {
    let undo = |fix: &String| fix.starts_with("cleo undo ");
    let look = error.fix.as_ref().filter(|fix| undo(fix));
    error.fix = look
        .map(|fix| format!("{fix} --dry-run"))
        .or(error.fix.take());
    error
}

/// What to do when nothing better is known.
const LOOK: &str = "cleo log";

/// Reads the operation that is to be taken back and refuses one that cannot be.
fn named(transaction: &dyn Transaction, number: u64) -> Result<Operation> {
    let operation = require_operation(transaction, number)?;
    if let Some(undo) = operation.undone_by {
        let message = format!("operation {number} is taken back already, by operation {undo}");
        return Err(Error::new(Code::NothingToUndo, message)
            .fix(format!("cleo log --operation {undo}"))
            .or("bring back what it did", format!("cleo undo {undo}")));
    }
    let changes = changes_of(transaction, &operation)?;
    match can_be_taken_back(&changes) {
        true => Ok(operation),
        false => Err(fixed(&operation, &changes)),
    }
}

/// Reads all changes of an operation. One without those that are damaged would be taken back in part.
fn changes_of(transaction: &dyn Transaction, operation: &Operation) -> Result<Vec<Recorded>> {
    let changes = transaction.changes_of(operation.number, u32::MAX)?;
    if changes.len() as u64 == operation.changes {
        return Ok(changes);
    }
    let number = operation.number;
    let message = format!(
        "operation {number} cannot be undone: a part of what it changed is damaged in the database"
    );
    Err(Error::new(Code::RowDamaged, message).fix("cleo doctor"))
}

fn can_be_taken_back(changes: &[Recorded]) -> bool {
    let mut changes = changes.iter();
    changes.any(|each| inverse::is_possible(&each.change))
}

/// Finds the operation that is taken back when none is named: the caller's latest. One that cannot
/// be taken back is refused, and what came before it is left to whoever names it.
fn latest(transaction: &dyn Transaction, caller: &Caller) -> Result<Operation> {
    let mut refusal: Option<Error> = None;
    let mut filter = OperationFilter {
        by: Some(caller.name.clone()),
        limit: Some(PAGE),
        ..OperationFilter::default()
    };
    loop {
        let (page, _) = transaction.operations(&filter)?;
        let Some(last) = page.last() else {
            return Err(refusal.unwrap_or_else(|| nothing_of(caller)));
        };
        filter.before = Some(last.number);
        for operation in page {
            if operation.undoes.is_some() || operation.undone_by.is_some() {
                continue;
            }
            let changes = changes_of(transaction, &operation)?;
            match (can_be_taken_back(&changes), refusal) {
                (true, None) => return Ok(operation),
                (true, Some(error)) => return Err(or_the_one_before(error, &operation)),
                (false, None) => refusal = Some(fixed(&operation, &changes)),
                (false, known) => refusal = known,
            }
        }
    }
}

/// Names the latest operation that can be taken back, beside the way back by hand if there is one.
fn or_the_one_before(error: Error, operation: &Operation) -> Error {
    let undo = format!("cleo undo {}", operation.number);
    match error.fix.as_deref() {
        Some(LOOK) | None => error.fix(undo),
        Some(_) => error.or("take back what you did before it", undo),
    }
}

/// The error for a caller who has done nothing that is not taken back yet.
fn nothing_of(caller: &Caller) -> Error {
    let message = format!(
        "{} has done nothing that can be taken back; what others did is taken back by its number",
        caller.name
    );
    Error::new(Code::NothingToUndo, message).fix(LOOK)
}

/// The error for an operation that has no inverse.
fn fixed(operation: &Operation, changes: &[Recorded]) -> Error {
    let what = changes.first().map(|first| describe(&first.change));
    let (number, what) = (operation.number, what.unwrap_or_default());
    let message = format!("operation {number} cannot be taken back: {what}");
    let by_hand = by_hand::way_back(changes);
    Error::new(Code::NothingToUndo, message).fix(by_hand.unwrap_or(LOOK.to_string()))
}

/// Undoes the changes of an operation and returns the number of the operation that does.
fn take_back(
    transaction: &mut dyn Transaction,
    operation: &Operation,
    changes: &[Recorded],
    caller: &Caller,
    warnings: &mut Vec<String>,
) -> Result<u64> {
    conflict::refuse(transaction, operation, changes, warnings)?;
    let undo = transaction.undoing(operation.number)?;
    for recorded in changes.iter().rev() {
        if inverse::is_possible(&recorded.change) {
            inverse::apply(transaction, &recorded.change, &caller.now)?;
        } else if !claim::undo(transaction, operation, &recorded.change, caller)?
            && !session::goes_along(&recorded.change)
            && warnings.len() < SHOWN
        {
            let what = by_hand::told(&recorded.change);
            warnings.push(format!("this cannot be taken back and stays: {what}"));
        }
    }
    session::restore(transaction, operation, changes)?;
    phase::restore(transaction, operation, undo, changes, warnings)?;
    let mut touched: Vec<TaskId> = changes.iter().filter_map(|each| each.change.task).collect();
    touched.sort();
    touched.dedup();
    conflict::refuse_broken(transaction, operation, undo, &touched)?;
    Ok(undo)
}
