//! Claims: exactly one holder works on a task, until it releases it or its lease expires.

use clap::Args;
use serde::Deserialize;
use serde_json::json;

#[cfg(test)]
pub(crate) use super::claim_next::claim_next;
pub(crate) use super::claim_next::{claim_one_or_next, explain_nothing_ready};
use super::fence::{
    Caller, check_epoch, check_holder, holder_error, refuse_clock, refuse_held, refuse_lost_claim,
};
use super::run_agents::{refuse_other, refuse_task_of_run};
use super::{Moved, describe_conflict, is_split, move_task, not_ready, select_independent};
use crate::claim::{Claim, Lease};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::runs::is_run;
use crate::ops::{Context, require};
use crate::store::{Change, Transaction};
use crate::task::{Status, Task};

#[derive(Args, Default, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[command(after_help = "\
Examples:
  cleo claim T3
  cleo claim --next --epic T1 --lease 30m
  cleo claim --next --json | jq -r '.result.claim | [.task, .epoch] | @tsv'

A claim returns an epoch. Pass it to complete, verify, manifest append, heartbeat and release with
--epoch or CLEO_EPOCH: they fail (exit 35) once another agent took over. Exit 35: the task is
claimed. Exit 4 with --next: nothing is ready; if `retryable` is true, retry later.")]
pub(crate) struct Claiming {
    /// The task
    #[arg(required_unless_present = "next", conflicts_with = "next")]
    #[serde(rename = "id")]
    pub(super) task: Option<TaskId>,

    /// Claim the most urgent ready task that shares no files with tasks in progress and is assigned to no other agent
    #[arg(long)]
    #[serde(skip)]
    next: bool,

    /// Only tasks below this one, at any depth (with --next)
    #[arg(long, value_name = "TASK", requires = "next", conflicts_with = "task")]
    pub(super) epic: Option<TaskId>,

    #[arg(long, value_name = "DURATION", help = Lease::HELP)]
    pub(super) lease: Option<Lease>,

    /// Claim the task although it waits for others (recorded in the log)
    #[arg(long, conflicts_with = "next")]
    pub(super) force: bool,
}

#[derive(Args, Default, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[command(after_help = "\
Examples:
  cleo heartbeat T3
  cleo heartbeat T3 --epoch 2 --lease 30m")]
pub(crate) struct Heartbeat {
    /// The task
    #[serde(rename = "id")]
    task: TaskId,

    #[arg(long, value_name = "DURATION", help = Lease::HELP)]
    lease: Option<Lease>,

    /// Epoch of your claim (or CLEO_EPOCH); fails if the claim was lost
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    epoch: Option<u32>,

    /// Extend the lease although another holder has the task (recorded in the log)
    #[arg(long)]
    force: bool,
}

#[derive(Args, Default, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[command(after_help = "\
Examples:
  cleo release T3
  cleo release T3 --epoch 2
  cleo release T3 --force                  take it from its holder")]
pub(crate) struct Release {
    /// The task
    #[serde(rename = "id")]
    task: TaskId,

    /// Epoch of your claim (or CLEO_EPOCH); fails if the claim was lost
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    epoch: Option<u32>,

    /// Release the claim of another holder (recorded in the log)
    #[arg(long)]
    force: bool,
}

pub(crate) fn extend_claim(context: &mut Context, request: Heartbeat) -> Result<Moved> {
    let lease = request.lease.unwrap_or(context.surroundings.defaults.lease);
    let extended = heartbeat(context, request.task, lease, request.epoch, request.force)?;
    Ok(extended.warn(context))
}

pub(crate) fn release_task(context: &mut Context, request: Release) -> Result<Moved> {
    Ok(release(context, request.task, request.epoch, request.force)?.warn(context))
}

/// Claims a free task and starts it. A task that waits for others is refused unless
/// `force`, which is recorded.
pub(crate) fn claim(context: &mut Context, id: TaskId, lease: Lease, force: bool) -> Result<Moved> {
    let caller = Caller::without_task(context);
    refuse_task_of_run(context, id)?;
    // Fail without waiting for the write lock.
    context.read(|transaction| require_claimable(transaction, id, &caller, force).map(drop))?;
    context.write(|transaction| {
        let (task, last, warnings) = require_claimable(transaction, id, &caller, force)?;
        let forced = !warnings.is_empty();
        let claim = put_claim(transaction, id, last.as_ref(), &caller, lease, forced)?;
        start_work(transaction, task, claim, &caller, warnings)
    })
}

/// Returns a function that claims a task which is not claimed, is ready, and which touches no files of a task in
/// progress.
pub(crate) fn claim_apart(
    context: &Context,
    lease: Lease,
) -> impl Fn(&mut dyn Transaction, TaskId) -> Result<Claim> + use<> {
    let caller = Caller::without_task(context);
    move |transaction, id| claim_one(transaction, id, &caller, lease)
}

fn claim_one(
    transaction: &mut dyn Transaction,
    id: TaskId,
    caller: &Caller,
    lease: Lease,
) -> Result<Claim> {
    let (task, last, _) = require_claimable(transaction, id, caller, false)?;
    if !task.files.is_empty() {
        // A task that is active although its lease expired is not in its own way.
        let beside = select_independent(transaction, &[id], 1, &caller.now)?;
        let conflict = beside.conflicts.first();
        if let Some(conflict) = conflict.filter(|one| one.conflicts_with != id) {
            return Err(Error::new(Code::NotReady, describe_conflict(conflict)).passing(true));
        }
    }
    let claim = put_claim(transaction, id, last.as_ref(), caller, lease, false)?;
    move_task(transaction, task, Status::Active, &caller.now)?;
    Ok(claim)
}

fn require_claimable(
    transaction: &dyn Transaction,
    id: TaskId,
    caller: &Caller,
    force: bool,
) -> Result<(Task, Option<Claim>, Vec<String>)> {
    let task = require(transaction, id)?;
    let last = transaction.claim(id)?;
    refuse_held(last.as_ref(), caller)?;
    if task.is_closed() {
        let message = format!("{id} is {} and cannot be claimed", task.status);
        return Err(Error::new(Code::StatusRefused, message).fix(format!("cleo reopen {id}")));
    }
    let warnings = match not_ready(transaction, &task)? {
        Some(_) if is_split(transaction, &task, &caller.name)? => Vec::new(),
        Some(error) if !force => return Err(error),
        Some(error) => vec![format!("claimed by force: {}", error.message)],
        None => Vec::new(),
    };
    Ok((task, last, warnings))
}

pub(super) fn start_work(
    transaction: &mut dyn Transaction,
    task: Task,
    claim: Claim,
    caller: &Caller,
    warnings: Vec<String>,
) -> Result<Moved> {
    let mut moved = move_task(transaction, task, Status::Active, &caller.now)?;
    (moved.changed, moved.claim, moved.warnings) = (true, Some(claim), warnings);
    Ok(moved)
}

/// Reclaims a task that was completed without proof, for the run that had it worked on.
pub(crate) fn take_back(context: &mut Context, id: TaskId, lease: Lease) -> Result<Claim> {
    let caller = Caller::without_task(context);
    context.write(|transaction| {
        let task = require(transaction, id)?;
        let (claim, _) = take_or_renew(transaction, &task, &caller, lease)?;
        move_task(transaction, task, Status::Active, &caller.now)?;
        Ok(claim)
    })
}

pub(super) fn put_claim(
    transaction: &mut dyn Transaction,
    task: TaskId,
    last: Option<&Claim>,
    caller: &Caller,
    lease: Lease,
    forced: bool,
) -> Result<Claim> {
    caller.refuse_replaced(transaction, task)?;
    if let Some(last) = last.filter(|last| last.is_expired(&caller.now)) {
        record_claim(transaction, "expired", last, false)?;
    }
    let claim = Claim::after(last, task, &caller.name, caller.at, lease)?;
    transaction.put_claim(&claim)?;
    record_claim(transaction, "claimed", &claim, forced)?;
    Ok(claim)
}

/// Claims a task for its start, or renews the claim that the caller holds; returns whether it is new.
pub(in crate::ops) fn take_or_renew(
    transaction: &mut dyn Transaction,
    task: &Task,
    caller: &Caller,
    lease: Lease,
) -> Result<(Claim, bool)> {
    check_epoch(transaction, task, caller)?;
    refuse_other(transaction, task.id, caller)?;
    let last = transaction.claim(task.id)?;
    let own = last.as_ref().filter(|last| {
        // An epoch that was checked renews a lease that is over, too.
        let held = last.holder.as_deref().filter(|_| caller.epoch.is_some());
        let held = held.or(last.live_holder(&caller.now));
        held.is_some_and(|holder| caller.works_under(holder))
    });
    if let Some(own) = own {
        return Ok((renew(transaction, own, caller, lease)?, false));
    }
    refuse_held(last.as_ref(), caller)?;
    let claim = put_claim(transaction, task.id, last.as_ref(), caller, lease, false)?;
    Ok((claim, true))
}

fn renew(
    transaction: &mut dyn Transaction,
    claim: &Claim,
    caller: &Caller,
    lease: Lease,
) -> Result<Claim> {
    refuse_clock(claim, caller)?;
    let claim = claim.extend(caller.at, lease);
    transaction.put_claim(&claim)?;
    Ok(claim)
}

/// Extends the lease of a claim; that of somebody else only by `force`, which is recorded.
pub(crate) fn heartbeat(
    context: &mut Context,
    id: TaskId,
    lease: Lease,
    epoch: Option<u32>,
    force: bool,
) -> Result<Moved> {
    let caller = Caller::for_task(context, id, epoch);
    context.write(|transaction| {
        let task = require(transaction, id)?;
        check_epoch(transaction, &task, &caller)?;
        refuse_other(transaction, id, &caller)?;
        let claim = transaction.claim(id)?;
        let Some(claim) = claim.filter(|claim| claim.holder.is_some()) else {
            return Err(refuse_lost_claim(&task, None, &caller));
        };
        let is_own = caller.works_under(claim.holder.as_deref().unwrap_or_default());
        if !is_own && !force {
            return Err(holder_error(&claim, &caller));
        }
        let until = claim.expires.clone();
        let claim = renew(transaction, &claim, &caller, lease)?;
        let changed = claim.expires != until;
        if changed && !is_own {
            record_claim(transaction, "extended", &claim, true)?;
        }
        let as_before = format!("{id} is held until {until} as before: a lease is never shortened");
        let mut extended = Moved::new(task, changed);
        extended.claim = Some(claim);
        extended.warnings.extend((!changed).then_some(as_before));
        Ok(extended)
    })
}

/// Releases a task, which becomes pending if it was active or a run had it under review. The claim of somebody else is
/// released only by `force`, which is recorded.
pub(crate) fn release(
    context: &mut Context,
    id: TaskId,
    epoch: Option<u32>,
    force: bool,
) -> Result<Moved> {
    let caller = Caller::for_task(context, id, epoch);
    context.write(|transaction| {
        let task = require(transaction, id)?;
        let forced = check_holder(transaction, &task, &caller, force)?;
        let holder = end_undone(transaction, id, &caller)?;
        let is_of_run = holder.as_deref().is_some_and(is_run);
        let is_begun = task.status == Status::Active || is_of_run && task.status == Status::Review;
        let mut released = match holder.is_some() && is_begun {
            true => move_task(transaction, task, Status::Pending, &caller.now)?,
            false => Moved::new(task, holder.is_some()),
        };
        released.claim = transaction.claim(id)?;
        released.warnings.extend(forced);
        if !released.changed {
            released.warnings.push(format!("{id} is not claimed"));
        }
        Ok(released)
    })
}

/// Ends the claim of a task, if it is held, and records how.
pub(in crate::ops) fn end(
    transaction: &mut dyn Transaction,
    task: TaskId,
    caller: &Caller,
) -> Result<()> {
    let claim = transaction.claim(task)?;
    let Some(claim) = claim.filter(|claim| claim.holder.is_some()) else {
        return Ok(());
    };
    let holder = claim.holder.as_deref().unwrap_or_default();
    let is_own = caller.works_under(holder);
    let kind = match claim.is_expired(&caller.now) && !is_own {
        true => "expired",
        false => "released",
    };
    transaction.put_claim(&claim.release(&caller.now))?;
    record_claim(transaction, kind, &claim, kind == "released" && !is_own)
}

/// Ends the claim of an agent of the caller on a task that gets another prompt, for another agent.
pub(in crate::ops) fn replace_agent(
    transaction: &mut dyn Transaction,
    task: TaskId,
    caller: &Caller,
) -> Result<()> {
    let holder = transaction.claim(task)?.and_then(|claim| claim.holder);
    match holder.is_some_and(|holder| caller.leads(&holder)) {
        true => end(transaction, task, caller),
        false => Ok(()),
    }
}

/// Ends the claim of a task that is not done, as [`end`] does, and returns its holder. Evidence from worktrees of a run
/// that held it is dropped, unless it cannot be read.
pub(super) fn end_undone(
    transaction: &mut dyn Transaction,
    task: TaskId,
    caller: &Caller,
) -> Result<Option<String>> {
    let holder = transaction.claim(task)?.and_then(|claim| claim.holder);
    if holder.as_deref().is_some_and(is_run)
        && let Some(mut gates) = transaction.gates_of(&[task])?.remove(&task)
    {
        gates.forget_worktrees();
        transaction.put_gates(task, &gates)?;
    }
    end(transaction, task, caller)?;
    Ok(holder)
}

fn record_claim(
    transaction: &mut dyn Transaction,
    kind: &str,
    claim: &Claim,
    forced: bool,
) -> Result<()> {
    let mut detail = json!({
        "holder": claim.holder, "epoch": claim.epoch, "expires": claim.expires,
    });
    if forced {
        detail["forced"] = true.into();
    }
    transaction.record(&Change {
        kind: kind.to_string(),
        task: Some(claim.task),
        detail,
    })
}
