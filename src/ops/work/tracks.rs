//! The tracks of runs as far as their events were read: reading one again costs only the new events.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Result;
use crate::run::{Event, Run, RunKind, RunProjection};
use crate::store::Transaction;
use crate::store::records::RunFilter;

/// Maximum number of tracks in the cache.
const TRACKS_MAX: usize = 64;
/// Maximum number of the last runs over tasks that are read, of each kind.
const RUNS_MAX: u32 = 20;
/// Number of events that are read at a time.
const PAGE: u32 = 1_000;

#[derive(Default)]
pub(crate) struct Tracks(HashMap<String, RunProjection>);

/// Locks a cache, also after a panic: its content can be read again.
pub(crate) fn lock<T>(cache: &Mutex<T>) -> MutexGuard<'_, T> {
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tracks {
    /// Reads the new events of a run and returns its track. `read` are its first events, if the caller has them.
    pub(crate) fn update(
        &mut self,
        transaction: &dyn Transaction,
        run: &str,
        read: &[Event],
    ) -> Result<&RunProjection> {
        if self.0.len() >= TRACKS_MAX && !self.0.contains_key(run) {
            self.0.clear();
        }
        let track = self.0.entry(run.to_string()).or_default();
        track.apply_new(read);
        loop {
            let events = transaction.events(Some(run), track.cursor, PAGE)?;
            track.apply_new(&events);
            if events.len() < PAGE as usize {
                return Ok(track);
            }
        }
    }

    /// Returns the track of a run as of its last update.
    pub(crate) fn find(&self, run: &str) -> Option<&RunProjection> {
        self.0.get(run)
    }

    /// Updates the last runs over tasks that a user sees, and returns them, newest first.
    pub(crate) fn update_last(
        &mut self,
        transaction: &dyn Transaction,
        user: Option<&str>,
    ) -> Result<Vec<Run>> {
        let mut runs = Vec::new();
        for kind in [RunKind::Epic, RunKind::Tasks] {
            let filter = RunFilter {
                kind: Some(kind),
                limit: RUNS_MAX,
                ..RunFilter::default()
            };
            runs.extend(transaction.runs(user, &filter)?.runs);
        }
        runs.sort_by(|a, b| (&b.started_at, &b.id).cmp(&(&a.started_at, &a.id)));
        // Leaves room for all of these, so that no update removes another one of them.
        if self.0.len() + runs.len() > TRACKS_MAX {
            self.0.retain(|id, _| runs.iter().any(|run| run.id == *id));
        }
        for run in &runs {
            self.update(transaction, &run.id, &[])?;
        }
        Ok(runs)
    }
}
