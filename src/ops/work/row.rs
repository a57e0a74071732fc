//! A task on one line, as lists, boards and pictures show it.

use serde::Serialize;

use super::scene::{Scene, find_failed_gate};
use crate::error::Result;
use crate::gate::Gates;
use crate::id::TaskId;
use crate::ops::proof::GateState;
use crate::ops::tasks::HeldClaim;
use crate::run::StepState;
use crate::store::Transaction;
use crate::task::{DisplayStatus, Status, Task, TaskType, TaskView};

/// Most dependencies that are named.
const WAITS_MAX: usize = 8;
/// Longest note, in characters.
const NOTE_MAX: usize = 300;

/// A task on one line.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    #[serde(flatten)]
    pub(crate) task: TaskView,
    #[serde(flatten)]
    pub(crate) standing: Standing,
    /// What kind of work it is.
    #[serde(rename = "type")]
    pub(crate) kind: TaskType,
    /// The skill of its last prompt.
    pub(crate) skill: Option<String>,
    /// How its six gates stand, in order, by what was set: files are not looked at; none when none was set.
    pub(crate) gates: Option<Vec<GateState>>,
    /// What drives its agent, or drove it last.
    pub(crate) runner: Option<String>,
    /// How many tries it took in the last run that had it.
    pub(crate) attempt: Option<u32>,
    /// What to know of it: why it failed, or what its agent does.
    pub(crate) note: Option<String>,
    /// Open tasks that it depends on, a few of them.
    pub(crate) waits_for: Vec<TaskId>,
    pub(crate) updated_at: String,
}

/// Where a task stands among others.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Standing {
    pub(crate) state: DisplayStatus,
    /// Whether it is done and cleo itself looked at it.
    pub(crate) verified: bool,
    /// Its wave, from 1; none when it waits for itself or is no work.
    pub(crate) wave: Option<usize>,
    /// Whether it is on the longest way.
    pub(crate) critical: bool,
    pub(crate) claim: Option<HeldClaim>,
}

impl Standing {
    pub(super) fn read(
        transaction: &dyn Transaction,
        scene: &Scene,
        task: &Task,
        now: &str,
    ) -> Result<Standing> {
        let (id, claim) = (task.id, transaction.claim(task.id)?);
        let layer = scene.layers.of.get(&id);
        Ok(Standing {
            state: scene.state_around(transaction, task)?,
            verified: scene.verified.contains(&id),
            wave: layer.map(|layer| layer + 1),
            critical: scene.critical.contains(&id),
            claim: claim.and_then(|claim| HeldClaim::new(claim, now)),
        })
    }
}

/// Reads the row of a task of the scene.
pub(super) fn row(
    transaction: &dyn Transaction,
    scene: &Scene,
    id: TaskId,
    now: &str,
) -> Result<Option<Row>> {
    let Some(task) = transaction.readable(&[id])?.pop() else {
        return Ok(None);
    };
    let gates = scene.gates.get(&id);
    let tried = scene.in_runs.get(&id);
    let skill = match tried.and_then(|task| task.setup.skill.clone()) {
        Some(skill) => Some(skill),
        None => find_skill(transaction, id)?,
    };
    Ok(Some(Row {
        standing: Standing::read(transaction, scene, &task, now)?,
        skill,
        note: note(scene, &task, gates),
        gates: gates.and_then(|gates| GateState::all(gates, &[])),
        runner: tried.and_then(|task| task.setup.runner.clone()),
        attempt: tried.map(|task| task.attempts).filter(|n| *n > 0),
        waits_for: waits_for(scene, id),
        kind: task.kind.clone(),
        updated_at: task.updated_at.clone(),
        task: task.into(),
    }))
}

fn find_skill(transaction: &dyn Transaction, id: TaskId) -> Result<Option<String>> {
    let spawn = transaction.latest_spawn(id)?;
    Ok(spawn.and_then(|spawn| spawn.receipt["skill"].as_str().map(String::from)))
}

fn note(scene: &Scene, task: &Task, gates: Option<&Gates>) -> Option<String> {
    let last = scene.in_runs.get(&task.id);
    let text = match scene.state(task.id) {
        DisplayStatus::Failed => last
            .filter(|last| last.state == StepState::Failed)
            .and_then(|last| last.reason.clone())
            .or_else(|| {
                gates
                    .and_then(find_failed_gate)
                    .map(|gate| format!("{gate} failed"))
            }),
        DisplayStatus::Running => last
            .filter(|last| last.state.is_under_way())
            .and_then(|last| last.doing.clone()),
        DisplayStatus::NeedsYou => task.notes.last().map(|note| note.text.clone()),
        _ => None,
    };
    text.map(|text| text.chars().take(NOTE_MAX).collect())
}

fn waits_for(scene: &Scene, id: TaskId) -> Vec<TaskId> {
    let is_open = |need: &TaskId| {
        let node = scene.graph.node(*need);
        node.is_none_or(|node| node.status != Status::Done)
    };
    let depends = scene.graph.find(id).map(|node| node.depends.as_slice());
    let open = depends.unwrap_or_default().iter().copied().filter(is_open);
    open.take(WAITS_MAX).collect()
}
