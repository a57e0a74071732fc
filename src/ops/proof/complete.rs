//! Completing a task, after its check.

use std::collections::BTreeSet;

use clap::Args;
use serde::Deserialize;

use super::by_agent::refuse_or_defer;
use super::check::{Subject, Verdict, check};
use crate::error::Result;
use crate::gate::{Criterion, Forced};
use crate::id::TaskId;
use crate::ops::tasks::delivered::{find_requests, is_delivered};
use crate::ops::tasks::{
    Moved, check_clock, check_holder, claim, find_unmerged, finish, has_branch, open_parts,
    refuse_cancelled, waiting_for,
};
use crate::ops::trust::{Trust, is_verified, mark_merged};
use crate::ops::{Context, require};
use crate::store::Transaction;
use crate::task::{Status, Task};

// A doc comment would become the help of the command.
#[derive(Args, Default, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[command(after_help = "\
Examples:
  cleo complete T3
  cleo complete T3 --force

A task that was spawned has to verify, and gates and criteria with commands have to pass. Any other
task is done by your word, unless the setting verify.required is `always`. Completing a task whose
dependencies are not done prints a warning.")]
pub(crate) struct Complete {
    /// The task
    #[serde(rename = "id")]
    pub(crate) task: TaskId,

    /// Complete the task although it does not verify, has open children or belongs to another
    /// holder (recorded in the log)
    #[arg(long)]
    pub(crate) force: bool,

    /// Epoch of your claim (or CLEO_EPOCH); fails if the claim was lost
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) epoch: Option<u32>,
}

impl From<TaskId> for Complete {
    fn from(task: TaskId) -> Complete {
        Complete {
            task,
            ..Complete::default()
        }
    }
}

/// Marks a task done and ends its claim. A task that was spawned must verify first; one that uses
/// gates, or has criteria with a command, needs them passed on the files as they are; one that
/// somebody else holds is refused. Force completes it anyway, which is recorded.
pub(crate) fn complete(context: &mut Context, request: Complete) -> Result<Moved> {
    let Complete {
        task: id,
        force,
        epoch,
    } = request;
    let mut subject = Subject::examine(context, id, epoch)?;
    if let Some(left) = refuse_or_defer(context, &subject, force)? {
        return Ok(left);
    }
    subject.examine_merge()?;
    let moved = context.write(|transaction| {
        let task = require(transaction, id)?;
        refuse_cancelled(&task)?;
        let taken = check_holder(transaction, &task, &subject.caller, force)?;
        check_clock(transaction, id, &subject.caller)?;
        let mut warnings = Vec::from_iter(taken);
        if task.status != Status::Done {
            let verdict = subject.evaluate(transaction, &task)?;
            warnings.extend(subject.record_completion(transaction, verdict, force)?);
        }
        let mut moved = finish(transaction, task, force, &subject.caller.now)?;
        moved.worktree = subject.workspace.worktree();
        claim::end(transaction, id, &subject.caller)?;
        moved.warnings.extend(warnings);
        Ok(moved)
    })?;
    Ok(moved.warn(context))
}

/// The task that was not completed, and why.
pub(crate) type Completion = std::result::Result<(), (TaskId, Verdict)>;

/// Notes that a task is completed, in the transaction that completes it.
pub(crate) type Record<'a> = dyn FnMut(&mut dyn Transaction) -> Result<()> + 'a;

/// Completes a task, the last, and before it the parts that its agent left under review, each under the epoch of a
/// claim: all in one transaction, or none. A task that is done already has to verify too where a claim was given for
/// it, or where it was never verified. Stale evidence that only the agent chose counts for a part, and for a task that
/// was verified in its worktree and is merged.
pub(crate) fn complete_with_parts(
    context: &mut Context,
    tasks: &[(TaskId, Option<u32>)],
    is_merged: bool,
    record: &mut Record<'_>,
) -> Result<Completion> {
    let examine = |(id, epoch): &(TaskId, Option<u32>)| Subject::examine(context, *id, *epoch);
    let subjects: Vec<Result<Subject>> = tasks.iter().map(examine).collect();
    context.write_if(|transaction| {
        let last = tasks.len().saturating_sub(1);
        for (at, subject) in subjects.into_iter().enumerate() {
            let done = subject.map_err(Verdict::from).and_then(|mut subject| {
                subject.counts_words = at < last || is_merged;
                subject.complete(transaction)
            });
            if let Err(verdict) = done {
                return Ok((Err((tasks[at].0, verdict)), false));
            }
        }
        record(transaction)?;
        Ok((Ok(()), true))
    })
}

impl Subject {
    fn complete(&self, transaction: &mut dyn Transaction) -> std::result::Result<(), Verdict> {
        let task = require(transaction, self.id)?;
        refuse_cancelled(&task)?;
        check_holder(transaction, &task, &self.caller, false)?;
        let mut earned = None;
        let is_verified =
            task.status == Status::Done && !is_unearned(transaction, &self.trust, self.id)?;
        // Under the claim of a run the work is verified even if the task is done.
        if !is_verified || self.caller.epoch.is_some() {
            let verdict = self.evaluate(transaction, &task)?;
            if !verdict.faults.is_empty() {
                return Err(verdict);
            }
            earned = Some(verdict).filter(|_| !is_verified);
        }
        // It is moved first, which may be refused: then nothing of it was written.
        finish(transaction, task, false, &self.caller.now)?;
        if let Some(verdict) = earned {
            self.record_completion(transaction, verdict, false)?;
        }
        claim::end(transaction, self.id, &self.caller)?;
        Ok(())
    }

    /// Records by what a task is completed, and returns warnings. Refuses a task with faults, unless `force`.
    fn record_completion(
        &self,
        transaction: &mut dyn Transaction,
        verdict: Verdict,
        force: bool,
    ) -> Result<Vec<String>> {
        let lines = verdict.faults.iter();
        let lines = lines.filter_map(|fault| fault.message.lines().next());
        let mut reasons: Vec<String> = lines.map(str::to_string).collect();
        let is_earned = reasons.is_empty();
        if let Some(first) = verdict.faults.into_iter().next().filter(|_| !force) {
            return Err(first);
        }
        if force {
            reasons.extend(open_parts(transaction, self.id)?);
        }
        let (at, by) = (self.caller.now.clone(), self.caller.name.clone());
        let mut warnings = verdict.warnings;
        if let Some((mut record, left)) = verdict.left.map(|left| *left) {
            record.forced = (!is_earned).then(|| format!("{at} {by}"));
            if is_earned {
                record.verified_at = Some(at.clone());
                record.output_digest = left.output_digest;
                // Without a key the task is done, too, and nothing shows it as verified.
                warnings.extend(self.trust.mark_spawn(&mut record));
            }
            transaction.put_spawn(&record)?;
        }
        let forced = reasons.iter();
        let forced = forced.map(|reason| format!("completed by force: {reason}"));
        warnings.extend(forced);
        let before = transaction.gates(self.id)?;
        let mut gates = before.clone();
        // A completion without force replaces an earlier one by force, which the log keeps.
        gates.forced = (!reasons.is_empty()).then_some(Forced { at, by, reasons });
        // The worktrees of the run are merged.
        if self.criteria.is_some() {
            mark_merged(self.trust.read_key().as_ref(), self.id, &mut gates);
        }
        if gates != before {
            transaction.put_gates(self.id, &gates)?;
        }
        Ok(warnings)
    }
}

pub(super) fn has_command(criterion: &str) -> bool {
    Criterion::read(criterion).command.is_some()
}

/// Returns whether only [`complete`] may close a task, because it has to be verified.
pub(crate) fn needs_proof(transaction: &dyn Transaction, task: &Task) -> Result<bool> {
    Ok(task.acceptance.iter().any(|line| has_command(line))
        || transaction.latest_spawn(task.id)?.is_some()
        || transaction.gates(task.id)?.has_gates())
}

/// Returns whether a task that is done was never verified: it was completed by force, or what its agent left was never
/// checked.
pub(crate) fn is_unearned(
    transaction: &dyn Transaction,
    trust: &Trust,
    task: TaskId,
) -> Result<bool> {
    let key = trust.read_key();
    let spawn = transaction.latest_spawn(task)?;
    let is_unverified = spawn.is_some_and(|spawn| !is_verified(key.as_ref(), &spawn));
    Ok(is_unverified || transaction.gates(task)?.forced.is_some())
}

/// Returns whether the workspace has output for the last prompt of a task.
pub(crate) fn has_earlier_work(context: &mut Context, id: TaskId) -> Result<bool> {
    let spawn = context.read(|transaction| transaction.latest_spawn_to_show(id))?;
    Ok(spawn.is_some_and(|spawn| is_delivered(&context.workspace, &spawn)))
}

/// Checks work for the last prompt of a task that verifies, or has to be merged only; none where an agent has to
/// work, also because something else was asked for since, and where somebody holds the task. `before` are the tasks
/// that are done first.
pub(crate) fn check_earlier_work(
    context: &mut Context,
    id: TaskId,
    before: &BTreeSet<TaskId>,
) -> Result<Option<Verdict>> {
    let key = Trust::new(&context.surroundings, &context.workspace).read_key();
    let (now, actor) = (context.now(), context.surroundings.actor.clone());
    let spawn = context.read(|transaction| {
        let task = require(transaction, id)?;
        let claim = transaction.claim(id)?;
        let is_held = claim.is_some_and(|it| it.live_holder(&now).is_some_and(|by| *by != actor));
        let is_open = matches!(task.status, Status::Pending | Status::Active) && !is_held;
        let waits = waiting_for(transaction, &task)?;
        let spawn = transaction.latest_spawn(id)?.filter(|_| is_open);
        if spawn.is_none() || !waits.iter().all(|need| before.contains(need)) {
            return Ok(None);
        }
        let asked = find_requests(transaction, id)?;
        let asks_for_more = asked.has_changes || asked.is_reopened;
        Ok(spawn
            .filter(|_| !asks_for_more)
            .map(|spawn| (spawn, asked.has_words)))
    })?;
    let Some((spawn, has_words)) = spawn else {
        return Ok(None);
    };
    let workspace = context.find_judged_workspace(id)?;
    let unmerged = find_unmerged(&workspace, &spawn)?;
    let is_here = is_delivered(&workspace, &spawn) && has_branch(&workspace, &spawn);
    if unmerged.is_none() && !is_here {
        return Ok(None);
    }
    let is_verified = is_verified(key.as_ref(), &spawn);
    let verdict = check(context, id, None, false)?;
    Ok(match unmerged {
        // Words for the next attempt ask for other work than what does not fit.
        Some(mut unmerged) if !has_words && (is_verified || verdict.is_stale()) => {
            unmerged.message += &format!("; `cleo spawn {id} --again` starts over");
            Some(unmerged.into())
        }
        Some(_) => None,
        None => Some(verdict).filter(Verdict::lacks_only_proof),
    })
}
