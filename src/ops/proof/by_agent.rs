//! Completions by agents of a run: checked, and left to the run.

use super::check::Subject;
use crate::error::{Code, Error, Result};
use crate::ops::tasks::{
    Moved, check_holder, claim, move_task, refuse_cancelled, refuse_open_parts, take_or_renew,
};
use crate::ops::{Context, require, runs};
use crate::store::Transaction;
use crate::task::{Status, Task};

/// Checks a task that a run completes itself, once it has run the commands again and merged the work: where an agent
/// of a run, or somebody under the claim of one, wants to complete it. Returns none for all others.
pub(super) fn leave_to_run(
    context: &mut Context,
    subject: &Subject,
    force: bool,
) -> Result<Option<Moved>> {
    let id = subject.id;
    let claim = context.read(|transaction| transaction.claim(id))?;
    let claim = claim.filter(|claim| subject.caller.epoch == Some(claim.epoch));
    let others = claim.and_then(|claim| claim.holder).into_iter();
    let others = others.chain([subject.caller.name.clone()]);
    let mut named = Vec::from_iter(others.filter(|name| runs::is_run(name)));
    named.extend(subject.caller.run.clone());
    if named.is_empty() {
        return Ok(None);
    }
    let Some((run, is_under_way)) = runs::find_judge(&context.surroundings, &named, id)? else {
        return match &subject.caller.run {
            Some(run) if runs::is_known(&context.workspace, run)? => {
                put_under_review(context, subject, force, run)
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
    if force {
        return refused(
            "no agent does so by force",
            format!("cleo verify output {id}"),
        );
    }
    if !is_under_way {
        return refused("it is not under way", format!("cleo runs resume {run}"));
    }
    let moved = context.read(|transaction| {
        let (task, warnings) = check_held(transaction, subject, &run)?;
        let mut left = Moved::new(task, false);
        left.worktree = subject.workspace.worktree();
        if let Some(warnings) = warnings {
            let later = format!("{run} completes {id} once its agent has ended");
            left.warnings = [later].into_iter().chain(warnings).collect();
        }
        Ok(left)
    })?;
    Ok(Some(moved.warn(context)))
}

/// Puts a part that an agent of a run finished in a git worktree under review: what is only there may never be merged,
/// so that the run completes it once it holds in the workspace. Returns none for work in the workspace itself.
fn put_under_review(
    context: &mut Context,
    subject: &Subject,
    force: bool,
    run: &str,
) -> Result<Option<Moved>> {
    let id = subject.id;
    let refused = |why: String, fix| Err(Error::new(Code::StatusRefused, why).fix(fix));
    let worktree = subject.workspace.worktree();
    match &worktree {
        _ if force => {
            let why = format!("an agent of a run cannot complete {id} by force");
            return refused(why, format!("cleo verify output {id}"));
        }
        None => return Ok(None),
        Some(_) if subject.workspace.home_of_run().is_none() => {
            let why = format!(
                "an agent of a run cannot complete {id} from a git worktree that it made itself"
            );
            return refused(why, format!("cleo show {id}"));
        }
        Some(_) => {}
    }
    if !context.read(|transaction| subject.caller.has_part(transaction, id))? {
        let why = format!(
            "an agent of a run cannot complete {id} from its worktree: {id} is not below its own task"
        );
        return refused(why, format!("cleo show {id}"));
    }
    let lease = context.surroundings.defaults.lease;
    let moved = context.write(|transaction| {
        let (task, warnings) = check_held(transaction, subject, run)?;
        let Some(warnings) = warnings else {
            return move_task(transaction, task, Status::Done, &subject.caller.now);
        };
        // A helper may hold it under a name of its own.
        claim::end(transaction, id, &subject.caller)?;
        let mut caller = subject.caller.clone();
        (caller.name, caller.epoch) = (run.to_string(), None);
        let (claim, _) = take_or_renew(transaction, &task, &caller, lease)?;
        let mut moved = move_task(transaction, task, Status::Review, &subject.caller.now)?;
        moved.claim = Some(claim);
        moved.worktree = worktree;
        let then = format!("{id} is under review: {run} completes it once it is merged");
        moved.warnings = warnings;
        moved.warnings.push(then);
        Ok(moved)
    })?;
    Ok(Some(moved.warn(context)))
}

/// Checks a task that an agent of a run wants to complete. Returns it with what is to be told of the check; none where it
/// is done already.
fn check_held(
    transaction: &dyn Transaction,
    subject: &Subject,
    run: &str,
) -> Result<(Task, Option<Vec<String>>)> {
    let task = require(transaction, subject.id)?;
    refuse_cancelled(&task)?;
    check_holder(transaction, &task, &subject.caller, false, "complete")?;
    if task.status == Status::Done {
        return Ok((task, None));
    }
    let verdict = subject.judge(transaction, &task)?;
    verdict.faults.into_iter().try_for_each(refuse)?;
    refuse_open_parts(transaction, subject.id, Some(run)).or_else(refuse)?;
    Ok((task, Some(verdict.warnings)))
}

/// Refuses a completion without the offer to force it, which an agent of a run cannot.
fn refuse(fault: Error) -> Result<()> {
    Err(Error {
        alternatives: Vec::new(),
        ..fault
    })
}
