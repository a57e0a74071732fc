//! Completions by agents of a run: checked, and left to the run.

use super::Check;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::claims::check_holder;
use crate::ops::tasks::{Moved, is_within, refuse_cancelled};
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
        if let Some(run) = &check.caller.run
            && runs::is_known(&context.workspace, run)?
        {
            refuse_unproven(context, check, id)?;
        }
        return Ok(None);
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
            if let Some(fault) = found.faults.into_iter().next() {
                return Err(fault);
            }
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

/// Refuses an agent of a run that completes a task of no run by force, or by what is only in its worktree. Parts of its
/// own it completes in the name of the run, which looks at them again.
fn refuse_unproven(context: &mut Context, check: &Check, id: TaskId) -> Result<()> {
    let own = context.surroundings.assignment.task;
    let is_part = match own {
        Some(own) if check.caller.run.as_ref() == Some(&check.caller.name) => {
            context.read(|transaction| is_within(transaction, id, own))?
        }
        _ => false,
    };
    let (why, fix) = match check.workspace.worktree() {
        _ if check.force => ("by force", format!("cleo verify output {id}")),
        Some(_) if !is_part => (
            "by what is in its worktree, but parts of its own task in the name of its run",
            format!("cleo show {id}"),
        ),
        _ => return Ok(()),
    };
    let message = format!("no agent of a run completes {id} {why}");
    Err(Error::new(Code::StatusRefused, message).fix(fix))
}
