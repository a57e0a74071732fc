//! Claiming the most urgent task that is ready.

use super::{Caller, Claimed, end, started, take};
use crate::claim::Lease;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::tasks::{is_within, move_task};
use crate::ops::{Context, require};
use crate::phase::Counts;
use crate::store::Transaction;
use crate::task::Status;

/// Claims the most urgent ready task below `scope`, or of all, and starts it. Tasks whose lease is
/// over are free again first.
pub fn claim_next(context: &mut Context, scope: Option<TaskId>, lease: Lease) -> Result<Claimed> {
    let caller = &Caller::unbound(context);
    // Whoever finds nothing need not wait for those who write.
    context.read(|transaction| {
        if let Some(scope) = scope {
            require(transaction, scope)?;
        }
        let over = expired(transaction, scope, caller)?;
        match transaction.first_ready(scope)? {
            None if over.is_empty() => Err(nothing_ready(transaction, scope)?),
            _ => Ok(()),
        }
    })?;
    context.write(|transaction| {
        let freed = free_expired(transaction, scope, caller)?;
        let Some(id) = transaction.first_ready(scope)? else {
            return Err(nothing_ready(transaction, scope)?);
        };
        let task = require(transaction, id)?;
        let last = transaction.claim(id)?;
        let claim = take(transaction, id, last.as_ref(), caller, lease, false)?;
        let told = |id: &TaskId| format!("the lease of {id} was over: it is free again");
        let others = freed.iter().filter(|freed| **freed != id);
        let warnings = others.map(told).collect();
        started(transaction, task, claim, caller, warnings)
    })
}

/// Frees the tasks whose lease is over.
fn free_expired(
    transaction: &mut dyn Transaction,
    scope: Option<TaskId>,
    caller: &Caller,
) -> Result<Vec<TaskId>> {
    let over = expired(transaction, scope, caller)?;
    for id in &over {
        end(transaction, *id, caller)?;
        let task = require(transaction, *id)?;
        if task.status == Status::Active {
            move_task(transaction, task, Status::Pending, &caller.now)?;
        }
    }
    Ok(over)
}

/// Reads which tasks below `scope` are held although their lease is over.
fn expired(
    transaction: &dyn Transaction,
    scope: Option<TaskId>,
    caller: &Caller,
) -> Result<Vec<TaskId>> {
    let mut over = Vec::new();
    for claim in transaction.expired_claims(&caller.now)? {
        let is_in_scope = match scope {
            Some(scope) => is_within(transaction, claim.task, scope)?,
            None => true,
        };
        if is_in_scope {
            over.push(claim.task);
        }
    }
    Ok(over)
}

/// The error for a graph with nothing to do now; it says whether to come back later.
fn nothing_ready(transaction: &dyn Transaction, scope: Option<TaskId>) -> Result<Error> {
    let counts = transaction.counts(scope)?;
    let of = |counts: &Counts, wanted: &[Status]| -> u64 {
        wanted.iter().filter_map(|status| counts.get(status)).sum()
    };
    let work = [Status::Active, Status::Review];
    let waiting = [Status::Pending, Status::Blocked, Status::Paused];
    let (busy, open) = (of(&counts, &work), of(&counts, &waiting));
    // What is waited for may lie outside the scope.
    let outside = match scope {
        Some(_) if open > 0 => of(&transaction.counts(None)?, &work),
        _ => 0,
    };
    let place = scope.map(|id| format!(" below {id}")).unwrap_or_default();
    let epic = scope.map(|id| format!(" --epic {id}")).unwrap_or_default();
    let error = |why: String| {
        Error::new(
            Code::NothingReady,
            format!("nothing is ready{place}: {why}"),
        )
    };
    Ok(match (busy, open) {
        (0, 0) => error("everything is done or cancelled".to_string()).fix("cleo list"),
        (0, _) if outside == 0 => error(format!(
            "{open} open, and nobody works on what they wait for"
        ))
        .fix(format!("cleo orchestrator waves{epic}")),
        _ => error(format!("{} in work, {open} more open", busy.max(outside))).passing(true),
    })
}
