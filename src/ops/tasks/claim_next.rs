//! `claim --next`: the most urgent task that is ready.

use super::claim::{Claiming, claim, end, put_claim, start_work};
use super::claim_group::claim_in_group;
use super::fence::Caller;
use super::run_agents::refuse_task_of_run;
use super::{
    Moved, choose, describe_conflict, find_expired, is_in_scope, move_task, not_ready, open_parts,
};
use crate::claim::Lease;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::runs::liveness;
use crate::ops::{Context, require};
use crate::store::{Filter, Transaction};
use crate::task::graph::Conflict;
use crate::task::{Status, Task};

/// Maximum number of skipped tasks that are named.
const PASSED_SHOWN: usize = 5;
/// Maximum number of claims that are read.
const RUNNING_MAX: u32 = 1_000;
/// Statuses of tasks in progress.
const WORK: [Status; 2] = [Status::Active, Status::Review];

/// Claims the task of a request, or the most urgent one that is ready.
pub(crate) fn claim_one_or_next(context: &mut Context, request: Claiming) -> Result<Moved> {
    let lease = request.lease.unwrap_or(context.surroundings.defaults.lease);
    let refuse = |field: &str, what: &str| {
        let message = format!("{field} has no meaning for {what}");
        Err(Error::new(Code::InputInvalid, message).in_field(field))
    };
    let claimed = match request.task {
        Some(_) if request.epic.is_some() => return refuse("epic", "a task that is named"),
        None if request.force => return refuse("force", "the next task"),
        Some(task) => claim(context, task, lease, request.force)?,
        None if request.epic.is_none()
            && let Some(claimed) = claim_in_group(context, lease)? =>
        {
            return Ok(claimed);
        }
        None => claim_next(context, request.epic, lease)?,
    };
    claimed.warn_of_delivered(context)
}

/// Claims the most urgent ready task below `scope`, or of all, that touches no files of active tasks and that no other
/// agent is assigned to, and starts it. Expired claims end first.
pub(crate) fn claim_next(
    context: &mut Context,
    scope: Option<TaskId>,
    lease: Lease,
) -> Result<Moved> {
    let caller = &Caller::without_task(context);
    // Fail without waiting for the write lock.
    let found = context.read(|transaction| {
        if let Some(scope) = scope {
            require(transaction, scope)?;
        }
        choose_or_explain(transaction, scope, caller).map(|(id, _)| id)
    });
    match found {
        Ok(id) => refuse_task_of_run(context, id)?,
        Err(error) => return Err(mention_dead_holders(context, error, caller)?),
    }
    context.write(|transaction| {
        let freed = free_expired(transaction, scope, caller)?;
        let (id, passed) = choose_or_explain(transaction, scope, caller)?;
        let task = require(transaction, id)?;
        let last = transaction.claim(id)?;
        let claim = put_claim(transaction, id, last.as_ref(), caller, lease, false)?;
        let free = |id: &TaskId| format!("the lease of {id} was over: it is free again");
        let others = freed.iter().filter(|freed| **freed != id);
        let more = passed.len().saturating_sub(PASSED_SHOWN);
        let more =
            (more > 0).then(|| format!("{more} more were passed over because of their files"));
        let skipped = passed.iter().take(PASSED_SHOWN);
        let skipped = skipped.map(|it| format!("skipped: {}", describe_conflict(it)));
        let warnings = others.map(free).chain(skipped).chain(more).collect();
        start_work(transaction, task, claim, caller, warnings)
    })
}

/// Adds to a retryable error the run that holds tasks although its process ended, if there is one.
fn mention_dead_holders(context: &mut Context, error: Error, caller: &Caller) -> Result<Error> {
    if !error.passing {
        return Ok(error);
    }
    let held = context.read(|it| it.running_claims(&caller.now, RUNNING_MAX))?;
    let holders = held.iter().filter_map(|claim| claim.holder.as_deref());
    liveness::add_resume_hint(&context.surroundings, &context.workspace, holders, error)
}

fn choose_or_explain(
    transaction: &dyn Transaction,
    scope: Option<TaskId>,
    caller: &Caller,
) -> Result<(TaskId, Vec<Conflict>)> {
    let choice = choose(transaction, scope, Some(&caller.name), &caller.now)?;
    match (choice.task, choice.passed.first(), choice.reserved) {
        (Some(task), ..) => Ok((task.task.id, choice.passed)),
        (None, Some(first), _) => Err(explain_conflict(transaction, first, scope, caller)?),
        (None, None, Some(id)) => {
            let message = format!(
                "nothing is ready for {}: {id} is assigned to another agent",
                caller.name
            );
            Err(Error::new(Code::NothingReady, message)
                .or("take it anyway", format!("cleo claim {id}")))
        }
        (None, None, None) => Err(explain_nothing_ready(
            transaction,
            scope,
            &caller.name,
            &caller.now,
        )?),
    }
}

/// Makes the error for ready tasks that all touch files of active tasks. It is retryable where somebody works on these.
fn explain_conflict(
    transaction: &dyn Transaction,
    first: &Conflict,
    scope: Option<TaskId>,
    caller: &Caller,
) -> Result<Error> {
    let place = scope.map(|id| format!(" below {id}")).unwrap_or_default();
    let message = format!(
        "nothing that is ready{place} can be taken: {}",
        describe_conflict(first)
    );
    let error = Error::new(Code::NothingReady, message);
    let anyway = format!("cleo claim {}", first.task);
    let claim = transaction.claim(first.conflicts_with)?;
    let holder = claim
        .as_ref()
        .and_then(|claim| claim.live_holder(&caller.now));
    Ok(match holder.is_none() {
        true => error.fix(anyway),
        false => error.passing(true).or("take it anyway", anyway),
    })
}

fn free_expired(
    transaction: &mut dyn Transaction,
    scope: Option<TaskId>,
    caller: &Caller,
) -> Result<Vec<TaskId>> {
    let over = find_expired(transaction, scope, &caller.now)?.into_iter();
    let over: Vec<TaskId> = over.map(|claim| claim.task).collect();
    for id in &over {
        end(transaction, *id, caller)?;
        for task in transaction.readable(&[*id])? {
            if task.status == Status::Active {
                move_task(transaction, task, Status::Pending, &caller.now)?;
            }
        }
    }
    Ok(over)
}

/// Makes the error for a graph without a ready task. It is retryable where somebody holds a task at `now` (RFC 3339 in
/// UTC). Several workers may share `name`, so tasks under that name count too.
pub(crate) fn explain_nothing_ready(
    transaction: &dyn Transaction,
    scope: Option<TaskId>,
    name: &str,
    now: &str,
) -> Result<Error> {
    let counts = transaction.counts(scope)?;
    let of = |wanted: &[Status]| -> u64 {
        let found = wanted.iter().filter_map(|status| counts.get(status));
        found.sum()
    };
    let open = of(&[Status::Pending, Status::Blocked, Status::Paused]);
    // Dependencies may be outside the scope.
    let (held, free) = list_work_in_progress(transaction, scope.filter(|_| open == 0), now)?;
    let epic = scope.map(|id| format!(" --epic {id}")).unwrap_or_default();
    let place = scope.map(|id| format!(" below {id}")).unwrap_or_default();
    let error = |why: String| error!(NothingReady, "nothing is ready{place}: {why}");
    if let Some((first, _)) = held.first() {
        let n_at_work = held.len() + free.len();
        let error = error(format!("{n_at_work} in work, {open} more open")).passing(true);
        return Ok(match held.iter().all(|(_, holder)| holder == name) {
            true => error.or("end it, if it is yours", format!("cleo complete {first}")),
            false => error,
        });
    }
    for task in &free {
        if let Some(fix) = suggest_continuation(transaction, task)? {
            let (id, status) = (task.id, task.status);
            let why = format!("{id} is {status} and not claimed, {open} more open");
            return Ok(error(why).fix(fix));
        }
    }
    let is_empty = counts.values().all(|count| *count == 0);
    Ok(match (scope, open + of(&WORK)) {
        (Some(scope), 0) if is_empty => {
            error("it has no parts".to_string()).fix(format!("cleo show {scope}"))
        }
        (None, 0) if is_empty => {
            error("there are no tasks".to_string()).or("see how to add one", "cleo add --help")
        }
        (_, 0) => error("everything is done or cancelled".to_string()).fix("cleo list --all"),
        (_, open) => error(format!(
            "{open} open, and what they wait for is not in progress"
        ))
        .fix(format!("cleo orchestrator waves{epic}")),
    })
}

/// Returns the command that continues a free task; none when it would be refused.
fn suggest_continuation(transaction: &dyn Transaction, task: &Task) -> Result<Option<String>> {
    let id = task.id;
    if open_parts(transaction, id)?.is_some() {
        return Ok(None);
    }
    if task.status == Status::Review {
        return Ok(Some(format!("cleo complete {id}")));
    }
    let can_begin = not_ready(transaction, task)?.is_none();
    Ok(can_begin.then(|| format!("cleo claim {id}")))
}

/// A task and who holds it.
type Held = (TaskId, String);

/// Reads the tasks in work below a scope: those that somebody holds, with who, and the others.
fn list_work_in_progress(
    transaction: &dyn Transaction,
    scope: Option<TaskId>,
    now: &str,
) -> Result<(Vec<Held>, Vec<Task>)> {
    let filter = Filter {
        statuses: WORK.to_vec(),
        ..Filter::default()
    };
    let (mut held, mut free) = (Vec::new(), Vec::new());
    for task in transaction.list(&filter)?.tasks {
        if scope == Some(task.id) || !is_in_scope(transaction, task.id, scope)? {
            continue;
        }
        let claim = transaction.claim(task.id)?;
        match claim.as_ref().and_then(|claim| claim.live_holder(now)) {
            Some(holder) => held.push((task.id, holder.to_string())),
            None => free.push(task),
        }
    }
    Ok((held, free))
}
