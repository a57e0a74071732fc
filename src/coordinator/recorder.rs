//! Events of a run on their way: committed to the store, written to the file of the run, applied to its track and
//! shown to the caller. Events come before the actions that they describe; a task is completed in the transaction that
//! records it.

use std::time::Instant;

use super::Listener;
use super::slot::Slot;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::proof::{Completion, complete_with_parts};
use crate::ops::runs::journal::Journal;
use crate::run::{Event, Run, RunEvent, RunProjection, TaskEvent};
use crate::store::{Store, Transaction};

pub(super) struct Recorder<'a> {
    pub(super) run: Run,
    pub(super) track: RunProjection,
    pub(super) journal: Journal,
    /// Events that are not committed yet.
    pub(super) pending: Vec<RunEvent>,
    pub(super) listener: &'a mut dyn Listener,
    /// When the store was last asked for requests of other processes.
    pub(super) looked: Instant,
}

impl Recorder<'_> {
    pub(super) fn push(&mut self, event: RunEvent) {
        self.pending.push(event);
    }

    pub(super) fn commit(&mut self, store: &mut dyn Store) -> Result<()> {
        match self.pending.is_empty() {
            true => Ok(()),
            false => self.commit_with(store, |_| Ok(())),
        }
    }

    pub(super) fn commit_run(&mut self, store: &mut dyn Store) -> Result<()> {
        let run = self.run.clone();
        self.commit_with(store, |transaction| transaction.put_run(&run))
    }

    fn commit_with(
        &mut self,
        store: &mut dyn Store,
        more: impl FnOnce(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        let pending = &self.pending;
        let stored = self.journal.commit_events(store, |journal, transaction| {
            more(transaction)?;
            let mut all = pending.iter();
            all.try_for_each(|event| journal.add_event(transaction, event))
        })?;
        self.apply_stored(&stored);
        Ok(())
    }

    fn apply_stored(&mut self, stored: &[Event]) {
        for (stored, event) in stored.iter().zip(self.pending.drain(..)) {
            self.track.apply(&stored.at, Some(&event));
        }
        self.listener.on_events(stored, &self.track);
    }

    /// Completes a task, and before it the parts of it, and commits the pending events and its own in the same
    /// transaction; of one that was merged also by which commit.
    pub(super) fn complete(
        &mut self,
        context: &mut Context,
        slot: &Slot,
        tasks: &[(TaskId, Option<u32>)],
        merged: Option<Option<String>>,
    ) -> Result<Completion> {
        let is_merged = merged.is_some();
        let merged = merged.map(|commit| TaskEvent::Merged { commit });
        let own = merged
            .into_iter()
            .chain([TaskEvent::Completed { reason: None }]);
        let own = Vec::from_iter(own.map(|event| slot.event(event)));
        let (journal, pending) = (&mut self.journal, &self.pending);
        let mut record = |transaction: &mut dyn Transaction| {
            journal.refuse_lost(transaction)?;
            let mut events = pending.iter().chain(&own);
            events.try_for_each(|event| journal.add_event(transaction, event))
        };
        let done = complete_with_parts(context, tasks, is_merged, &mut record);
        let stored = self.journal.take_new();
        if matches!(done, Ok(Ok(()))) {
            self.pending.extend(own);
            self.apply_stored(&stored);
        }
        done
    }
}
