//! The fence of claimed tasks: a caller whose claim was lost is refused, by epoch or by name.

use chrono::{DateTime, Utc};

use super::{above, is_within};
use crate::claim::Claim;
use crate::clock::{Clock, timestamp};
use crate::error::{Code, Error, Result};
use crate::gate::Criterion;
use crate::id::TaskId;
use crate::ops::{Context, runs};
use crate::store::Transaction;
use crate::task::{Status, Task};
use crate::workspace::Workspace;

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

    /// Returns true for the task that an agent was started for, and for what is below it.
    pub(in crate::ops) fn has_part(
        &self,
        transaction: &dyn Transaction,
        id: TaskId,
    ) -> Result<bool> {
        self.own
            .map_or(Ok(false), |own| is_within(transaction, id, own))
    }

    /// Refuses evidence that an agent of a run takes for a task that the run holds for another one, and in a worktree for
    /// any other task than its own: the worktree may never be merged.
    pub(in crate::ops) fn refuse_evidence(
        &self,
        transaction: &dyn Transaction,
        id: TaskId,
        place: &Workspace,
    ) -> Result<()> {
        refuse_other(transaction, id, self)?;
        if self.run.is_none() || place.worktree().is_none() || self.has_part(transaction, id)? {
            return Ok(());
        }
        let message = format!(
            "an agent of a run verifies in a worktree only its own task and its parts, not {id}"
        );
        Err(Error::new(Code::StatusRefused, message).fix(format!("cleo show {id}")))
    }

    /// Refuses an agent of a run that moves or deletes a task that is neither its own, nor a part of it, nor added by it.
    fn refuse_foreign(&self, transaction: &dyn Transaction, id: TaskId) -> Result<()> {
        refuse_other(transaction, id, self)?;
        match self.has_added(transaction, id)? || self.has_part(transaction, id)? {
            true => Ok(()),
            false => Err(other_task_error(id)),
        }
    }

    /// Returns whether an agent of the caller's run added a task. Other names of an agent prove nothing.
    fn has_added(&self, transaction: &dyn Transaction, id: TaskId) -> Result<bool> {
        let added = transaction.changes(0, Some(id), 1)?.into_iter().next();
        Ok(added.is_some_and(|added| self.run == Some(added.by)))
    }

    /// Refuses an agent of a run that removes a criterion with a command, by which it is judged.
    fn refuse_fewer_criteria(&self, before: &Task, after: &[String]) -> Result<()> {
        let is_lost =
            |line: &&String| Criterion::read(line).command.is_some() && !after.contains(line);
        match before.acceptance.iter().find(is_lost) {
            Some(line) if self.run.is_some() => Err(no_removal(before.id, line)),
            _ => Ok(()),
        }
    }

    /// Refuses an agent of a run that removes a criterion with a command, moves or turns a task that the run holds for
    /// another agent, reopens or cancels a task that is not its own, or makes a task done without `complete`, which leaves the
    /// verdict to the run.
    pub(in crate::ops) fn refuse_change(
        &self,
        transaction: &dyn Transaction,
        before: &Task,
        after: &Task,
    ) -> Result<()> {
        if self.run.is_none() {
            return Ok(());
        }
        let id = after.id;
        self.refuse_fewer_criteria(before, &after.acceptance)?;
        if before.parent != after.parent {
            self.refuse_foreign(transaction, id)?;
            (after.parent).map_or(Ok(()), |parent| refuse_other(transaction, parent, self))?;
        }
        // Others may leave notes and labels.
        let mut noted = before.clone();
        noted.notes.clone_from(&after.notes);
        noted.labels.clone_from(&after.labels);
        if noted != *after {
            refuse_other(transaction, id, self)?;
        }
        if after.status != Status::Done || before.status == Status::Done {
            let is_moved = before.is_closed() != after.is_closed();
            return match is_moved && !self.has_part(transaction, id)? {
                true => Err(other_task_error(id)),
                false => Ok(()),
            };
        }
        self.refuse_done(after)
            .map_err(|error| error.fix(format!("cleo complete {id}")))
    }

    /// Refuses an agent of a run that makes a task done without `complete`.
    pub(in crate::ops) fn refuse_done(&self, task: &Task) -> Result<()> {
        if self.run.is_none() || task.status != Status::Done {
            return Ok(());
        }
        let message = format!(
            "an agent of a run makes {} done by `cleo complete` only",
            task.id
        );
        Err(Error::new(Code::NotVerified, message))
    }

    /// Refuses an agent of a run that deletes a task with a command or a required gate: it could be added again without.
    pub(in crate::ops) fn refuse_removal(
        &self,
        transaction: &dyn Transaction,
        task: &Task,
    ) -> Result<()> {
        if self.run.is_none() {
            return Ok(());
        }
        self.refuse_foreign(transaction, task.id)?;
        let cancel = |error: Error| error.fix(format!("cleo cancel {}", task.id));
        self.refuse_fewer_criteria(task, &[]).map_err(cancel)?;
        match transaction.gates(task.id)?.required.first() {
            Some(gate) => Err(cancel(no_removal(task.id, &gate.to_string()))),
            None => Ok(()),
        }
    }
}

pub(in crate::ops) fn no_removal(id: TaskId, what: &str) -> Error {
    let message = format!("an agent of a run does not take `{what}` away, which {id} has to pass");
    Error::new(Code::NotVerified, message).fix(format!("cleo verify {id} --run-all"))
}

/// Refuses a caller whose claim was lost; a caller without an epoch passes.
pub(in crate::ops) fn check_epoch(
    transaction: &dyn Transaction,
    task: &Task,
    caller: &Caller,
) -> Result<()> {
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

/// Refuses a caller whose claim was lost, and one other than the holder of the task; `force` warns of the latter only.
pub(in crate::ops) fn check_holder(
    transaction: &dyn Transaction,
    task: &Task,
    caller: &Caller,
    force: bool,
    verb: &str,
) -> Result<Option<String>> {
    check_epoch(transaction, task, caller)?;
    refuse_other(transaction, task.id, caller)?;
    let Some(claim) = transaction.claim(task.id)? else {
        return Ok(None);
    };
    match claim.live_holder(&caller.now) {
        Some(holder) if !caller.works_under(holder) => {
            let mut error = holder_error(&claim, caller, verb);
            // A run takes its tasks back itself, and its agents only parts of their own.
            let may_force = caller.run.is_none() || caller.has_part(transaction, task.id)?;
            error.alternatives.retain(|_| may_force);
            match force && may_force {
                true => Ok(Some(format!("by force: {}", error.message))),
                false => Err(error),
            }
        }
        _ => Ok(None),
    }
}

/// Refuses an agent of a run, or a command of a gate, that acts on a task that the run holds for another of its agents:
/// neither its own task, nor a part of it, nor a follow-up that an agent added outside of such a task.
pub(in crate::ops) fn refuse_other(
    transaction: &dyn Transaction,
    id: TaskId,
    caller: &Caller,
) -> Result<()> {
    let Some(run) = &caller.run else {
        return Ok(());
    };
    let is_held = |id: TaskId| {
        let claim = transaction.claim(id)?;
        Ok(claim.is_some_and(|claim| claim.live_holder(&caller.now) == Some(run)))
    };
    if !is_held(id)? || caller.has_part(transaction, id)? {
        return Ok(());
    }
    let is_of_run = |whole: TaskId| Ok(is_held(whole)? && !caller.has_added(transaction, whole)?);
    let of_run: Result<Vec<bool>> = above(transaction, id)?.into_iter().map(is_of_run).collect();
    if caller.has_added(transaction, id)? && !of_run?.contains(&true) {
        return Ok(());
    }
    let message = format!("{run} holds {id} for another of its agents");
    Err(Error::new(Code::Claimed, message).fix(format!("cleo show {id}")))
}

/// Refuses an agent of a run that reopens or cancels anything but its own task and its parts.
pub(in crate::ops) fn refuse_outside_task(context: &mut Context, id: TaskId) -> Result<()> {
    let caller = Caller::without_task(context);
    let Some(run) = &caller.run else {
        return Ok(());
    };
    let is_own = context.read(|transaction| caller.has_part(transaction, id))?;
    if is_own || !runs::is_known(&context.workspace, run)? {
        return Ok(());
    }
    Err(other_task_error(id))
}

fn other_task_error(id: TaskId) -> Error {
    let message = format!(
        "an agent of a run moves, ends, reopens and deletes only its own task and its parts, not {id}"
    );
    Error::new(Code::StatusRefused, message).fix(format!("cleo show {id}"))
}

/// Refuses an agent that claims another task of its run: the run would wait for it.
pub(in crate::ops) fn refuse_task_of_run(context: &Context, id: TaskId) -> Result<()> {
    let surroundings = &context.surroundings;
    let assigned = &surroundings.assignment;
    let run = assigned.run.clone().filter(|_| assigned.task != Some(id));
    let Some(run) = run else { return Ok(()) };
    let judge = runs::find_judge(surroundings, std::slice::from_ref(&run), id)?;
    if judge.is_none_or(|(judge, _)| judge != run) {
        return Ok(());
    }
    let message = format!("{id} is a task of the run of this agent, which claims it itself");
    Err(Error::new(Code::Claimed, message).fix(format!("cleo show {id}")))
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
        Some(_) => Err(Error::new(Code::Claimed, describe_holder(claim))
            .fix("cleo claim --next")
            .or("see how it stands", format!("cleo show {id}"))
            .or("take it from them", format!("cleo release {id} --force"))),
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
    let release = format!("cleo release {} --force", claim.task);
    Err(Error::new(Code::Clock, message)
        .fix(look)
        .or("end the claim whatever the clock says", release))
}

pub(super) fn holder_error(claim: &Claim, caller: &Caller, verb: &str) -> Error {
    let id = claim.task;
    let message = format!("{}, not by {}", describe_holder(claim), caller.name);
    let action = format!("{verb} it anyway, which is recorded");
    Error::new(Code::Claimed, message)
        .fix(format!("cleo show {id}"))
        .or(action, format!("cleo {verb} {id} --force"))
}

fn describe_holder(claim: &Claim) -> String {
    let holder = claim.holder.as_deref().unwrap_or("none");
    let (task, epoch, expires) = (claim.task, claim.epoch, &claim.expires);
    format!("{task} is claimed by {holder} (epoch {epoch}) until {expires}")
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
