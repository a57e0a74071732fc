//! A task on one line, as lists, boards and pictures show it.

use serde::Serialize;

use super::scene::{Scene, failed_gate};
use crate::error::Result;
use crate::gate::{Gate, Gates};
use crate::id::TaskId;
use crate::ops::tasks::HeldClaim;
use crate::run::track::TaskState;
use crate::store::Transaction;
use crate::task::{State, Status, Task, TaskType, TaskView};

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
    /// Where it stands.
    pub(crate) state: State,
    /// Whether it is done and cleo itself looked at it.
    pub(crate) verified: bool,
    /// What kind of work it is.
    #[serde(rename = "type")]
    pub(crate) kind: TaskType,
    /// The task that it is a part of.
    pub(crate) parent: Option<TaskId>,
    pub(crate) labels: Vec<String>,
    /// Its wave, from 1; none when it waits for itself.
    pub(crate) wave: Option<usize>,
    /// The skill of its last prompt.
    pub(crate) skill: Option<String>,
    /// How its six gates stand, in order: open, optional, passed, forced or failed; none when none
    /// was set.
    pub(crate) gates: Option<Vec<&'static str>>,
    /// Who holds it.
    pub(crate) claim: Option<HeldClaim>,
    /// What drives its agent, or drove it last.
    pub(crate) runner: Option<String>,
    /// The last run that had it.
    pub(crate) run: Option<String>,
    /// How many tries it took there.
    pub(crate) attempt: Option<u32>,
    /// When it was begun there.
    pub(crate) attempt_since: Option<String>,
    /// What to know of it: why it failed, or what its agent does.
    pub(crate) note: Option<String>,
    /// Whether it is on the longest way.
    pub(crate) critical: bool,
    /// How many files it declares.
    pub(crate) files: usize,
    /// Open tasks that it depends on, a few of them.
    pub(crate) waits_for: Vec<TaskId>,
    /// When it was made.
    pub(crate) created_at: String,
    /// When it was last changed.
    pub(crate) updated_at: String,
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
    let claim = transaction.claim(id)?;
    let last = scene.in_runs.get(&id);
    let tried = last.map(|last| &last.task);
    let skill = match tried.and_then(|task| task.skill.clone()) {
        Some(skill) => Some(skill),
        None => spawned_skill(transaction, id)?,
    };
    Ok(Some(Row {
        state: scene.state(id),
        verified: scene.verified.contains(&id),
        wave: scene.layers.of.get(&id).map(|layer| layer + 1),
        skill,
        note: note(scene, &task, gates),
        gates: gates.and_then(meter),
        claim: claim.and_then(|claim| HeldClaim::new(claim, now)),
        runner: tried.and_then(|task| task.runner.clone()),
        run: last.map(|last| last.run.clone()),
        attempt: tried.map(|task| task.attempts).filter(|n| *n > 0),
        attempt_since: tried.and_then(|task| task.started_at.clone()),
        critical: scene.critical.contains(&id),
        files: task.files.len(),
        waits_for: waits_for(scene, id),
        kind: task.kind.clone(),
        parent: task.parent,
        labels: task.labels.clone(),
        created_at: task.created_at.clone(),
        updated_at: task.updated_at.clone(),
        task: task.into(),
    }))
}

fn spawned_skill(transaction: &dyn Transaction, id: TaskId) -> Result<Option<String>> {
    let spawn = transaction.latest_spawn(id)?;
    Ok(spawn.and_then(|spawn| spawn.receipt["skill"].as_str().map(String::from)))
}

/// Says how the six gates stand, by what was set; files are not looked at.
pub(super) fn meter(gates: &Gates) -> Option<Vec<&'static str>> {
    let word = |gate: Gate| match gates.gates.get(&gate) {
        Some(record) if !record.passed => "failed",
        Some(record) if record.forced => "forced",
        Some(_) => "passed",
        None if gates.needs(gate) => "open",
        None => "optional",
    };
    gates.are_used().then(|| Gate::ALL.map(word).to_vec())
}

fn note(scene: &Scene, task: &Task, gates: Option<&Gates>) -> Option<String> {
    let last = scene.in_runs.get(&task.id).map(|last| &last.task);
    let text = match scene.state(task.id) {
        State::Failed => last
            .filter(|last| last.state == TaskState::Failed)
            .and_then(|last| last.reason.clone())
            .or_else(|| {
                gates
                    .and_then(failed_gate)
                    .map(|gate| format!("{gate} failed"))
            }),
        State::Running => last
            .filter(|last| last.state.is_under_way())
            .and_then(|last| last.doing.clone()),
        State::NeedsYou => task.notes.last().map(|note| note.text.clone()),
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
