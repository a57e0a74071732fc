//! The fence of claimed tasks: a caller whose claim was lost is refused, by epoch or by name.

use chrono::{DateTime, Utc};

use super::is_within;
use super::run_agents::refuse_other;
use crate::claim::Claim;
use crate::clock::{Clock, timestamp};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::Context;
use crate::store::Transaction;
use crate::task::{Status, Task};

#[derive(Clone, Debug)]
pub(in crate::ops) struct Caller {
    pub(in crate::ops) name: String,
    /// The run that the caller works in.
    pub(in crate::ops) run: Option<String>,
    /// The task that the caller was started for.
    own: Option<TaskId>,
    pub(super) at: DateTime<Utc>,
    pub(in crate::ops) now: String,
    pub(in crate::ops) epoch: Option<u32>,
    /// Whether the caller is one of several users, whom the epoch of another one gives no right.
    is_user: bool,
    fixed_clock: bool,
}

impl Caller {
    pub(in crate::ops) fn without_task(context: &Context) -> Caller {
        let surroundings = &context.surroundings;
        let at = surroundings.clock.now();
        Caller {
            name: surroundings.actor.clone(),
            run: surroundings.assignment.run.clone(),
            own: surroundings.assignment.task,
            at,
            now: timestamp(at),
            epoch: None,
            is_user: surroundings.visible_user().is_some(),
            fixed_clock: matches!(surroundings.clock, Clock::Fixed(_)),
        }
    }

    /// Reads who acts on a task. An epoch that is given counts; else that of the environment, which
    /// is meant for the task that it names.
    pub(in crate::ops) fn for_task(context: &Context, task: TaskId, epoch: Option<u32>) -> Caller {
        let assigned = &context.surroundings.assignment;
        let of_task = assigned.task.is_none_or(|assigned| assigned == task);
        Caller {
            epoch: epoch.or(assigned.epoch.filter(|_| of_task)),
            ..Caller::without_task(context)
        }
    }

    /// Returns true for the caller, for its agents, and for the run that the caller is an agent of.
    pub(super) fn acts_for(&self, holder: &str) -> bool {
        holder == self.name || self.leads(holder) || self.run.as_deref() == Some(holder)
    }

    /// Returns true for a caller that works under a claim: in the name of its holder, or by its epoch, which was checked.
    pub(super) fn works_under(&self, holder: &str) -> bool {
        self.acts_for(holder) || self.epoch.is_some() && !self.is_user
    }

    /// Returns whether a name is that of an agent of the caller: `ada/parser` is one of `ada`.
    pub(super) fn leads(&self, name: &str) -> bool {
        name.strip_prefix(&self.name)
            .is_some_and(|agent| agent.starts_with('/'))
    }

    /// Refuses an agent of a caller whose prompt for a task was replaced.
    pub(in crate::ops) fn refuse_replaced(
        &self,
        transaction: &dyn Transaction,
        id: TaskId,
    ) -> Result<()> {
        match self.name.rsplit_once('/') {
            Some((_, agent)) => refuse_replaced(transaction, id, agent),
            None => Ok(()),
        }
    }

    /// Returns true for the task that an agent was started for, and for what is below it.
    pub(in crate::ops) fn has_part(
        &self,
        transaction: &dyn Transaction,
        id: TaskId,
    ) -> Result<bool> {
        self.own
            .map_or(Ok(false), |own| is_within(transaction, id, own))
    }
}

/// Refuses a caller whose claim was lost or whose prompt was replaced; others without an epoch pass.
pub(in crate::ops) fn check_epoch(
    transaction: &dyn Transaction,
    task: &Task,
    caller: &Caller,
) -> Result<()> {
    caller.refuse_replaced(transaction, task.id)?;
    let Some(epoch) = caller.epoch else {
        return Ok(());
    };
    let claim = transaction.claim(task.id)?;
    // A task that was completed under this epoch may be read under it.
    let is_current = claim.as_ref().is_some_and(|claim| {
        claim.epoch == epoch && (claim.holder.is_some() || task.status == Status::Done)
    });
    match is_current {
        true => Ok(()),
        false => Err(refuse_lost_claim(task, claim.as_ref(), caller)),
    }
}

/// Refuses an agent that works for a prompt of a task that another one replaced.
pub(in crate::ops) fn refuse_replaced(
    transaction: &dyn Transaction,
    id: TaskId,
    agent: &str,
) -> Result<()> {
    let spawned = transaction.spawns(id)?;
    let at = spawned.iter().position(|one| one.manifest_id == agent);
    if at.is_none_or(|at| at + 1 == spawned.len()) {
        return Ok(());
    }
    let message = format!("another prompt for {id} has replaced that of the entry {agent}");
    Err(Error::new(Code::ClaimLost, message).fix(format!("cleo show {id}")))
}

/// Refuses a caller whose claim was lost, and one other than the holder of the task; `force` warns of the latter only.
pub(in crate::ops) fn check_holder(
    transaction: &dyn Transaction,
    task: &Task,
    caller: &Caller,
    force: bool,
) -> Result<Option<String>> {
    check_epoch(transaction, task, caller)?;
    refuse_other(transaction, task.id, caller)?;
    let Some(claim) = transaction.claim(task.id)? else {
        return Ok(None);
    };
    match claim.live_holder(&caller.now) {
        Some(holder) if !caller.works_under(holder) => {
            let error = holder_error(&claim, caller);
            // A run takes its tasks back itself, and its agents only parts of their own.
            let may_force = caller.run.is_none() || caller.has_part(transaction, task.id)?;
            match force && may_force {
                true => Ok(Some(format!("by force: {}", error.message))),
                false => Err(error),
            }
        }
        _ => Ok(None),
    }
}

pub(super) fn refuse_held(last: Option<&Claim>, caller: &Caller) -> Result<()> {
    let Some(claim) = last else { return Ok(()) };
    refuse_clock(claim, caller)?;
    let id = claim.task;
    match claim.live_holder(&caller.now) {
        None => Ok(()),
        Some(holder) if holder == caller.name => {
            let epoch = claim.epoch;
            let heartbeat = format!("cleo heartbeat {id} --epoch {epoch}");
            Err(
                error!(Claimed, "you hold it already: {}", describe_holder(claim))
                    .fix(heartbeat)
                    .or("give it back", format!("cleo release {id} --epoch {epoch}")),
            )
        }
        Some(_) => {
            let error = Error::new(Code::Claimed, describe_holder(claim)).fix("cleo claim --next");
            Err(error.or("see how it stands", format!("cleo show {id}")))
        }
    }
}

/// Refuses to complete a task by a clock that was set back: it would end before it began.
pub(in crate::ops) fn check_clock(
    transaction: &dyn Transaction,
    task: TaskId,
    caller: &Caller,
) -> Result<()> {
    match transaction.claim(task)? {
        Some(claim) => refuse_clock(&claim, caller),
        None => Ok(()),
    }
}

pub(super) fn refuse_clock(claim: &Claim, caller: &Caller) -> Result<()> {
    if !claim.is_ahead_of(caller.at) {
        return Ok(());
    }
    let message = format!(
        "it is {} by this clock, before {} was claimed ({}): the clock was set back",
        caller.now, claim.task, claim.since
    );
    let look = match caller.fixed_clock {
        true => "unset CLEO_NOW",
        false => "date -u",
    };
    Err(Error::new(Code::Clock, message).fix(look))
}

/// Refuses another prompt for a task while the agent of the last one holds it: both agents would have one name.
pub(in crate::ops) fn refuse_at_work(
    transaction: &dyn Transaction,
    id: TaskId,
    now: &str,
) -> Result<()> {
    let Some(claim) = transaction.claim(id)? else {
        return Ok(());
    };
    let agent = claim.live_holder(now).and_then(|it| it.rsplit_once('/'));
    let spawn = transaction.latest_spawn_to_show(id)?;
    match (agent, spawn) {
        (Some((_, agent)), Some(spawn)) if agent == spawn.manifest_id => {
            let error = Error::new(Code::Claimed, describe_holder(&claim));
            let error = error.fix(format!("cleo spawn {id} --dry-run"));
            Err(error.or("replace its agent", format!("cleo spawn {id} --again")))
        }
        _ => Ok(()),
    }
}

pub(super) fn holder_error(claim: &Claim, caller: &Caller) -> Error {
    let message = format!("{}, not by {}", describe_holder(claim), caller.name);
    Error::new(Code::Claimed, message).fix(format!("cleo show {}", claim.task))
}

pub(super) fn describe_holder(claim: &Claim) -> String {
    let holder = claim.holder.as_deref().unwrap_or("none");
    let (task, epoch, expires) = (claim.task, claim.epoch, &claim.expires);
    format!("{task} is claimed by {holder} (epoch {epoch}) until {expires}")
}

/// Explains why a run would not begin a task that somebody holds.
pub(crate) fn explain_claim(context: &mut Context, id: TaskId) -> Result<Option<String>> {
    let caller = Caller::without_task(context);
    let claim = context.read(|transaction| transaction.claim(id))?;
    let held = claim.filter(|claim| claim.live_holder(&caller.now).is_some());
    Ok(held.map(|claim| {
        let release = format!(": run `cleo release {id} --epoch {}`", claim.epoch);
        let is_own = claim.holder.as_ref() == Some(&caller.name);
        describe_holder(&claim) + if is_own { &release } else { "" }
    }))
}

pub(super) fn refuse_lost_claim(task: &Task, claim: Option<&Claim>, caller: &Caller) -> Error {
    let id = task.id;
    let own = match caller.epoch {
        Some(epoch) => format!("epoch {epoch} is not the claim of {id}: "),
        None => String::new(),
    };
    let now = match claim {
        None => format!("{id} is not claimed"),
        Some(Claim {
            holder: Some(holder),
            epoch,
            since,
            expires,
            ..
        }) => format!("{holder} took over with epoch {epoch} at {since}, until {expires}"),
        Some(Claim { epoch, since, .. }) => {
            format!("its last claim (epoch {epoch}) ended at {since}, and it is not claimed now")
        }
    };
    let is_free = claim.is_none_or(|claim| claim.holder.is_none());
    let error = Error::new(Code::ClaimLost, format!("{own}{now}"));
    let show = format!("cleo show {id}");
    match is_free && !task.is_closed() {
        true => error.fix(show).or("claim it", format!("cleo claim {id}")),
        false => error.fix(show).or("take other work", "cleo claim --next"),
    }
}
