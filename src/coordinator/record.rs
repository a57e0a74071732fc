//! Events of a run: what the scheduler has decided is told before it is carried out, and a task that is completed in
//! the transaction that completes it.

use super::engine::Engine;
use super::machine::{Action, Stop};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::proof::Record;
use crate::ops::runs::journal::Journal;
use crate::run::{Event, RunEvent, TaskEvent};
use crate::store::Transaction;

impl Engine<'_> {
    pub(super) fn announce(&mut self, action: &Action) {
        match action {
            Action::Start(step) => self.announce_start(*step),
            Action::Wait(step, wait) => {
                let waiting = TaskEvent::Waiting {
                    reason: None,
                    wait_ms: u64::try_from(wait.as_millis()).ok(),
                };
                self.tell_step(*step, waiting);
            }
            Action::Fail(step, outcome, why) => {
                let failed = TaskEvent::Failed {
                    outcome: Some(*outcome),
                    reason: Some(why.clone()),
                };
                self.tell_step(*step, failed);
            }
            Action::Skip(step, because, why) => {
                let skipped = TaskEvent::Skipped {
                    reason: Some(why.clone()),
                    caused_by: because.map(|step| self.tasks[step]),
                };
                self.tell(skipped.for_task(self.tasks[*step]));
            }
            Action::Halt(stop) => {
                let reason = match stop {
                    Stop::Cancelled => "it was cancelled",
                    Stop::Interrupted => "cleo was asked to end",
                    Stop::TimeLimit => "it took too long",
                };
                let reason = reason.to_string();
                self.tell(RunEvent::Stopping { reason });
            }
            Action::Claim(_)
            | Action::Check(_)
            | Action::Complete(_)
            | Action::Repair(_)
            | Action::End(_) => {}
        }
    }

    pub(super) fn tell_step(&mut self, step: usize, event: TaskEvent) {
        self.tell(RunEvent::Task {
            task_id: self.tasks[step],
            attempt: Some(self.slots[step].attempt).filter(|attempt| *attempt > 0),
            event,
        });
    }

    pub(super) fn tell_waiting(&mut self, step: usize, reason: &str) {
        let waiting = TaskEvent::Waiting {
            reason: Some(reason.to_string()),
            wait_ms: None,
        };
        self.tell_step(step, waiting);
    }

    pub(super) fn tell(&mut self, event: RunEvent) {
        self.pending.push(event);
    }

    pub(super) fn keep(&mut self) -> Result<()> {
        match self.pending.is_empty() {
            true => Ok(()),
            false => self.keep_with(|_| Ok(())),
        }
    }

    pub(super) fn keep_run(&mut self) -> Result<()> {
        let run = self.run.clone();
        self.keep_with(|transaction| transaction.put_run(&run))
    }

    fn keep_with(&mut self, more: impl FnOnce(&mut dyn Transaction) -> Result<()>) -> Result<()> {
        let pending = std::mem::take(&mut self.pending);
        let record = |journal: &mut Journal, transaction: &mut dyn Transaction| {
            more(transaction)?;
            let mut all = pending.iter();
            all.try_for_each(|event| journal.add_event(transaction, event))
        };
        let events = self.journal.record(&mut self.context.store, record)?;
        self.follow(&events, &pending);
        Ok(())
    }

    fn follow(&mut self, stored: &[Event], events: &[RunEvent]) {
        for (stored, event) in stored.iter().zip(events) {
            self.track.apply(&stored.at, Some(event));
        }
        self.listener.tell(stored, &self.track);
    }

    /// Completes tasks and tells it in one transaction, and before each, if it was merged, by which commit.
    pub(super) fn record_completion<T>(
        &mut self,
        merged: Option<Option<String>>,
        complete: impl FnOnce(&mut Context, &mut Record<'_>) -> Result<T>,
    ) -> Result<T> {
        self.keep()?;
        let (journal, slots, places) = (&mut self.journal, &self.slots, &self.places);
        let merged = merged.map(|commit| TaskEvent::Merged { commit });
        let mut events = Vec::new();
        let mut record = |transaction: &mut dyn Transaction, task_id: TaskId| {
            let attempt = slots[places[&task_id]].attempt;
            let completed = TaskEvent::Completed { reason: None };
            for event in merged.clone().into_iter().chain([completed]) {
                let event = RunEvent::Task {
                    task_id,
                    attempt: Some(attempt).filter(|attempt| *attempt > 0),
                    event,
                };
                journal.add_event(transaction, &event)?;
                events.push(event);
            }
            Ok(())
        };
        let done = complete(&mut self.context, &mut record);
        if done.is_err() {
            self.journal.discard();
        } else {
            let stored = self.journal.flush()?;
            self.follow(&stored, &events);
        }
        done
    }
}
