//! Claiming the most urgent task that is ready.

use super::{Caller, Claimed, end, started, take};
use crate::claim::Lease;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::tasks::{choose, is_within, move_task, told};
use crate::ops::{Context, require};
use crate::phase::Counts;
use crate::store::Transaction;
use crate::task::Status;
use crate::task::graph::Conflict;

/// How many tasks that were passed over are named.
const PASSED_SHOWN: usize = 5;

/// Claims the most urgent ready task below `scope`, or of all, that touches no files of a task under
/// way, and starts it. Tasks whose lease is over are free again first.
pub fn claim_next(context: &mut Context, scope: Option<TaskId>, lease: Lease) -> Result<Claimed> {
    let caller = &Caller::unbound(context);
    // Whoever finds nothing need not wait for those who write.
    context.read(|transaction| {
        if let Some(scope) = scope {
            require(transaction, scope)?;
        }
        chosen(transaction, scope, caller).map(drop)
    })?;
    context.write(|transaction| {
        let freed = free_expired(transaction, scope, caller)?;
        let (id, passed) = chosen(transaction, scope, caller)?;
        let task = require(transaction, id)?;
        let last = transaction.claim(id)?;
        let claim = take(transaction, id, last.as_ref(), caller, lease, false)?;
        let free = |id: &TaskId| format!("the lease of {id} was over: it is free again");
        let others = freed.iter().filter(|freed| **freed != id);
        let warnings = others.map(free).chain(passed_over(&passed)).collect();
        started(transaction, task, claim, caller, warnings)
    })
}

/// Finds the task to claim, and what was passed over for it.
fn chosen(
    transaction: &dyn Transaction,
    scope: Option<TaskId>,
    caller: &Caller,
) -> Result<(TaskId, Vec<Conflict>)> {
    let choice = choose(transaction, scope, &caller.now)?;
    match (choice.task, choice.passed.first()) {
        (Some(task), _) => Ok((task.id, choice.passed)),
        (None, Some(first)) => Err(crowded(first, scope)),
        (None, None) => Err(nothing_ready(transaction, scope)?),
    }
}

fn passed_over(passed: &[Conflict]) -> impl Iterator<Item = String> {
    let first = passed.iter().take(PASSED_SHOWN);
    let more = passed.len().saturating_sub(PASSED_SHOWN);
    let more = (more > 0).then(|| format!("{more} more were passed over because of their files"));
    let passed = |conflict| format!("passed over: {}", told(conflict));
    first.map(passed).chain(more)
}

/// The error for a graph in which all that is ready touches files of tasks under way.
fn crowded(first: &Conflict, scope: Option<TaskId>) -> Error {
    let place = scope.map(|id| format!(" below {id}")).unwrap_or_default();
    let message = format!("nothing that is ready{place} can be taken: {}", told(first));
    let anyway = format!("cleo claim {}", first.task);
    Error::new(Code::NothingReady, message)
        .passing(true)
        .or("take it all the same", anyway)
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
