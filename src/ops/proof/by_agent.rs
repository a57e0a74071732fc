//! Completions by agents of a run: they are checked, and the run completes the task.

use super::check::Subject;
use crate::error::{Code, Error, Result};
use crate::ops::tasks::{
    Moved, check_holder, claim, move_task, refuse_cancelled, refuse_open_parts, take_or_renew,
};
use crate::ops::{Context, require, runs};
use crate::store::Transaction;
use crate::task::{Status, Task};

/// Checks a task that an agent of a run, or somebody under the claim of a run, wants to complete: the run completes it
/// once it has run the commands again and merged the work. Returns none for all others.
pub(super) fn refuse_or_defer(
    context: &mut Context,
    subject: &Subject,
    force: bool,
) -> Result<Option<Moved>> {
    let (id, caller) = (subject.id, &subject.caller);
    let claim = context.read(|transaction| transaction.claim(id))?;
    let claim = claim.filter(|claim| caller.epoch == Some(claim.epoch));
    let mut named = Vec::from_iter(claim.and_then(|claim| claim.holder));
    named.push(caller.name.clone());
    named.retain(|name| runs::is_run(name));
    named.extend(caller.run.clone());
    if named.is_empty() {
        return Ok(None);
    }
    let Some((run, is_under_way)) = runs::find_judge(&context.surroundings, &named, id)? else {
        return match &caller.run {
            Some(run) if runs::is_known(&context.workspace, run)? => {
                put_under_review(context, subject, force, run)
            }
            _ => Ok(None),
        };
    };
    let (why, fix) = match is_under_way {
        _ if force => (
            "no agent does so by force",
            format!("cleo verify output {id}"),
        ),
        false => ("it is not in progress", format!("cleo runs resume {run}")),
        true => {
            let moved = context.read(|transaction| {
                let (task, warnings) = check_held(transaction, subject, &run)?;
                let mut left = Moved::new(task, false);
                left.worktree = subject.workspace.worktree();
                if let Some(warnings) = warnings {
                    left.warnings = vec![format!("{run} completes {id} once its agent has ended")];
                    left.warnings.extend(warnings);
                }
                Ok(left)
            })?;
            return Ok(Some(moved.warn(context)));
        }
    };
    let message = format!("{run} completes {id} itself: {why}");
    Err(Error::new(Code::StatusRefused, message).fix(fix))
}

/// Puts a part that an agent of a run finished in a git worktree under review: the run completes it once its work is
/// merged and verified in the workspace. Returns none for work in the workspace itself.
fn put_under_review(
    context: &mut Context,
    subject: &Subject,
    force: bool,
    run: &str,
) -> Result<Option<Moved>> {
    let id = subject.id;
    let refuse = |why: &str, fix| {
        let message = format!("an agent of a run cannot complete {id} {why}");
        Err(Error::new(Code::StatusRefused, message).fix(fix))
    };
    let worktree = subject.workspace.worktree();
    if force {
        return refuse("by force", format!("cleo verify output {id}"));
    }
    if worktree.is_none() {
        context.read(|transaction| subject.caller.refuse_foreign(transaction, id))?;
        return Ok(None);
    }
    let show = format!("cleo show {id}");
    if subject.workspace.home_of_run().is_none() {
        return refuse("from a git worktree that it made itself", show);
    }
    if !context.read(|transaction| subject.caller.has_part(transaction, id))? {
        let why = format!("from its worktree: {id} is not below its own task");
        return refuse(&why, show);
    }
    let lease = context.surroundings.defaults.lease;
    let moved = context.write(|transaction| {
        let (task, warnings) = check_held(transaction, subject, run)?;
        let Some(warnings) = warnings else {
            return move_task(transaction, task, Status::Done, &subject.caller.now);
        };
        // An agent of the agent may hold it under a name of its own.
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

/// Checks a task that an agent of a run wants to complete. Returns it with warnings; none where it is done already.
fn check_held(
    transaction: &dyn Transaction,
    subject: &Subject,
    run: &str,
) -> Result<(Task, Option<Vec<String>>)> {
    let task = require(transaction, subject.id)?;
    refuse_cancelled(&task)?;
    check_holder(transaction, &task, &subject.caller, false)?;
    if task.status == Status::Done {
        return Ok((task, None));
    }
    // An agent of a run is not offered to force it, which it cannot.
    let refuse = |fault: Error| {
        Err(Error {
            alternatives: Vec::new(),
            ..fault
        })
    };
    let verdict = subject.evaluate(transaction, &task)?;
    verdict.faults.into_iter().try_for_each(refuse)?;
    refuse_open_parts(transaction, subject.id, Some(run)).or_else(refuse)?;
    Ok((task, Some(verdict.warnings)))
}
