//! Queues actions that touch the files of the repository until it is this run's turn, because other processes
//! have runs in it too; the rest of the run continues.

use std::time::{Duration, Instant};

use super::engine::Engine;
use super::prompt;
use super::scheduler::{Action, Ended, Event};
use super::trees::LOCK_TIMEOUT;
use crate::error::{Error, Result};
use crate::run::Outcome;

const LOCK_TIMEOUT_AT_END: Duration = Duration::from_secs(5);
const OTHER_RUN: &str = "another run is changing the files of this repository";

#[derive(Default)]
pub(super) struct Queue {
    due: Vec<Action>,
    /// Since when another run has the lock.
    since: Option<Instant>,
}

impl Engine<'_> {
    /// Performs an action, or queues it for the turn of this run if it touches the files of the repository.
    pub(super) fn perform_or_queue(&mut self, action: Action) -> Result<()> {
        match &action {
            Action::End(step) => self.drop_starts(Some(*step)),
            Action::Halt => self.drop_starts(None),
            _ => {}
        }
        let Some(step) = self.find_merging_step(&action) else {
            return self.perform(action);
        };
        if self.queue.since.is_some() {
            self.push_waiting_event(step, OTHER_RUN);
        }
        self.queue.due.push(action);
        Ok(())
    }

    fn find_merging_step(&self, action: &Action) -> Option<usize> {
        self.trees.as_ref()?;
        let tree = |step: usize| self.slots[step].tree.as_ref();
        match action {
            // An agent may have removed the one that it had.
            Action::Start(step) => {
                Some(*step).filter(|step| tree(*step).is_none_or(|tree| !tree.is_there()))
            }
            Action::Fail(step, ..) => Some(*step).filter(|step| tree(*step).is_some()),
            Action::Complete(step) => Some(*step),
            // They may wait for the files of a task that is given back first.
            Action::Claim(steps) => {
                let is_failed = |action: &Action| matches!(action, Action::Fail(..));
                let waits = self.queue.due.iter().any(is_failed);
                steps.first().copied().filter(|_| waits)
            }
            _ => None,
        }
    }

    pub(super) fn is_due(&self) -> bool {
        !self.queue.due.is_empty()
    }

    /// Performs what is queued once it is the turn of this run, and tells once that it has to wait.
    pub(super) fn run_queue(&mut self) -> Result<()> {
        let Some(trees) = self.trees.as_ref().filter(|_| self.is_due()) else {
            self.queue.since = None;
            return Ok(());
        };
        let timeout = match self.scheduler.stop() {
            Some(_) => LOCK_TIMEOUT_AT_END,
            None => LOCK_TIMEOUT,
        };
        match trees.try_lock() {
            Ok(Some(_lock)) => {
                self.queue.since = None;
                let due = std::mem::take(&mut self.queue.due);
                due.into_iter().try_for_each(|action| self.perform(action))
            }
            Ok(None) => match self.queue.since {
                Some(since) if since.elapsed() >= timeout => {
                    self.refuse_queued(&trees.refuse_lock())
                }
                Some(_) => Ok(()),
                None => {
                    self.queue.since = Some(Instant::now());
                    let steps = self
                        .queue
                        .due
                        .iter()
                        .filter_map(|due| self.find_merging_step(due));
                    for step in Vec::from_iter(steps) {
                        self.push_waiting_event(step, OTHER_RUN);
                    }
                    Ok(())
                }
            },
            Err(error) => self.refuse_queued(&error),
        }
    }

    fn drop_starts(&mut self, only: Option<usize>) {
        let is_off = |action: &mut Action| match action {
            Action::Start(step) => only.is_none_or(|only| only == *step),
            _ => false,
        };
        for action in self.queue.due.extract_if(.., is_off) {
            if let Action::Start(step) = action {
                let ended = Ended {
                    outcome: Some(Outcome::Cancelled),
                    cost: Some(0.0),
                    ..Ended::default()
                };
                self.inbox.push(Event::Ended(step, ended));
            }
        }
    }

    fn refuse_queued(&mut self, error: &Error) -> Result<()> {
        self.queue.since = None;
        for action in std::mem::take(&mut self.queue.due) {
            match action {
                Action::Start(step) => self.refuse_start(step, error),
                Action::Complete(step) => {
                    self.fail_unmergeable(step, None, prompt::describe(error))
                }
                Action::Fail(step, ..) => {
                    self.retain_worktree(step, error);
                    self.release_task(step)?;
                }
                Action::Claim(steps) => self.claim(&steps)?,
                _ => {}
            }
        }
        Ok(())
    }
}
