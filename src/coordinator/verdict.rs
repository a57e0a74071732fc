//! Verifies ended attempts: the task is completed, or its violations are reported. Of the agent's words only
//! the form of its last message counts, and only against it.

use super::attempt::is_loss;
use super::engine::Engine;
use super::prompt;
use super::scheduler::Event;
use crate::error::{Code, Error, Result};
use crate::manifest::entry::Status as EntryStatus;
use crate::ops::proof::{self, Undone, Verdict, check, find_undone};
use crate::ops::tasks::claim;
use crate::run::{Outcome, TaskEvent};
use crate::runner::signals;

impl Engine<'_> {
    pub(super) fn end_step(&mut self, step: usize) {
        (self.slots[step].said, self.slots[step].prompt) = (None, None);
        self.inbox.push(Event::Completed(step));
    }

    /// Handles a step whose work does not verify: its task stays open or is opened again, and the scheduler decides.
    pub(super) fn reject_step(&mut self, step: usize, mut lacking: Verdict) -> Result<()> {
        if let Some(fault) = lacking.faults.iter().find(|fault| is_loss(fault)) {
            self.inbox.push(Event::Lost(step, fault.message.clone()));
            return Ok(());
        }
        if stops_before_proof(&lacking) {
            self.inbox.push(Event::Left(step));
            return Ok(());
        }
        let is_overruled = self.is_overruled(step, &lacking)?;
        if let Some(forced) = &lacking.forced {
            let task = self.slots[step].task;
            let by = &forced.by;
            let message =
                format!("{task} was completed by force by {by}, which does not count here");
            let error = Error::new(Code::NotVerified, message);
            let error = error.fix(format!("cleo verify output {task}"));
            lacking.faults.insert(0, error);
        }
        let (outcome, violations) = self.judge_attempt(step, &lacking);
        let why = violations.first().cloned().unwrap_or_default();
        let failed = TaskEvent::VerificationFailed {
            outcome: Some(outcome),
            violations,
            branch: None,
        };
        self.push_step_event(step, failed);
        self.inbox.push(match is_overruled {
            true => Event::Overruled(step, why),
            false => Event::Lacking(step, outcome, why),
        });
        Ok(())
    }

    /// Reopens a task that was made done without proof. A task that somebody completed by force stays done, for which
    /// true is returned.
    fn is_overruled(&mut self, step: usize, lacking: &Verdict) -> Result<bool> {
        let task = self.slots[step].task;
        if self.slots[step].epoch.is_none() || !self.is_done(task)? {
            return Ok(false);
        }
        let gates = self.context.read(|transaction| transaction.gates(task))?;
        if lacking.forced.is_some() || gates.forced.is_some() {
            return Ok(true);
        }
        let claim = claim::take_back(&mut self.context, task, self.options.lease())?;
        self.slots[step].epoch = Some(claim.epoch);
        Ok(false)
    }

    /// Returns the outcome of an attempt that does not verify: the status of its entry, else how the program
    /// exited, else a failed check or a protocol violation, which a forced
    /// completion always is.
    fn judge_attempt(&mut self, step: usize, lacking: &Verdict) -> (Outcome, Vec<String>) {
        let said = self.slots[step].said.take().unwrap_or_default();
        let outcome = match (lacking.entry(), said.outcome) {
            _ if lacking.is_cut_short() => Outcome::Cancelled,
            _ if lacking.forced.is_some() => Outcome::ProtocolViolation,
            (Some(EntryStatus::Blocked), _) => Outcome::Blocked,
            (_, Some(outcome)) if outcome != Outcome::Ok => outcome,
            (Some(EntryStatus::Partial), _) => Outcome::Partial,
            _ if !said.denied_tools.is_empty() => Outcome::Permission,
            _ if lacking.is_failed_check() => Outcome::CheckFailed,
            _ => Outcome::ProtocolViolation,
        };
        let reason = match outcome {
            Outcome::CheckFailed | Outcome::ProtocolViolation => None,
            Outcome::Permission => Some(format!(
                "it was not allowed: {}",
                said.denied_tools.join(", ")
            )),
            _ => said.reason,
        };
        let faults = lacking.faults.iter().map(prompt::describe);
        (outcome, reason.into_iter().chain(faults).collect())
    }

    pub(super) fn reject_for_objections(&mut self, step: usize) -> Result<()> {
        let (task, epoch) = (self.slots[step].task, self.slots[step].epoch);
        let lease = self.options.lease();
        // The current holder of the task decides, as when it is completed.
        if epoch.is_some()
            && let Err(error) = claim::heartbeat(&mut self.context, task, lease, epoch, false)
            && !self.is_done(task)?
        {
            return self.reject_step(step, error.into());
        }
        let lacking = self.check_step(step)?;
        self.reject_step(step, lacking)
    }

    pub(super) fn check_step(&mut self, step: usize) -> Result<Verdict> {
        let (task, epoch) = (self.slots[step].task, self.slots[step].epoch);
        let mut lacking = match self.slots[step].tree.clone() {
            Some(tree) => self.check_in_tree(&tree, task, epoch)?,
            None => check(&mut self.context, task, epoch, false)?,
        };
        lacking.faults.extend(self.objections(step));
        Ok(lacking)
    }

    /// Reverifies tasks that this run has completed and that changed since, such as by the agent of a later
    /// task. Tasks that fail are released; reopened ones stay as they are.
    pub(super) fn recheck_completed(&mut self) -> Result<()> {
        let tasks = self.recorder.track.tasks().iter();
        let done =
            tasks.filter(|task| task.is_done() && task.attempts > 0 && !task.planned.is_epic);
        let done: Vec<_> = done
            .map(|task| (task.planned.task_id, task.setup.epoch))
            .collect();
        for (id, how) in find_undone(&mut self.context, &done)? {
            let (outcome, why) = match how {
                Undone::Open(status) => {
                    let why = format!("it was reopened and is {status}");
                    (Outcome::Cancelled, why)
                }
                Undone::Broken(fault) => {
                    let claim = claim::take_back(&mut self.context, id, self.options.lease())?;
                    claim::release(&mut self.context, id, Some(claim.epoch), false)?;
                    (Outcome::ProtocolViolation, prompt::describe(&fault))
                }
            };
            let Some(step) = self.recorder.track.position(id) else {
                continue;
            };
            let reason = format!("it was done, and was undone later: {why}");
            let lacking = TaskEvent::VerificationFailed {
                outcome: Some(outcome),
                violations: vec![why],
                branch: None,
            };
            self.push_step_event(step, lacking);
            let failed = TaskEvent::Failed {
                outcome: Some(outcome),
                reason: Some(reason),
            };
            self.push_step_event(step, failed);
        }
        Ok(())
    }

    /// Returns what speaks against a step whatever its agent left: commands that were not run to their end,
    /// and the form of its last message.
    pub(super) fn objections(&self, step: usize) -> Vec<Error> {
        let unproven = self.slots[step].unproven.clone();
        let words = self.check_last_words(step);
        unproven.into_iter().chain(words).collect()
    }

    /// Checks the last message of the last agent that exited by itself. Where a program reports every message and
    /// reported none, it is empty. A wrong one stays wrong until an agent ends with another one.
    pub(super) fn check_last_words(&self, step: usize) -> Option<Error> {
        let task = self.recorder.track.task(self.slots[step].task)?;
        let worker = self.slots[step].worker.as_ref()?;
        let is_heard = worker.runner.has_conversations();
        let words = task.message.as_deref().or(is_heard.then_some(""));
        let words = words.filter(|_| task.ended == Some(Outcome::Ok))?;
        let found = proof::message(words.trim());
        let error = found.report.error("the last message of its agent")?;
        let nearest = found.nearest.unwrap_or_default();
        Some(error.did_you_mean(&nearest))
    }
}

/// Returns whether cleo was asked to end before it could be proven: then it is proven when the run resumes.
pub(super) fn stops_before_proof(lacking: &Verdict) -> bool {
    let is_unproven = lacking.forced.is_none() && lacking.lacks_only_proof();
    (lacking.is_cut_short() || is_unproven) && signals::pending_signal().is_some()
}
