//! Taking up what a process left of a run: each step is done, lacks something or comes up again, and counts
//! as it would have while that process lived.

use super::engine::Engine;
use super::machine::Fact;
use crate::claim::Claim;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::complete::{Lacking, is_unearned};
use crate::run::board::{TaskRun, TaskState};
use crate::run::told::{Told, kind};
use crate::task::Status;

impl Engine<'_> {
    /// Takes a step up as it stands: what is done is noted, what was left is verified or given back.
    pub(super) fn take_up(&mut self, step: usize, task: &TaskRun) -> Result<()> {
        let id = task.task_id;
        if task.is_done() {
            self.machine.done_before(step);
            return Ok(());
        }
        if task.state == TaskState::Failed {
            for later in self.machine.failed_before(step) {
                let told = Told {
                    because: Some(id),
                    reason: Some("it waits for what failed".to_string()),
                    ..Told::of(self.tasks[later])
                };
                self.tell(kind::TASK_SKIPPED, told);
            }
            return Ok(());
        }
        if self.is_done_by_now(step, task)? {
            self.machine.done_before(step);
        }
        Ok(())
    }

    /// Says whether a task is done, and tells so: it was completed before the process ended, or what its
    /// agent left verifies. One that is not is given back.
    fn is_done_by_now(&mut self, step: usize, task: &TaskRun) -> Result<bool> {
        let (status, claim, is_unearned) = self.stand(task.task_id)?;
        // A claim under which no agent was to be started has nothing to show, and a task that was never
        // given to an agent would pass for one that needs no proof.
        let claim = claim.filter(|claim| self.is_own(claim, status));
        let epoch = claim.as_ref().map(|claim| claim.epoch);
        let is_of_try = epoch.is_some() && epoch == task.epoch;
        if status == Some(Status::Done) && !(is_of_try && task.is_held) {
            self.tell_done_before(step, task);
            return Ok(true);
        }
        if epoch.is_none() {
            return Ok(false);
        }
        self.slots[step].epoch = epoch;
        if is_of_try {
            self.fix_criteria(task.task_id, task.acceptance.clone());
        }
        let is_shown = status == Some(Status::Done) && !is_unearned;
        if is_of_try && self.is_completed(step, is_shown)? {
            self.tell(kind::TASK_COMPLETED, self.of(step));
            return Ok(true);
        }
        self.give_back(step)?;
        Ok(false)
    }

    /// Reads how a task stands: its status, its last claim, and whether it may be done without having been
    /// shown to be.
    fn stand(&mut self, id: TaskId) -> Result<(Option<Status>, Option<Claim>, bool)> {
        self.context.read(|transaction| {
            let (status, claim) = (transaction.status(id)?, transaction.claim(id)?);
            Ok((status, claim, is_unearned(transaction, id)?))
        })
    }

    /// Says whether a claim may be one of this run: what is done is held by nobody any more.
    fn is_own(&self, claim: &Claim, status: Option<Status>) -> bool {
        status == Some(Status::Done) || claim.holder.as_ref() == Some(&self.run.id)
    }

    /// Tells that a task is done which was not under way. Nobody works on an epic.
    fn tell_done_before(&mut self, step: usize, task: &TaskRun) {
        match task.is_epic {
            true => self.tell(kind::TASK_COMPLETED, self.of(step)),
            false => self.tell_done_elsewhere(step),
        }
    }

    /// Completes what was under way, if what its agent left holds and its last words were right. What was
    /// completed without that is judged as it would have been then.
    fn is_completed(&mut self, step: usize, is_shown: bool) -> Result<bool> {
        let is_misspoken = self.misspoken(step).is_some();
        let id = self.tasks[step];
        let trees = self.trees.as_ref();
        self.slots[step].tree = trees.and_then(|trees| trees.left(&id.to_string()));
        // What was completed in a worktree is not done before it is home.
        if is_shown && !is_misspoken && self.slots[step].tree.is_none() {
            self.tell_merged_before(step);
            return Ok(true);
        }
        let done = match is_misspoken {
            true => Err(self.lacks(step)?),
            false => self.completed_from_before(step)?.1,
        };
        // What is left of it is swept with the others.
        self.slots[step].tree = None;
        match done {
            Ok(_) => return Ok(true),
            Err(lacking) if self.is_done(id)? => self.judge_before(step, lacking)?,
            Err(_) => {}
        }
        Ok(false)
    }

    /// Judges a task that is done and lacks something. One that was taken back comes up again like all that
    /// nobody holds.
    fn judge_before(&mut self, step: usize, lacking: Lacking) -> Result<()> {
        let fact = self.found_lacking(step, lacking)?;
        if !matches!(fact, Fact::Lacking(..)) {
            self.facts.push(fact);
        }
        Ok(())
    }
}
