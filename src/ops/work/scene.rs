//! The tasks of an epic, or all: the state and the wave of each, and why it cannot start.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, MutexGuard};

use serde::Serialize;

use super::tracks::{Tracks, lock};
use crate::error::Result;
use crate::gate::{Gate, Gates, Record};
use crate::id::TaskId;
use crate::ops::tasks::graph::load;
use crate::ops::trust::{Key as UserKey, Trust, is_verified, open_foreign};
use crate::ops::{Cache, Context};
use crate::run::{Run, RunProjection, StepState, TaskRun};
use crate::store::{Outlines, SpawnRecord, Transaction};
use crate::task::graph::{Node, TaskGraph};
use crate::task::layout::{Layers, layers};
use crate::task::{DisplayStatus, Status, Task};

/// Maximum number of scenes in the cache.
const SCENES_MAX: usize = 8;
/// Maximum number of tasks of all scenes in the cache, unless one scene alone has more.
const SCENE_TASKS_MAX: usize = 50_000;

/// Numbers of tasks by state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StateCounts {
    /// All, without epics and parents.
    pub(crate) total: usize,
    /// Done and verified by cleo.
    pub(crate) verified: usize,
    /// The number for each state.
    #[serde(flatten)]
    pub(crate) states: BTreeMap<&'static str, usize>,
}

/// All tasks of a part of the graph, joined with the last runs that had them.
pub(super) struct Scene {
    pub(super) graph: TaskGraph,
    pub(super) outlines: Outlines,
    pub(super) layers: Layers,
    pub(super) critical: Vec<TaskId>,
    pub(super) in_runs: HashMap<TaskId, TaskRun>,
    pub(super) states: HashMap<TaskId, DisplayStatus>,
    pub(super) verified: HashSet<TaskId>,
    /// The gates of tasks that have some set.
    pub(super) gates: HashMap<TaskId, Gates>,
    pub(super) counts: StateCounts,
}

/// Which part of the graph, and whose runs are joined with it.
type Key = (Option<TaskId>, Option<String>);

/// Scenes as they were read last, with their versions.
#[derive(Default)]
pub(crate) struct Scenes(HashMap<Key, (String, Arc<Scene>)>);

/// A scene and the runs behind it, for one request.
pub(super) struct View<'a> {
    pub(super) transaction: &'a dyn Transaction,
    pub(super) scene: Arc<Scene>,
    /// The last runs over tasks that the caller sees, newest first.
    pub(super) runs: Vec<Run>,
    pub(super) tracks: MutexGuard<'a, Tracks>,
    /// Changes with every change of tasks and every event of runs.
    pub(super) version: String,
    pub(super) now: String,
}

/// Reads the tasks below an epic, or all, and passes them on.
pub(super) fn with_scene<T>(
    context: &mut Context,
    find_epic: impl FnOnce(&dyn Transaction) -> Result<Option<TaskId>>,
    work: impl FnOnce(&View<'_>) -> Result<T>,
) -> Result<T> {
    let (cache, now) = (Arc::clone(&context.cache), context.now());
    let user = context.visible_user();
    let owner = context.surroundings.rights.user.clone();
    let key = Trust::new(&context.surroundings, &context.workspace).read_key();
    context.read(|transaction| {
        let epic = find_epic(transaction)?;
        let mut tracks = lock(&cache.tracks);
        let runs = tracks.update_last(transaction, user.as_deref())?;
        let (changes, events) = (transaction.last_cursor()?, transaction.last_event()?);
        let version = format!("{changes}-{events}");
        let last = find_last_runs(&runs, &tracks);
        let planned = find_planned(&runs, &tracks);
        let read = || Scene::read(transaction, epic, last, &planned, key.as_ref());
        work(&View {
            scene: find_scene(&cache, (epic, owner), &version, read)?,
            transaction,
            runs,
            tracks,
            version,
            now,
        })
    })
}

/// Returns a scene from the cache if nothing has happened since it was read, else reads it.
fn find_scene(
    cache: &Cache,
    key: Key,
    version: &str,
    read: impl FnOnce() -> Result<Scene>,
) -> Result<Arc<Scene>> {
    let mut scenes = lock(&cache.scenes);
    if let Some((known, scene)) = scenes.0.get(&key)
        && known == version
    {
        return Ok(Arc::clone(scene));
    }
    let scene = Arc::new(read()?);
    let sizes = scenes
        .0
        .values()
        .map(|(_, scene)| scene.graph.nodes().len());
    let n_tasks = scene.graph.nodes().len() + sizes.sum::<usize>();
    if scenes.0.len() >= SCENES_MAX || n_tasks > SCENE_TASKS_MAX {
        scenes.0.clear();
    }
    scenes
        .0
        .insert(key, (version.to_string(), Arc::clone(&scene)));
    Ok(scene)
}

impl Scene {
    fn read(
        transaction: &dyn Transaction,
        epic: Option<TaskId>,
        in_runs: HashMap<TaskId, TaskRun>,
        planned: &HashSet<TaskId>,
        key: Option<&UserKey>,
    ) -> Result<Scene> {
        let graph = load(transaction, epic)?;
        let ids = graph.ids();
        let ready: HashSet<TaskId> = graph.ready().collect();
        let spawns = transaction.spawn_verdicts(&ids)?;
        let mut gates = transaction.gates_of(&ids)?;
        for (id, gates) in &mut gates {
            open_foreign(key, *id, gates);
        }
        let mut scene = Scene {
            layers: layers(graph.nodes()),
            critical: graph.critical_path(),
            in_runs,
            states: HashMap::with_capacity(ids.len()),
            verified: HashSet::new(),
            gates,
            counts: StateCounts::default(),
            outlines: transaction.outlines(&ids)?,
            graph,
        };
        for node in scene.graph.nodes() {
            let (id, gates) = (node.id, scene.gates.get(&node.id));
            let is_ready = ready.contains(&id) && !planned.contains(&id);
            let state = display_status(node.status, is_ready, scene.in_runs.get(&id), gates);
            let spawn = spawns.get(&id);
            let is_verified = spawn.is_some_and(|spawn| is_verified(key, spawn));
            if state == DisplayStatus::Done && has_verified_work(spawn, is_verified, gates) {
                scene.verified.insert(id);
            }
            scene.states.insert(id, state);
        }
        scene.counts = scene.count_states();
        Ok(scene)
    }

    /// Returns the tasks without epics and parents, which are shown as groups.
    pub(super) fn tasks(&self) -> impl Iterator<Item = &Node> {
        let nodes = self.graph.nodes().iter();
        nodes.filter(|node| !self.layers.wholes.contains(&node.id))
    }

    pub(super) fn state(&self, id: TaskId) -> DisplayStatus {
        let state = self.states.get(&id);
        state.copied().unwrap_or(DisplayStatus::Waiting)
    }

    /// Returns the state of a task inside or outside of the scene.
    pub(super) fn state_around(
        &self,
        transaction: &dyn Transaction,
        task: &Task,
    ) -> Result<DisplayStatus> {
        match self.states.get(&task.id) {
            Some(state) => Ok(*state),
            None => state_of(transaction, task, self.in_runs.get(&task.id)),
        }
    }

    /// Returns whether a task has one of `states`, or true if there are none.
    pub(super) fn is_at(&self, id: TaskId, states: &[DisplayStatus]) -> bool {
        states.is_empty() || states.contains(&self.state(id))
    }

    fn count_states(&self) -> StateCounts {
        let states = DisplayStatus::ALL.iter().map(|state| (state.word(), 0));
        let mut counted = StateCounts {
            states: crate::build_map(states),
            ..StateCounts::default()
        };
        for node in self.tasks() {
            counted.total += 1;
            counted.verified += usize::from(self.verified.contains(&node.id));
            let state = counted.states.entry(self.state(node.id).word());
            *state.or_default() += 1;
        }
        counted
    }
}

/// Derives the displayed status of a task from its stored status, its state in the last run that had it, and
/// its gates. `is_ready` is the answer of the graph for a pending one.
fn display_status(
    status: Status,
    is_ready: bool,
    in_run: Option<&TaskRun>,
    gates: Option<&Gates>,
) -> DisplayStatus {
    match (status, in_run.map(|task| task.state)) {
        (Status::Done, _) => DisplayStatus::Done,
        (Status::Cancelled, _) => DisplayStatus::Cancelled,
        (_, Some(StepState::Verifying)) => DisplayStatus::Verifying,
        (_, Some(StepState::Running)) | (Status::Active, _) => DisplayStatus::Running,
        (Status::Review, _) => DisplayStatus::Review,
        (Status::Blocked, _) => DisplayStatus::NeedsYou,
        (Status::Paused, _) => DisplayStatus::Paused,
        (Status::Pending, Some(StepState::Failed)) => DisplayStatus::Failed,
        (Status::Pending, _) if gates.and_then(find_failed_gate).is_some() => DisplayStatus::Failed,
        (Status::Pending, _) if is_ready => DisplayStatus::Ready,
        (Status::Pending, _) => DisplayStatus::Waiting,
    }
}

/// Finds for each task the last run that had it. A run that is over says nothing of running tasks.
pub(super) fn find_last_runs(runs: &[Run], tracks: &Tracks) -> HashMap<TaskId, TaskRun> {
    let mut last = HashMap::new();
    for run in runs {
        let tasks = tracks.find(&run.id).map(RunProjection::tasks);
        for task in tasks.unwrap_or_default() {
            let was_there = task.attempts > 0 || task.state.is_undone();
            let is_stale = run.is_over() && task.state.is_under_way();
            if was_there && !is_stale {
                last.entry(task.planned.task_id)
                    .or_insert_with(|| task.clone());
            }
        }
    }
    last
}

/// Finds the tasks that a live run is going to begin.
fn find_planned(runs: &[Run], tracks: &Tracks) -> HashSet<TaskId> {
    let live = runs.iter().filter(|run| !run.is_over());
    let tasks = live.flat_map(|run| {
        tracks
            .find(&run.id)
            .map(RunProjection::tasks)
            .unwrap_or_default()
    });
    let waiting = tasks.filter(|task| task.state == StepState::Waiting);
    waiting.map(|task| task.planned.task_id).collect()
}

/// Reads the last runs over tasks that the caller sees, and passes them on with their tracks.
pub(super) fn with_last_runs<T>(
    context: &mut Context,
    work: impl FnOnce(&dyn Transaction, &[Run], &Tracks) -> Result<T>,
) -> Result<T> {
    let cache = Arc::clone(&context.cache);
    let user = context.visible_user();
    context.read(|transaction| {
        let mut tracks = lock(&cache.tracks);
        let runs = tracks.update_last(transaction, user.as_deref())?;
        work(transaction, &runs, &tracks)
    })
}

/// Counts the tasks that can start and neither failed in their last run nor are planned in a live one.
pub(crate) fn count_ready(context: &mut Context) -> Result<u64> {
    with_last_runs(context, |transaction, runs, tracks| {
        let mut held = find_planned(runs, tracks);
        let last = find_last_runs(runs, tracks).into_iter();
        let failed = last.filter(|(_, task)| task.state == StepState::Failed);
        held.extend(failed.map(|(id, _)| id));
        let mut total = transaction.ready(None, Some(1))?.total;
        for id in held {
            total = total.saturating_sub(transaction.is_ready(id)?.into());
        }
        Ok(total)
    })
}

/// Returns the state of one task as its scene would, without reading the tasks around it.
pub(super) fn state_of(
    transaction: &dyn Transaction,
    task: &Task,
    in_run: Option<&TaskRun>,
) -> Result<DisplayStatus> {
    let gates = transaction.gates_of(&[task.id])?.remove(&task.id);
    let is_ready = transaction.is_ready(task.id)?;
    let gates = gates.as_ref();
    Ok(display_status(task.status, is_ready, in_run, gates))
}

/// Finds a gate that did not pass when it was set last.
pub(super) fn find_failed_gate(gates: &Gates) -> Option<Gate> {
    let failed = gates.gates.iter().find(|(_, record)| !record.passed);
    failed.map(|(gate, _)| *gate)
}

/// Returns whether cleo itself verified a task that is done: the output of its agent, or by commands its criteria or all
/// gates that it requires. A forced task is not verified, nor is one whose gates somebody only said to hold.
fn has_verified_work(spawn: Option<&SpawnRecord>, by_spawn: bool, gates: Option<&Gates>) -> bool {
    let forced = gates.is_some_and(|gates| gates.forced.is_some())
        || spawn.is_some_and(|spawn| spawn.forced.is_some());
    let by_gates = gates.is_some_and(|gates| {
        let by_criteria = gates.criteria.values().any(Record::is_proven);
        by_criteria || gates.has_proof() && gates.open().is_empty()
    });
    !forced && (by_spawn || by_gates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_counts_before_failure() {
        use DisplayStatus as Shown;
        use StepState::{Failed, Running, Verifying};
        let rows = [
            (Status::Done, Some(Running), true, Shown::Done),
            (Status::Cancelled, Some(Failed), true, Shown::Cancelled),
            (Status::Active, None, false, Shown::Running),
            (Status::Active, Some(Verifying), false, Shown::Verifying),
            (Status::Active, Some(Failed), false, Shown::Running),
            (Status::Pending, Some(Failed), true, Shown::Failed),
            (Status::Blocked, Some(Failed), false, Shown::NeedsYou),
            (Status::Paused, None, false, Shown::Paused),
            (Status::Review, None, false, Shown::Review),
            (Status::Pending, None, true, Shown::Ready),
            (Status::Pending, None, false, Shown::Waiting),
        ];
        for (status, step, is_ready, expected) in rows {
            let in_run = step.map(|state| TaskRun {
                state,
                ..TaskRun::default()
            });
            let shown = display_status(status, is_ready, in_run.as_ref(), None);
            assert_eq!(shown, expected, "{status} {step:?}");
        }
    }
}
