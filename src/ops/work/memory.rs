//! What is remembered between two looks, so that a look costs what has changed and not what there is:
//! runs as far as their events were read, and where all tasks stand. All of it can be forgotten at any
//! time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::scene::Scene;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::Context;
use crate::run::RunProjection;
use crate::run::{Event, Run, RunKind};
use crate::store::records::RunFilter;
use crate::store::{Store, Transaction};

/// How many of the last runs over tasks are looked at, of each kind.
const RUNS_MAX: u32 = 20;
/// How many runs are remembered.
const TRACKS_MAX: usize = 64;
/// How many events are read at a time.
const PAGE: u32 = 1_000;
/// Most scenes that are remembered; all are forgotten before another one would be too much.
const SCENES_MAX: usize = 8;
/// Most tasks that they have together, unless one alone has more.
const SCENE_TASKS_MAX: usize = 50_000;

#[derive(Default)]
pub(crate) struct Memory {
    tracks: HashMap<String, RunProjection>,
    /// What is below an epic, or everything.
    scenes: HashMap<Option<TaskId>, (Version, Arc<Scene>)>,
}

/// Tells when a scene is the same: it is made of nothing else.
#[derive(PartialEq)]
struct Version {
    /// Cursor of the last change of all tasks.
    changes: u64,
    /// The runs that tell of tasks, how far each was read, and whether it is over.
    runs: Vec<(String, u64, bool)>,
}

/// Locks the memory, also after a panic: all that it holds can be read anew.
pub(crate) fn lock(memory: &Mutex<Memory>) -> MutexGuard<'_, Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Memory {
    /// Brings the track of a run up to what the store holds, and returns it. `read` are events of it that were
    /// read already, from the first.
    pub(crate) fn track(
        &mut self,
        transaction: &dyn Transaction,
        run: &str,
        read: &[Event],
    ) -> Result<&RunProjection> {
        self.make_room(&[run]);
        let track = self.tracks.entry(run.to_string()).or_default();
        track.take(read);
        loop {
            let events = transaction.events(Some(run), track.cursor, PAGE)?;
            track.take(&events);
            if events.len() < PAGE as usize {
                return Ok(track);
            }
        }
    }

    /// Forgets tracks when those that are wanted would be too many with them.
    fn make_room(&mut self, wanted: &[&str]) {
        let is_new = |run: &&&str| !self.tracks.contains_key(**run);
        if self.tracks.len() + wanted.iter().filter(is_new).count() > TRACKS_MAX {
            self.tracks.retain(|run, _| wanted.contains(&run.as_str()));
        }
    }

    /// Returns the track of a run as it was brought up last.
    pub(super) fn find_track(&self, run: &str) -> Option<&RunProjection> {
        self.tracks.get(run)
    }

    /// Reads the last runs over tasks that the caller sees, newest first, and brings their tracks up; also the
    /// cursor of the last event of all.
    pub(super) fn runs(&mut self, context: &mut Context) -> Result<(Vec<Run>, u64)> {
        let user = context.surroundings.rights.user.clone();
        let transaction = context.store.read()?;
        let mut runs = Vec::new();
        for kind in [RunKind::Epic, RunKind::Tasks] {
            let filter = RunFilter {
                kind: Some(kind),
                limit: RUNS_MAX,
                ..RunFilter::default()
            };
            runs.extend(transaction.runs(user.as_deref(), &filter)?.runs);
        }
        runs.sort_by(|a, b| (&b.started_at, &b.id).cmp(&(&a.started_at, &a.id)));
        let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
        self.make_room(&ids);
        for run in &runs {
            self.track(&*transaction, &run.id, &[])?;
        }
        Ok((runs, transaction.last_event()?))
    }

    /// Returns where all tasks below an epic stand, or all there are: as it was read last, as long as
    /// nothing has happened since.
    pub(super) fn scene(
        &mut self,
        transaction: &dyn Transaction,
        epic: Option<TaskId>,
        runs: &[Run],
    ) -> Result<Arc<Scene>> {
        let version = self.version(transaction.last_cursor()?, runs);
        if let Some((known, scene)) = self.scenes.get(&epic)
            && *known == version
        {
            return Ok(Arc::clone(scene));
        }
        let scene = Arc::new(Scene::read(transaction, epic, runs, self)?);
        let sizes = self.scenes.values().map(|(_, kept)| kept.size());
        let n_tasks = scene.size() + sizes.sum::<usize>();
        if self.scenes.len() >= SCENES_MAX || n_tasks > SCENE_TASKS_MAX {
            self.scenes.clear();
        }
        self.scenes.insert(epic, (version, Arc::clone(&scene)));
        Ok(scene)
    }

    fn version(&self, changes: u64, runs: &[Run]) -> Version {
        let read = |run: &str| self.find_track(run).map_or(0, |track| track.cursor);
        let told = |run: &Run| (run.id.clone(), read(&run.id), run.is_over());
        Version {
            changes,
            runs: runs.iter().map(told).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_are_wanted_are_not_forgotten_for_each_other() {
        let mut memory = Memory::default();
        let names: Vec<String> = (0..TRACKS_MAX + 20)
            .map(|run| format!("run_{run}"))
            .collect();
        for name in &names[..TRACKS_MAX] {
            memory.tracks.insert(name.clone(), RunProjection::default());
        }
        let wanted: Vec<&str> = names[40..].iter().map(String::as_str).collect();
        memory.make_room(&wanted);
        for name in &wanted {
            memory.make_room(&[name]);
            memory
                .tracks
                .insert(name.to_string(), RunProjection::default());
        }
        assert!(wanted.iter().all(|run| memory.find_track(run).is_some()));
        assert!(memory.tracks.len() <= TRACKS_MAX);
    }
}
