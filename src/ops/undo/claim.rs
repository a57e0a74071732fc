//! What becomes of a claim when the operation that took or ended it is taken back.

use super::conflict::refused;
use crate::claim::Claim;
use crate::error::{Error, Result};
use crate::ops::claims::{self, Caller};
use crate::store::{Change, Operation, Transaction};

/// Undoes what a change did to a claim; says whether it did anything. Without that, a task would be
/// active and nobody's, or pending and held.
pub(super) fn undo(
    transaction: &mut dyn Transaction,
    operation: &Operation,
    change: &Change,
    caller: &Caller,
) -> Result<bool> {
    let Some(task) = change.task else {
        return Ok(false);
    };
    let Some(claim) = transaction.claim(task)? else {
        return Ok(false);
    };
    match change.kind.as_str() {
        "claimed" => give_back(transaction, operation, change, &claim, caller),
        "released" | "expired" => hold_again(transaction, operation, change, &claim, caller),
        _ => Ok(false),
    }
}

/// Ends the claim that a change began, if it is held still, so that a task that goes back to
/// pending is free. Refuses when somebody has claimed the task since.
fn give_back(
    transaction: &mut dyn Transaction,
    operation: &Operation,
    change: &Change,
    claim: &Claim,
    caller: &Caller,
) -> Result<bool> {
    match &claim.holder {
        None => Ok(false),
        Some(_) if change.detail["epoch"] == claim.epoch => {
            claims::end(transaction, claim.task, caller)
        }
        Some(holder) => Err(held_by_now(operation, claim, holder)),
    }
}

/// Gives a task back to whoever held it before a change, until the same moment. Refuses when
/// somebody holds it by now.
fn hold_again(
    transaction: &mut dyn Transaction,
    operation: &Operation,
    change: &Change,
    claim: &Claim,
    caller: &Caller,
) -> Result<bool> {
    if let Some(holder) = &claim.holder {
        return Err(held_by_now(operation, claim, holder));
    }
    let text = |name: &str| change.detail[name].as_str().map(str::to_string);
    let (Some(holder), Some(expires)) = (text("holder"), text("expires")) else {
        return Ok(false);
    };
    // Under an epoch that somebody else has had since, that one could work on it too.
    let is_same = change.detail["epoch"] == claim.epoch;
    let again = Claim {
        task: claim.task,
        epoch: claim.epoch.saturating_add(u32::from(!is_same)),
        holder: Some(holder),
        since: caller.now.clone(),
        expires,
    };
    claims::hold(transaction, &again)?;
    Ok(true)
}

fn held_by_now(operation: &Operation, claim: &Claim, holder: &str) -> Error {
    let Claim { task, epoch, .. } = claim;
    let why = format!("{holder} holds {task} by now (epoch {epoch})");
    let release = format!("cleo release {task} --force");
    let error = refused(operation, &why).fix(format!("cleo show {task}"));
    error.or("take it from them", release)
}
