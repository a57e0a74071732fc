//! All tasks of an epic, or all there are: where each stands, in which wave, and what holds it up.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use super::memory::Memory;
use crate::error::Result;
use crate::gate::Gates;
use crate::id::TaskId;
use crate::ops::tasks::graph::load;
use crate::run::Run;
use crate::run::{RunProjection, StepState, TaskRun};
use crate::store::{Outlines, SpawnVerdict, Transaction};
use crate::task::graph::{Node, TaskGraph};
use crate::task::layout::{Layers, layers};
use crate::task::{DisplayStatus, Status, Task};

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
    crate::build_map(DisplayStatus::ALL.iter().map(|state| (state.word(), 0)))
}

/// Everything that is known of all tasks of a part of the graph.
pub(super) struct Scene {
    pub(super) graph: TaskGraph,
    pub(super) outlines: Outlines,
    pub(super) layers: Layers,
    pub(super) critical: Vec<TaskId>,
    /// What the last run that had a task made of it.
    pub(super) in_runs: HashMap<TaskId, TaskRun>,
    pub(super) states: HashMap<TaskId, DisplayStatus>,
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
            let in_run = self.in_runs.get(&id).map(|task| task.state);
            // Only of these does it matter what their gates say.
            let gates = self.gates.get(&id);
            let gates = gates.filter(|_| matches!(node.status, Status::Done | Status::Pending));
            let failed = gates.is_some_and(|gates| find_failed_gate(gates).is_some());
            let found = display_status(node.status, self.ready.contains(&id), in_run, failed);
            if found == DisplayStatus::Done && is_verified(spawns.get(&id), gates) {
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

    pub(super) fn state(&self, id: TaskId) -> DisplayStatus {
        self.states
            .get(&id)
            .copied()
            .unwrap_or(DisplayStatus::Waiting)
    }

    /// Returns where a task stands, also one that is not of the scene.
    pub(super) fn state_around(
        &self,
        transaction: &dyn Transaction,
        task: &Task,
    ) -> Result<DisplayStatus> {
        match self.states.get(&task.id) {
            Some(state) => Ok(*state),
            None => state_of(transaction, task, &self.in_runs),
        }
    }

    /// Returns whether a task stands at one of `states`, or any where there are none. What can start
    /// is ready, whatever became of the last try.
    pub(super) fn is_at(&self, id: TaskId, states: &[DisplayStatus]) -> bool {
        states.is_empty()
            || states.contains(&self.state(id))
            || states.contains(&DisplayStatus::Ready) && self.ready.contains(&id)
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
        let ready = DisplayStatus::Ready.word();
        counted.states.insert(ready, self.ready.len());
        counted
    }
}

/// Derives the displayed status of a task from its stored status, its state in the last run that had it, and
/// whether one of its gates failed. `is_ready` is what the graph says of a pending one.
fn display_status(
    status: Status,
    is_ready: bool,
    step: Option<StepState>,
    gate_failed: bool,
) -> DisplayStatus {
    match (status, step) {
        (Status::Done, _) => DisplayStatus::Done,
        (Status::Cancelled, _) => DisplayStatus::Cancelled,
        (_, Some(StepState::Verifying)) => DisplayStatus::Verifying,
        (_, Some(StepState::Running)) | (Status::Active, _) => DisplayStatus::Running,
        (Status::Review, _) => DisplayStatus::Review,
        (Status::Blocked, _) => DisplayStatus::NeedsYou,
        (Status::Paused, _) => DisplayStatus::Paused,
        (Status::Pending, Some(StepState::Failed)) => DisplayStatus::Failed,
        (Status::Pending, _) if gate_failed => DisplayStatus::Failed,
        (Status::Pending, _) if is_ready => DisplayStatus::Ready,
        (Status::Pending, _) => DisplayStatus::Waiting,
    }
}

/// Finds for each task the last run that had it. A run that is over tells nothing of what is under way.
pub(super) fn in_runs(runs: &[Run], memory: &Memory) -> HashMap<TaskId, TaskRun> {
    let mut last = HashMap::new();
    for run in runs {
        let tasks = memory.find_track(&run.id).map(RunProjection::tasks);
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
) -> Result<DisplayStatus> {
    let gates = match task.status {
        Status::Done | Status::Pending => transaction.gates_of(&[task.id])?.remove(&task.id),
        _ => None,
    };
    let failed = gates.is_some_and(|gates| find_failed_gate(&gates).is_some());
    let in_run = in_runs.get(&task.id).map(|task| task.state);
    let is_ready = transaction.is_ready(task.id)?;
    Ok(display_status(task.status, is_ready, in_run, failed))
}

/// Names a gate that failed last.
pub(super) fn find_failed_gate(gates: &Gates) -> Option<crate::gate::Gate> {
    let failed = gates.gates.iter().find(|(_, record)| !record.passed);
    failed.map(|(gate, _)| *gate)
}

/// Returns whether cleo itself found that a task which is done is so: what its agent left verified, or
/// all gates that it needs passed, and nobody forced it.
fn is_verified(spawn: Option<&SpawnVerdict>, gates: Option<&Gates>) -> bool {
    let forced = gates.is_some_and(|gates| gates.forced.is_some())
        || spawn.is_some_and(|spawn| spawn.is_forced);
    let by_spawn = spawn.is_some_and(|spawn| spawn.is_verified);
    let by_gates = gates.is_some_and(|gates| gates.has_gates() && gates.open().is_empty());
    !forced && (by_spawn || by_gates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_has_the_last_word_on_what_is_over() {
        for step in [None, Some(StepState::Running), Some(StepState::Failed)] {
            assert_eq!(
                display_status(Status::Done, true, step, true),
                DisplayStatus::Done
            );
            let cancelled = display_status(Status::Cancelled, true, step, true);
            assert_eq!(cancelled, DisplayStatus::Cancelled);
        }
    }

    #[test]
    fn what_goes_on_counts_before_what_went_wrong() {
        let rows = [
            (Status::Active, None, false, DisplayStatus::Running),
            (
                Status::Active,
                Some(StepState::Verifying),
                true,
                DisplayStatus::Verifying,
            ),
            (
                Status::Active,
                Some(StepState::Failed),
                true,
                DisplayStatus::Running,
            ),
            (
                Status::Pending,
                Some(StepState::Failed),
                false,
                DisplayStatus::Failed,
            ),
            (Status::Pending, None, true, DisplayStatus::Failed),
            (
                Status::Blocked,
                Some(StepState::Failed),
                true,
                DisplayStatus::NeedsYou,
            ),
            (Status::Paused, None, false, DisplayStatus::Paused),
            (Status::Review, None, false, DisplayStatus::Review),
        ];
        for (status, step, gate_failed, expected) in rows {
            assert_eq!(display_status(status, true, step, gate_failed), expected);
        }
        assert_eq!(
            display_status(Status::Pending, true, None, false),
            DisplayStatus::Ready
        );
        assert_eq!(
            display_status(Status::Pending, false, None, false),
            DisplayStatus::Waiting
        );
    }
}
