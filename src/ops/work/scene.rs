//! All tasks of an epic, or all there are: where each stands, in which wave, and what holds it up.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use super::memory::Memory;
use crate::error::Result;
use crate::gate::Gates;
use crate::id::TaskId;
use crate::ops::tasks::graph::load;
use crate::run::Run;
use crate::run::track::{TaskRun, TaskState, Track};
use crate::store::{Outlines, SpawnVerdict, Transaction};
use crate::task::graph::{Node, TaskGraph};
use crate::task::layout::{Layers, layers};
use crate::task::{InRun, State, Status, Task, state};

/// Numbers of tasks by where they stand.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Counted {
    /// All, without epics and parents.
    pub(crate) total: usize,
    /// Done, and cleo itself looked at it.
    pub(crate) verified: usize,
    /// How many stand where; every word is there. What failed and can be tried again is counted as
    /// ready too, as everywhere else.
    #[serde(flatten)]
    pub(crate) states: BTreeMap<&'static str, usize>,
}

/// Says that nothing stands anywhere.
pub(crate) fn states() -> BTreeMap<&'static str, usize> {
    crate::build_map(State::ALL.iter().map(|state| (state.word(), 0)))
}

/// Everything that is known of all tasks of a part of the graph.
pub(super) struct Scene {
    pub(super) graph: TaskGraph,
    pub(super) outlines: Outlines,
    pub(super) layers: Layers,
    pub(super) critical: Vec<TaskId>,
    /// What the last run that had a task made of it.
    pub(super) in_runs: HashMap<TaskId, TaskRun>,
    pub(super) states: HashMap<TaskId, State>,
    /// What can start now, also after a try that failed.
    ready: HashSet<TaskId>,
    pub(super) verified: HashSet<TaskId>,
    /// The gates of those that have some set.
    pub(super) gates: HashMap<TaskId, Gates>,
    pub(super) counts: Counted,
}

impl Scene {
    /// Reads what is below an epic, or everything.
    pub(super) fn read(
        transaction: &dyn Transaction,
        epic: Option<TaskId>,
        runs: &[Run],
        memory: &Memory,
    ) -> Result<Scene> {
        let graph = load(transaction, epic)?;
        let ids = graph.ids();
        let outlines = transaction.outlines(&ids)?;
        let mut scene = Scene {
            layers: layers(graph.nodes()),
            critical: graph.critical_path(),
            in_runs: in_runs(runs, memory),
            states: HashMap::with_capacity(graph.nodes().len()),
            ready: graph.ready().collect(),
            verified: HashSet::new(),
            gates: transaction.gates_of(&ids)?,
            counts: Counted::default(),
            graph,
            outlines,
        };
        scene.find_states(&transaction.spawn_verdicts(&ids)?);
        scene.counts = scene.count_states();
        Ok(scene)
    }

    /// Says how many tasks it has, also those that are groups.
    pub(super) fn size(&self) -> usize {
        self.graph.nodes().len()
    }

    fn find_states(&mut self, spawns: &HashMap<TaskId, SpawnVerdict>) {
        for node in self.graph.nodes() {
            let id = node.id;
            let in_run = self.in_runs.get(&id).and_then(meaning);
            // Only of these does it matter what their gates say.
            let gates = self.gates.get(&id);
            let gates = gates.filter(|_| matches!(node.status, Status::Done | Status::Pending));
            let failed = gates.is_some_and(|gates| failed_gate(gates).is_some());
            let found = state(node.status, self.ready.contains(&id), in_run, failed);
            if found == State::Done && is_verified(spawns.get(&id), gates) {
                self.verified.insert(id);
            }
            self.states.insert(id, found);
        }
    }

    /// Returns the tasks that people see as such: not epics and parents, which are groups of them.
    pub(super) fn tasks(&self) -> impl Iterator<Item = &Node> {
        let nodes = self.graph.nodes().iter();
        nodes.filter(|node| !self.layers.wholes.contains(&node.id))
    }

    pub(super) fn state(&self, id: TaskId) -> State {
        self.states.get(&id).copied().unwrap_or(State::Waiting)
    }

    /// Returns where a task stands, also one that is not of the scene.
    pub(super) fn state_around(&self, transaction: &dyn Transaction, task: &Task) -> Result<State> {
        match self.states.get(&task.id) {
            Some(state) => Ok(*state),
            None => state_of(transaction, task, &self.in_runs),
        }
    }

    /// Says whether a task stands at one of `states`, or any where there are none. What can start
    /// is ready, whatever became of the last try.
    pub(super) fn is_at(&self, id: TaskId, states: &[State]) -> bool {
        states.is_empty()
            || states.contains(&self.state(id))
            || states.contains(&State::Ready) && self.ready.contains(&id)
    }

    /// Counts the tasks by where they stand.
    fn count_states(&self) -> Counted {
        let mut counted = Counted {
            states: states(),
            ..Counted::default()
        };
        for node in self.tasks() {
            counted.total += 1;
            counted.verified += usize::from(self.verified.contains(&node.id));
            *counted
                .states
                .entry(self.state(node.id).word())
                .or_default() += 1;
        }
        let ready = State::Ready.word();
        counted.states.insert(ready, self.ready.len());
        counted
    }
}

/// Returns what a run has made of a task, as far as that tells more than the store.
fn meaning(task: &TaskRun) -> Option<InRun> {
    match task.state {
        TaskState::Verifying => Some(InRun::Checking),
        TaskState::Running => Some(InRun::Working),
        TaskState::Failed => Some(InRun::Failed),
        _ => None,
    }
}

/// Finds for each task the last run that had it. A run that is over tells nothing of what is under way.
pub(super) fn in_runs(runs: &[Run], memory: &Memory) -> HashMap<TaskId, TaskRun> {
    let mut last = HashMap::new();
    for run in runs {
        let tasks = memory.find_track(&run.id).map(Track::tasks);
        for task in tasks.unwrap_or_default() {
            let was_there = task.attempts > 0 || task.state.is_undone();
            let is_stale = run.is_over() && task.state.is_under_way();
            if was_there && !is_stale {
                last.entry(task.task_id).or_insert_with(|| task.clone());
            }
        }
    }
    last
}

/// Says where one task stands, as its scene would, without a look at the tasks around it.
pub(super) fn state_of(
    transaction: &dyn Transaction,
    task: &Task,
    in_runs: &HashMap<TaskId, TaskRun>,
) -> Result<State> {
    let gates = match task.status {
        Status::Done | Status::Pending => transaction.gates_of(&[task.id])?.remove(&task.id),
        _ => None,
    };
    let failed = gates.is_some_and(|gates| failed_gate(&gates).is_some());
    let in_run = in_runs.get(&task.id).and_then(meaning);
    let is_ready = transaction.is_ready(task.id)?;
    Ok(state(task.status, is_ready, in_run, failed))
}

/// Names a gate that failed last.
pub(super) fn failed_gate(gates: &Gates) -> Option<crate::gate::Gate> {
    let failed = gates.gates.iter().find(|(_, record)| !record.passed);
    failed.map(|(gate, _)| *gate)
}

/// Says whether cleo itself found that a task which is done is so: what its agent left verified, or
/// all gates that it needs passed, and nobody forced it.
fn is_verified(spawn: Option<&SpawnVerdict>, gates: Option<&Gates>) -> bool {
    let forced = gates.is_some_and(|gates| gates.forced.is_some())
        || spawn.is_some_and(|spawn| spawn.is_forced);
    let by_spawn = spawn.is_some_and(|spawn| spawn.is_verified);
    let by_gates = gates.is_some_and(|gates| gates.has_gates() && gates.open().is_empty());
    !forced && (by_spawn || by_gates)
}
