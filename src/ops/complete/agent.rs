//! Completions by agents of a run: checked, and left to the run.

use super::Check;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::claims::{self, check_holder, take_or_renew};
use crate::ops::tasks::{Moved, move_task, refuse_cancelled, refuse_open_parts};
use crate::ops::{Context, require, runs};
use crate::task::Status;

/// Checks a task that a run completes itself, once it has run the commands again and merged the work: where an agent
/// of a run, or somebody under the claim of one, wants to complete it. Returns none for all others.
pub(super) fn leave_to_run(
    context: &mut Context,
    check: &Check,
    id: TaskId,
) -> Result<Option<Moved>> {
    let claim = context.read(|transaction| transaction.claim(id))?;
    let claim = claim.filter(|claim| check.caller.epoch == Some(claim.epoch));
    let others = claim.and_then(|claim| claim.holder).into_iter();
    let others = others.chain([check.caller.name.clone()]);
    let mut named = Vec::from_iter(others.filter(|name| runs::is_run(name)));
    named.extend(check.caller.run.clone());
    if named.is_empty() {
        return Ok(None);
    }
    let Some((run, is_under_way)) = runs::judge_of(&context.surroundings, &named, id)? else {
        return match &check.caller.run {
            Some(run) if runs::is_known(&context.workspace, run)? => {
                put_under_review(context, check, id, run)
            }
            _ => Ok(None),
        };
    };
    let refused = |why: &str, fix| {
        Err(Error::new(
            Code::StatusRefused,
            format!("{run} completes {id} itself: {why}"),
        )
        .fix(fix))
    };
    if check.force {
        return refused(
            "no agent does so by force",
            format!("cleo verify output {id}"),
        );
    }
    if !is_under_way {
        return refused("it is not under way", format!("cleo runs resume {run}"));
    }
    let mut moved = context.read(|transaction| {
        let task = require(transaction, id)?;
        refuse_cancelled(&task)?;
        check_holder(transaction, &task, &check.caller, false, "complete")?;
        let mut warnings = Vec::new();
        if task.status != Status::Done {
            let found = check.found(transaction, &task)?;
            found.faults.into_iter().try_for_each(refuse)?;
            refuse_open_parts(transaction, id, Some(&run)).or_else(refuse)?;
            warnings.push(format!("{run} completes {id} once its agent has ended"));
            warnings.extend(found.warnings);
        }
        Ok(Moved {
            task,
            changed: false,
            claim: None,
            worktree: check.workspace.worktree(),
            unblocked: Vec::new(),
            warnings,
        })
    })?;
    context.warn(&mut moved.warnings);
    Ok(Some(moved))
}

/// Puts a part that an agent of a run finished in a git worktree under review: what is only there may never be merged,
/// so that the run completes it once it holds in the workspace. Returns none for work in the workspace itself.
fn put_under_review(
    context: &mut Context,
    check: &Check,
    id: TaskId,
    run: &str,
) -> Result<Option<Moved>> {
    let refused = |why: String, fix| Err(Error::new(Code::StatusRefused, why).fix(fix));
    let worktree = check.workspace.worktree();
    match &worktree {
        _ if check.force => {
            let why = format!("an agent of a run cannot complete {id} by force");
            return refused(why, format!("cleo verify output {id}"));
        }
        None => return Ok(None),
        Some(_) if check.workspace.home_of_run().is_none() => {
            let why = format!(
                "an agent of a run cannot complete {id} from a git worktree that it made itself"
            );
            return refused(why, format!("cleo show {id}"));
        }
        Some(_) => {}
    }
    if !context.read(|transaction| check.caller.has_part(transaction, id))? {
        let why = format!(
            "an agent of a run cannot complete {id} from its worktree: {id} is not below its own task"
        );
        return refused(why, format!("cleo show {id}"));
    }
    let lease = context.surroundings.defaults.lease;
    let mut moved = context.write(|transaction| {
        let task = require(transaction, id)?;
        refuse_cancelled(&task)?;
        check_holder(transaction, &task, &check.caller, false, "complete")?;
        if task.status == Status::Done {
            return move_task(transaction, task, Status::Done, &check.caller.now);
        }
        let found = check.found(transaction, &task)?;
        found.faults.into_iter().try_for_each(refuse)?;
        refuse_open_parts(transaction, id, Some(run)).or_else(refuse)?;
        // A helper may hold it under a name of its own.
        claims::end(transaction, id, &check.caller)?;
        let mut caller = check.caller.clone();
        (caller.name, caller.epoch) = (run.to_string(), None);
        let (claim, _) = take_or_renew(transaction, &task, &caller, lease)?;
        let mut moved = move_task(transaction, task, Status::Review, &check.caller.now)?;
        moved.claim = Some(claim);
        moved.worktree = worktree;
        let then = format!("{id} is under review: {run} completes it once it is merged");
        moved.warnings = found.warnings;
        moved.warnings.push(then);
        Ok(moved)
    })?;
    context.warn(&mut moved.warnings);
    Ok(Some(moved))
}

/// Refuses a completion without the offer to force it, which an agent of a run cannot.
fn refuse(fault: Error) -> Result<()> {
    Err(Error {
        alternatives: Vec::new(),
        ..fault
    })
}
