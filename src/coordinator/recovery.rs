//! Takes over the run of a dead process: its agents are ended, and each of its steps is done, lacks something
//! or is run again, and counts as it would have in that process.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::engine::Engine;
use super::isolation::Delivery;
use super::scheduler;
use super::verdict::stops_before_proof;
use crate::claim::Claim;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::run::{Event, RunEvent, StepState, TaskEvent, TaskRun};
use crate::runner::signals;
use crate::task::Status;

impl Engine<'_> {
    /// Takes a step up as it stands: what is done is noted, what was left is verified or given back.
    pub(super) fn take_up(&mut self, step: usize, task: &TaskRun) -> Result<()> {
        let id = task.planned.task_id;
        if task.is_done() {
            self.scheduler.note_done(step);
            return Ok(());
        }
        if task.state == StepState::Failed {
            for later in self.scheduler.note_failed(step) {
                let skipped = TaskEvent::Skipped {
                    reason: Some("it waits for what failed".to_string()),
                    caused_by: Some(id),
                };
                self.recorder.push(skipped.for_task(self.slots[later].task));
            }
            // The process may have ended before it gave the task back.
            let claim = self.context.read(|transaction| transaction.claim(id))?;
            let own = claim.filter(|claim| self.is_own(claim));
            self.slots[step].epoch = own.map(|claim| claim.epoch);
            return self.release_task(step);
        }
        if self.is_done_by_now(step, task)? {
            self.scheduler.note_done(step);
        }
        Ok(())
    }

    /// Returns true, and emits the event, if a task was completed before the process ended or its work
    /// verifies. Any other task is released.
    fn is_done_by_now(&mut self, step: usize, task: &TaskRun) -> Result<bool> {
        let id = task.planned.task_id;
        let (status, claim) = match self
            .context
            .read(|transaction| Ok((transaction.status(id)?, transaction.claim(id)?)))
        {
            // It is refused when it is claimed.
            Err(error) if error.code == Code::RowDamaged => return Ok(false),
            read => read?,
        };
        let epoch = claim.as_ref().map(|claim| claim.epoch);
        let is_done = status == Some(Status::Done);
        // A claim under which no agent was to be started has nothing to show, and a task that was never
        // given to an agent would pass for one that needs no proof.
        let is_of_attempt = epoch == task.setup.epoch;
        if is_done && !(task.is_held && is_of_attempt) {
            let event = self.judge_done_elsewhere(step)?;
            let is_proven = matches!(event, scheduler::Event::Completed(_));
            self.inbox.extend((!is_proven).then_some(event));
            return Ok(is_proven);
        }
        if !is_done && !claim.is_some_and(|claim| self.is_own(&claim)) {
            return Ok(false);
        }
        self.slots[step].epoch = epoch;
        if is_of_attempt && (is_done || self.check_last_words(step).is_none()) {
            self.fix_criteria(id, task.planned.acceptance.clone());
            match self.judge_again(step)? {
                Delivery::Done => return Ok(true),
                // Somebody completed it while its agent worked.
                Delivery::Lacking(lacking) if is_done => self.reject_step(step, lacking)?,
                Delivery::Stuck(_, why) if is_done => {
                    self.reject_step(step, Error::new(Code::FileUnwritable, why).into())?;
                }
                Delivery::Lacking(lacking) if stops_before_proof(&lacking) => {
                    self.inbox.push(scheduler::Event::Left(step));
                }
                Delivery::Lacking(_) => self.release_task(step)?,
                // Another attempt would be in the way of the same.
                Delivery::Stuck(branch, why) => self.fail_unmergeable(step, branch, why),
            }
            return Ok(false);
        }
        self.release_task(step)?;
        Ok(false)
    }

    pub(super) fn is_own(&self, claim: &Claim) -> bool {
        claim.holder.as_ref() == Some(&self.recorder.run.id)
    }

    /// Judges the work of a step as it was left, in its worktree if there is one, and completes it.
    fn judge_again(&mut self, step: usize) -> Result<Delivery> {
        let (id, epoch) = (self.slots[step].task, self.slots[step].epoch);
        let tree = self.trees.as_ref().and_then(|trees| trees.find_tree(id));
        if self.trees.is_some() && tree.is_none() {
            // A worktree is removed before its task is done only when its work is discarded.
            return self.check_step(step).map(Delivery::Lacking);
        }
        // A kill may have cut the commands short, or come after they ran in the workspace.
        if let Some(tree) = &tree
            && self.check_in_tree(tree, id, epoch)?.lacks_only_proof()
            && let Some(lacking) = self.prove_again(id, epoch, Some(tree))?
        {
            return Ok(Delivery::Lacking(lacking));
        }
        if tree.is_none()
            && let lacking = self.prove_in_workspace(id, epoch, false)?
            && !lacking.faults.is_empty()
        {
            return Ok(Delivery::Lacking(lacking));
        }
        self.slots[step].tree = tree;
        let brought = self.merge_and_complete_step(step)?;
        // Its reports are copied while the task is still held; other worktrees are swept together.
        if let Delivery::Stuck(Some(_), _) = &brought
            && signals::pending_signal().is_none()
        {
            self.remove_worktree(step)?;
        }
        self.slots[step].tree = None;
        Ok(brought)
    }
}

/// A worktree that is kept.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeptTree {
    /// The task that was worked on in it.
    pub(crate) task_id: TaskId,
    /// Where it is.
    pub(crate) worktree: String,
    /// Its branch, which lacks something of what was done in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<String>,
    /// Why it is kept.
    pub(crate) reason: String,
}

/// Lists the worktrees of a run that are kept, by task.
pub(super) fn list_kept_worktrees(events: &[Event]) -> Vec<KeptTree> {
    let tree = |event: &Event| match RunEvent::read(event)? {
        RunEvent::Task(
            task_id,
            _,
            TaskEvent::Retained {
                reason,
                branch,
                worktree,
            },
        ) => Some(KeptTree {
            task_id,
            worktree: worktree?,
            branch,
            reason: reason.unwrap_or_default(),
        }),
        _ => None,
    };
    let trees = (events.iter().filter_map(tree)).map(|tree| (tree.worktree.clone(), tree));
    let last: BTreeMap<String, KeptTree> = crate::build_map(trees);
    let there = |tree: &KeptTree| Path::new(&tree.worktree).is_dir();
    let mut kept: Vec<KeptTree> = last.into_values().filter(there).collect();
    kept.sort_unstable_by_key(|tree| tree.task_id);
    kept
}
