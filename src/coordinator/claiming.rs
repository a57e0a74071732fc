//! Claims steps and prepares their prompts, or reports who else holds them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::engine::Engine;
use super::scheduler::Event;
use crate::clock::is_date;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::proof::{check_earlier_work, complete_with_parts, is_unearned};
use crate::ops::require;
use crate::ops::runs::{self, liveness};
use crate::ops::spawn::{self, Preparation};
use crate::ops::tasks::claim;
use crate::ops::trust::{Item, Trust};
use crate::run::{Run, RunStatus, TaskEvent};
use crate::store::Transaction;

impl Engine<'_> {
    /// Claims tasks and prepares their prompts in one transaction.
    pub(super) fn claim(&mut self, steps: &[usize]) -> Result<()> {
        let steps = self.skip_claimed_elsewhere(steps)?;
        let steps = self.complete_verified(steps)?;
        let mut by_date: BTreeMap<Option<String>, Vec<TaskId>> = BTreeMap::new();
        for step in steps {
            let id = self.slots[step].task;
            by_date.entry(self.first_date(id)).or_default().push(id);
        }
        for (date, ids) in by_date {
            self.claim_for_date(date, &ids)?;
        }
        Ok(())
    }

    fn claim_for_date(&mut self, date: Option<String>, ids: &[TaskId]) -> Result<()> {
        let mut preparation = match self.preparation.take() {
            Some(preparation) => preparation,
            None => Preparation::load(&self.context)?,
        };
        let claim = claim::claim_apart(&self.context, self.options.lease());
        let (mut claims, mut prompts) = (Vec::new(), Vec::new());
        let mut accept = |transaction: &mut dyn Transaction, id: TaskId| {
            let claimed = claim(transaction, id)
                .and_then(|claim| Ok((claim.epoch, require(transaction, id)?)));
            let is_claimed = claimed.is_ok();
            claims.push((id, claimed));
            is_claimed
        };
        let mut take = |spawned| {
            prompts.push(spawned);
            true
        };
        let options = spawn::Options {
            date,
            again: true,
            ..spawn::Options::default()
        };
        let batch =
            preparation.spawn_all(&mut self.context, ids, &options, &mut accept, &mut take)?;
        self.preparation = Some(preparation);
        for (id, claimed) in claims {
            let Some(step) = self.recorder.track.position(id) else {
                continue;
            };
            match claimed {
                Ok((epoch, task)) => {
                    self.slots[step].epoch = Some(epoch);
                    if !Item::criteria(id, &task.acceptance).is_empty() {
                        self.scheduler.require_checks(step);
                    }
                    self.extend_criteria(id, task.acceptance);
                }
                Err(error) => {
                    let event = self.explain_claim(step, error)?;
                    self.inbox.push(event);
                }
            }
        }
        for spawned in prompts {
            if let Some(step) = self.recorder.track.position(spawned.task_id) {
                self.set_prompt(step, spawned)?;
            }
        }
        for failed in batch.failed {
            if let Some(step) = self.recorder.track.position(failed.task_id) {
                self.inbox.push(Event::Refused(step, failed.error.message));
            }
        }
        Ok(())
    }

    /// Completes tasks with work from before this run that verifies, which another prompt would discard, or holds them
    /// where a person has to merge or verify it. Returns the others.
    fn complete_verified(&mut self, steps: Vec<usize>) -> Result<Vec<usize>> {
        let mut left = Vec::with_capacity(steps.len());
        for step in steps {
            let id = self.slots[step].task;
            let is_begun = self.first_date(id).is_some();
            let found = match check_earlier_work(&mut self.context, id, &BTreeSet::new()) {
                // Its claim tells what is wrong.
                Err(error) if matches!(error.code, Code::RowDamaged | Code::TaskNotFound) => None,
                found => found?,
            };
            let Some(mut verdict) = found.filter(|_| !is_begun) else {
                left.push(step);
                continue;
            };
            // Output that an agent of this run left for another task proves nothing.
            if verdict.lacks_only_proof() && !self.slots[step].has_earlier_work {
                left.push(step);
                continue;
            }
            if verdict.can_prove_by_commands(self.trees.is_some()) {
                verdict = self.prove_in_workspace(id, None, false)?;
            }
            if let Some(why) = verdict.explain_wait() {
                self.inbox.push(Event::Held(step, why, false));
                continue;
            }
            let task = [(id, None)];
            let done = complete_with_parts(&mut self.context, &task, false, &mut |_| Ok(()));
            if done?.is_err() {
                left.push(step);
                continue;
            }
            let reason = Some("its work verifies and needs no agent".to_string());
            self.push_step_event(step, TaskEvent::Completed { reason });
            self.end_step(step);
        }
        Ok(left)
    }

    /// Holds steps that another run judges, which an agent of a run has begun this one beside.
    fn skip_claimed_elsewhere(&mut self, steps: &[usize]) -> Result<Vec<usize>> {
        let Some(above) = self.context.surroundings.assignment.run.clone() else {
            return Ok(steps.to_vec());
        };
        let (named, mut left) = ([above], Vec::new());
        for step in steps {
            let task = self.slots[*step].task;
            match runs::find_judge(&self.context.surroundings, &named, task)? {
                Some((run, _)) if run != self.recorder.run.id => {
                    let why = format!("{task} is a task of {run}, which judges it");
                    self.inbox.push(Event::Held(*step, why, false));
                }
                _ => left.push(*step),
            }
        }
        Ok(left)
    }

    /// Pins the acceptance criteria of a task for the duration of the run, whatever its agent changes.
    pub(super) fn fix_criteria(&mut self, id: TaskId, criteria: Vec<String>) {
        let fixed = &mut self.context.surroundings.assignment.criteria;
        Arc::make_mut(fixed).insert(id, criteria);
    }

    /// Pins the criteria that a task has now, and keeps those that it had when the run began: an agent of the
    /// run may have removed them.
    fn extend_criteria(&mut self, id: TaskId, mut criteria: Vec<String>) {
        let fixed = self.context.surroundings.assignment.criteria.get(&id);
        for line in fixed.into_iter().flatten() {
            if !criteria.contains(line) {
                criteria.push(line.clone());
            }
        }
        self.fix_criteria(id, criteria);
    }

    fn explain_claim(&mut self, step: usize, error: Error) -> Result<Event> {
        Ok(match error.code {
            Code::StatusRefused if self.is_done(self.slots[step].task)? => {
                self.judge_done_elsewhere(step)?
            }
            Code::StatusRefused | Code::TaskNotFound => Event::Dropped(step, error.message),
            Code::Claimed => {
                let holder = self.find_holding_run(step)?;
                // A run that an agent started does not wait: the other run may be waiting for it.
                let is_under_way = |run: &Run| run.status == RunStatus::Running;
                let is_awaited =
                    self.ambience.depth == 0 && holder.as_ref().is_some_and(is_under_way);
                let slot = &mut self.slots[step];
                if !std::mem::replace(&mut slot.is_waiting, is_awaited) && is_awaited {
                    self.push_waiting_event(step, &error.message);
                }
                Event::Held(step, error.message, is_awaited)
            }
            Code::NotReady => Event::Held(step, error.message, false),
            Code::RowDamaged => Event::Refused(step, error.message),
            _ => return Err(error),
        })
    }

    /// Returns how a task that somebody else has completed counts: without proof it does not.
    pub(super) fn judge_done_elsewhere(&mut self, step: usize) -> Result<Event> {
        let id = self.slots[step].task;
        let trust = Trust::new(&self.context.surroundings, &self.context.workspace);
        let is_unearned = |transaction: &dyn Transaction| is_unearned(transaction, &trust, id);
        if self.context.read(is_unearned)? {
            let why = "it was completed elsewhere without proof, which does not count here";
            return Ok(Event::Overruled(step, why.to_string()));
        }
        let reason = Some("it was done elsewhere".to_string());
        self.push_step_event(step, TaskEvent::Completed { reason });
        Ok(Event::Completed(step))
    }

    fn find_holding_run(&mut self, step: usize) -> Result<Option<Run>> {
        let task = self.slots[step].task;
        let claim = self.context.read(|transaction| transaction.claim(task))?;
        let Some(holder) = claim.and_then(|claim| claim.holder) else {
            return Ok(None);
        };
        let clock = self.context.surroundings.clock;
        liveness::mark_interrupted_runs(&mut self.context.store, &self.context.workspace, &clock)?;
        self.context.read(|transaction| transaction.run(&holder))
    }

    pub(super) fn is_done(&mut self, id: TaskId) -> Result<bool> {
        let status = self.context.read(|transaction| transaction.status(id))?;
        Ok(status == Some(crate::task::Status::Done))
    }

    /// Returns the date of the first attempt of this run at a task. Its output file and entry id are named by
    /// it and stay the same past midnight.
    pub(super) fn first_date(&self, id: TaskId) -> Option<String> {
        let output = self.recorder.track.task(id)?.setup.output_file.as_deref()?;
        let name = output.rsplit('/').next()?;
        let (date, _) = name.split_once('_')?;
        is_date(date).then(|| date.to_string())
    }
}
