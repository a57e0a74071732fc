//! What becomes of a claim when the operation that took it is taken back.

use super::conflict::refused;
use crate::error::Result;
use crate::ops::claims::{self, Caller};
use crate::store::{Change, Operation, Transaction};

/// Ends the claim that a change began, if it is held still, so that a task that goes back to
/// pending is free; says whether it did. Refuses when somebody has claimed the task since.
pub(super) fn give_back(
    transaction: &mut dyn Transaction,
    operation: &Operation,
    change: &Change,
    caller: &Caller,
) -> Result<bool> {
    let Some(task) = change.task.filter(|_| change.kind == "claimed") else {
        return Ok(false);
    };
    let claim = transaction.claim(task)?;
    let Some((claim, holder)) = claim.and_then(|claim| Some((claim.clone(), claim.holder?))) else {
        return Ok(false);
    };
    if change.detail["epoch"] != claim.epoch {
        let why = format!("{holder} holds {task} by now (epoch {})", claim.epoch);
        let release = format!("cleo release {task} --force");
        let error = refused(operation, &why).fix(format!("cleo show {task}"));
        return Err(error.or("take it from them", release));
    }
    claims::end(transaction, task, caller)
}
