//! What is remembered between two looks, so that a look costs what has changed and not what there is:
//! runs as far as their events were read, and where things stood in pictures. All of it can be
//! forgotten at any time.

use std::collections::HashMap;

use crate::error::Result;
use crate::id::TaskId;
use crate::run::track::Track;
use crate::run::{Run, RunKind};
use crate::store::agency::{Agency, AgencyTransaction, RunFilter};
use crate::store::sqlite::SqliteAgency;
use crate::task::layout::Places;

/// How many of the last runs over tasks are looked at, of each kind.
const RUNS_MAX: u32 = 20;
/// How many runs are remembered.
const TRACKS_MAX: usize = 64;
/// Of how many pictures it is remembered where things stood.
const PICTURES_MAX: usize = 64;
/// How many events are read at a time.
const PAGE: u32 = 1_000;

/// What is remembered.
#[derive(Default)]
pub struct Memory {
    tracks: HashMap<String, Track>,
    pictures: HashMap<Option<TaskId>, Places>,
}

/// A run over tasks, with its track in the memory.
pub(super) struct Watched {
    pub(super) run: Run,
}

impl Memory {
    /// Brings the track of a run up to what the store holds, and returns it.
    pub fn track(&mut self, transaction: &dyn AgencyTransaction, run: &str) -> Result<&Track> {
        if self.tracks.len() >= TRACKS_MAX && !self.tracks.contains_key(run) {
            self.tracks.clear();
        }
        let track = self.tracks.entry(run.to_string()).or_default();
        loop {
            let events = transaction.events(Some(run), track.cursor, PAGE)?;
            track.take(&events);
            if events.len() < PAGE as usize {
                return Ok(track);
            }
        }
    }

    /// Returns the track of a run as it was brought up last.
    pub(super) fn known(&self, run: &str) -> Option<&Track> {
        self.tracks.get(run)
    }

    /// Reads the last runs over tasks of a user, or of everybody, newest first, and brings their
    /// tracks up; also the cursor of the last event of all.
    pub(super) fn runs(
        &mut self,
        agency: Option<&mut SqliteAgency>,
        user: Option<&str>,
    ) -> Result<(Vec<Watched>, u64)> {
        let Some(agency) = agency else {
            return Ok((Vec::new(), 0));
        };
        let transaction = agency.read()?;
        let mut runs = Vec::new();
        for kind in [RunKind::Epic, RunKind::Tasks] {
            let filter = RunFilter {
                user: user.map(String::from),
                kind: Some(kind),
                limit: RUNS_MAX,
                ..RunFilter::default()
            };
            runs.extend(transaction.runs(&filter)?.runs);
        }
        runs.sort_by(|a, b| (&b.started_at, &b.id).cmp(&(&a.started_at, &a.id)));
        for run in &runs {
            self.track(&*transaction, &run.id)?;
        }
        let watched = runs.into_iter().map(|run| Watched { run }).collect();
        Ok((watched, transaction.last_event()?))
    }

    /// Returns where things stood in the picture of an epic, or of all.
    pub(super) fn places(&mut self, epic: Option<TaskId>) -> &mut Places {
        if self.pictures.len() >= PICTURES_MAX && !self.pictures.contains_key(&epic) {
            self.pictures.clear();
        }
        self.pictures.entry(epic).or_default()
    }
}
