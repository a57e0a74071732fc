//! One task with all that is known of it, for one look.

use std::sync::Arc;

use serde::Serialize;

use super::memory::{Memory, lock};
use super::row::Standing;
use super::scene::Scene;
use crate::catalogue::Catalogue;
use crate::dispatch::{Decision, Subject};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::proof::{self, TaskGates};
use crate::ops::runs::journal::place;
use crate::ops::skills::dispatch_subject;
use crate::ops::tasks::{Links, One};
use crate::ops::{Context, require};
use crate::run::Run;
use crate::run::StepState;
use crate::run::attempt::Attempt;
use crate::store::{SpawnRecord, Transaction};
use crate::task::{DisplayStatus, Status, Task, TaskView};
use crate::workspace::Workspace;

/// Most tries that are told, the last ones.
const TRIES_MAX: usize = 50;
/// Most prompts that are told, the last ones.
const SPAWNS_MAX: usize = 20;

/// A task with all that is known of it.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskPage {
    pub(crate) task: Task,
    #[serde(flatten)]
    pub(crate) standing: Standing,
    /// The tasks before and after it, by id.
    pub(crate) position: Position,
    #[serde(flatten)]
    pub(crate) links: Links<Linked>,
    pub(crate) children: Vec<Linked>,
    /// Its gates, evidence and criteria.
    pub(crate) gates: TaskGates,
    /// The skill that it would get now; none when that cannot be told.
    pub(crate) dispatch: Option<Decision>,
    /// Its prompts, oldest first.
    pub(crate) spawns: Vec<SpawnTold>,
    /// What agents tried, oldest first.
    pub(crate) attempts: Vec<Tried>,
    /// The last try that did not verify, unless the task is done.
    pub(crate) refused: Option<Tried>,
}

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Position {
    pub(crate) previous: Option<TaskId>,
    pub(crate) next: Option<TaskId>,
}

/// A task that has to do with another.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Linked {
    #[serde(flatten)]
    pub(crate) task: TaskView,
    pub(crate) state: DisplayStatus,
}

/// A prompt that was prepared.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SpawnTold {
    /// Id of the manifest entry that is due.
    pub(crate) manifest_id: String,
    /// The output file that is due.
    pub(crate) output_file: String,
    pub(crate) at: String,
    pub(crate) prompt_digest: Option<String>,
}

/// A try of an agent in a run.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tried {
    pub(crate) run: String,
    #[serde(flatten)]
    pub(crate) attempt: Attempt,
    pub(crate) has_prompt: bool,
    /// Whether what its agent wrote was kept.
    pub(crate) has_log: bool,
}

/// Reads a task with all that is known of it. Of runs only those that the caller sees tell of it.
pub(crate) fn page(context: &mut Context, one: One) -> Result<TaskPage> {
    let id = one.task;
    let memory = Arc::clone(&context.memory);
    let mut memory = lock(&memory);
    let (runs, _) = memory.runs(context)?;
    let standing = proof::gates_to_show(context, id)?;
    let catalogue = Catalogue::load(&context.surroundings.places(Some(&context.workspace)));
    let (now, workspace) = (context.now(), context.workspace.clone());
    context.read(|transaction| {
        let task = require(transaction, id)?;
        // What is around it is judged within what it is a part of, as in its picture.
        let epic = top(transaction, &task)?;
        let scene = memory.scene(transaction, epic, &runs)?;
        let attempts = list_attempts(&workspace, &runs, &memory, id);
        let linked = |ids: &[TaskId]| -> Result<Vec<Linked>> {
            let tasks = transaction.readable(ids)?.into_iter();
            let linked = tasks.map(|task| {
                Ok(Linked {
                    state: scene.state_around(transaction, &task)?,
                    task: task.into(),
                })
            });
            linked.collect()
        };
        Ok(TaskPage {
            standing: Standing::read(transaction, &scene, &task, &now)?,
            position: position(&scene, id),
            links: Links::read(transaction, &task, linked)?,
            children: linked(&transaction.children(id)?)?,
            gates: standing,
            dispatch: catalogue.as_ref().ok().and_then(|skills| {
                dispatch_subject(skills, &Subject::from(&task), None, false).ok()
            }),
            spawns: spawns(transaction.spawns(id)?),
            refused: find_refused(&attempts, task.status),
            attempts,
            task,
        })
    })
}

/// Finds the topmost task above one; none for one that stands at the top.
fn top(transaction: &dyn Transaction, task: &Task) -> Result<Option<TaskId>> {
    let (mut top, mut above) = (None, task.parent);
    for _ in 0..crate::ops::tasks::DEPTH_MAX {
        let Some(parent) = above else { break };
        (top, above) = (Some(parent), transaction.parent(parent)?);
    }
    Ok(top)
}

fn position(scene: &Scene, id: TaskId) -> Position {
    let ids = || scene.graph.nodes().iter().map(|node| node.id);
    Position {
        previous: ids().take_while(|other| *other < id).last(),
        next: ids().find(|other| *other > id),
    }
}

fn spawns(records: Vec<SpawnRecord>) -> Vec<SpawnTold> {
    let first = records.len().saturating_sub(SPAWNS_MAX);
    let told = records.into_iter().skip(first).map(|record| SpawnTold {
        prompt_digest: record.receipt["promptDigest"].as_str().map(String::from),
        manifest_id: record.manifest_id,
        output_file: record.output_file,
        at: record.at,
    });
    told.collect()
}

/// Collects the tries of a task from the last runs, oldest first.
fn list_attempts(workspace: &Workspace, runs: &[Run], memory: &Memory, id: TaskId) -> Vec<Tried> {
    let mut tried = Vec::new();
    for run in runs.iter().rev().map(|run| &run.id) {
        let track = memory.find_track(run);
        let kept = |attempt: u32, end: &str| {
            let folder = place(workspace, run).ok();
            folder.is_some_and(|folder| folder.join(format!("{id}-{attempt}.{end}")).is_file())
        };
        for attempt in track.map(|track| track.attempts(id)).unwrap_or_default() {
            tried.push(Tried {
                run: run.clone(),
                has_prompt: kept(attempt.attempt, "prompt.md"),
                has_log: kept(attempt.attempt, "log"),
                attempt: attempt.clone(),
            });
        }
    }
    let first = tried.len().saturating_sub(TRIES_MAX);
    tried.drain(..first);
    tried
}

fn find_refused(attempts: &[Tried], status: Status) -> Option<Tried> {
    let mut failed = attempts
        .iter()
        .rev()
        .filter(|one| one.attempt.state == StepState::Failed);
    failed.next().filter(|_| status != Status::Done).cloned()
}
