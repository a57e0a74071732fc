//! Refuses agents of a run what belongs to the run or to others: a run holds tasks for each of its agents and judges
//! their work.

use super::above;
use super::fence::{Caller, describe_holder};
use crate::error::{Code, Error, Result};
use crate::gate::Criterion;
use crate::id::TaskId;
use crate::ops::{Context, runs};
use crate::store::Transaction;
use crate::task::{Status, Task};
use crate::workspace::Workspace;

impl Caller {
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

    /// Refuses an agent of a run that moves, ends or deletes a task that is neither its own, nor a part of it, nor added by it.
    pub(in crate::ops) fn refuse_foreign(
        &self,
        transaction: &dyn Transaction,
        id: TaskId,
    ) -> Result<()> {
        refuse_other(transaction, id, self)?;
        match self.is_given(transaction, id)? {
            true => Ok(()),
            false => Err(other_task_error(id)),
        }
    }

    /// Refuses an agent of a run that prompts for, or answers, a task that is neither its own, nor claimed by it: a later run
    /// would take the answer for the work of its agent.
    pub(in crate::ops) fn refuse_answer(
        &self,
        transaction: &dyn Transaction,
        id: TaskId,
    ) -> Result<()> {
        refuse_other(transaction, id, self)?;
        let claim = transaction.claim(id)?;
        let is_held = claim.is_some_and(|claim| claim.live_holder(&self.now).is_some());
        match self.run.is_none() || is_held || self.is_given(transaction, id)? {
            true => Ok(()),
            false => Err(other_task_error(id)),
        }
    }

    /// Returns whether a task is the own one of an agent of a run, a part of it, or added by it.
    fn is_given(&self, transaction: &dyn Transaction, id: TaskId) -> Result<bool> {
        Ok(self.has_added(transaction, id)? || self.has_part(transaction, id)?)
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
    /// another agent, changes the status or the dependencies of a task that is not its own, or makes a task done without
    /// `complete`, which leaves the verdict to the run.
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
        if before.status != after.status || before.depends != after.depends {
            self.refuse_answer(transaction, id)?;
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

/// Refuses an agent of a run, or a command of a gate, that acts on a task that somebody else holds, or that the run holds
/// for another of its agents: neither its own task, nor a part of it, nor a follow-up that an agent added outside of such
/// a task.
pub(in crate::ops) fn refuse_other(
    transaction: &dyn Transaction,
    id: TaskId,
    caller: &Caller,
) -> Result<()> {
    let Some(run) = &caller.run else {
        return Ok(());
    };
    let held = |id: TaskId| {
        let claim = transaction.claim(id)?;
        Ok(claim.filter(|claim| claim.live_holder(&caller.now).is_some()))
    };
    let Some(claim) = held(id)? else {
        return Ok(());
    };
    if caller.has_part(transaction, id)? {
        return Ok(());
    }
    let show = format!("cleo show {id}");
    let holder = claim.holder.as_deref().unwrap_or_default();
    if !caller.acts_for(holder) {
        let message = format!("{}, not by {}", describe_holder(&claim), caller.name);
        return Err(Error::new(Code::Claimed, message).fix(show));
    }
    if holder != run {
        return Ok(());
    }
    let is_of_run = |whole: TaskId| {
        let is_held = held(whole)?.is_some_and(|claim| claim.holder.as_ref() == Some(run));
        Ok(is_held && !caller.has_added(transaction, whole)?)
    };
    let of_run: Result<Vec<bool>> = above(transaction, id)?.into_iter().map(is_of_run).collect();
    if caller.has_added(transaction, id)? && !of_run?.contains(&true) {
        return Ok(());
    }
    Err(error!(Claimed, "{run} holds {id} for another of its agents").fix(show))
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
        "an agent of a run works only on its own task and its parts, not on {id}: its holder may, or a person"
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
