//! One task with its gates, prompts and attempts, and the tasks around it.

use serde::Serialize;

use super::rows::Standing;
use super::scene::{View, with_scene};
use crate::catalogue::Catalogue;
use crate::dispatch::{Decision, Subject};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::proof::{self, TaskGates};
use crate::ops::runs::journal::run_folder;
use crate::ops::skills::dispatch_subject;
use crate::ops::tasks::{Links, One, above};
use crate::ops::{Context, require};
use crate::run::StepState;
use crate::run::attempt::Attempt;
use crate::store::{SpawnRecord, Transaction};
use crate::task::{DisplayStatus, Status, Task, TaskView};
use crate::workspace::Workspace;

/// Maximum number of attempts, the last ones.
const ATTEMPTS_MAX: usize = 50;
/// Maximum number of prompts, the last ones.
const SPAWNS_MAX: usize = 20;

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskPage {
    pub(crate) task: Task,
    #[serde(flatten)]
    pub(crate) standing: Standing,
    /// The tasks before and after it, by id.
    pub(crate) position: Position,
    #[serde(flatten)]
    pub(crate) neighbors: Links<NeighborView>,
    pub(crate) children: Vec<NeighborView>,
    /// Its gates, evidence and criteria.
    pub(crate) gates: TaskGates,
    /// The skill that it would get now; none if no skill fits.
    pub(crate) dispatch: Option<Decision>,
    /// Its prompts, oldest first.
    pub(crate) spawns: Vec<SpawnRow>,
    /// The attempts of agents, oldest first.
    pub(crate) attempts: Vec<TaskAttempt>,
    /// The last attempt that was not verified, unless the task is done.
    pub(crate) refused: Option<TaskAttempt>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Position {
    pub(crate) previous: Option<TaskId>,
    pub(crate) next: Option<TaskId>,
}

/// A task around another.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct NeighborView {
    #[serde(flatten)]
    pub(crate) task: TaskView,
    pub(crate) state: DisplayStatus,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SpawnRow {
    /// Id of the manifest entry that its agent has to append.
    pub(crate) manifest_id: String,
    /// The output file that its agent has to write.
    pub(crate) output_file: String,
    pub(crate) at: String,
    pub(crate) prompt_digest: Option<String>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskAttempt {
    pub(crate) run: String,
    #[serde(flatten)]
    pub(crate) attempt: Attempt,
    pub(crate) has_prompt: bool,
    /// Whether the output of its agent is there.
    pub(crate) has_log: bool,
}

/// Reads the page of a task, joined with the runs that the caller sees.
pub(crate) fn page(context: &mut Context, one: One) -> Result<TaskPage> {
    let id = one.task;
    let gates = proof::gates_to_show(context, id)?;
    let catalogue = Catalogue::load(&context.surroundings.places(Some(&context.workspace)));
    let workspace = context.workspace.clone();
    // Shows the same states as the graph of the topmost task above it.
    let find_top = |tasks: &dyn Transaction| Ok(above(tasks, id)?.last().copied());
    with_scene(context, find_top, |view| {
        let task = require(view.transaction, id)?;
        let linked = |ids: &[TaskId]| -> Result<Vec<NeighborView>> {
            let tasks = view.transaction.readable(ids)?.into_iter();
            let linked = tasks.map(|task| {
                Ok(NeighborView {
                    state: view.scene.state_around(view.transaction, &task)?,
                    task: task.into(),
                })
            });
            linked.collect()
        };
        let nodes = view.scene.graph.nodes();
        let (before, after) = nodes.split_at(nodes.partition_point(|node| node.id < id));
        let attempts = list_attempts(view, &workspace, id);
        let mut refused = attempts.iter().rev();
        let refused = refused.find(|one| one.attempt.state == StepState::Failed);
        Ok(TaskPage {
            standing: view.read_standing(&task)?,
            position: Position {
                previous: before.last().map(|node| node.id),
                next: after.iter().map(|node| node.id).find(|next| *next != id),
            },
            neighbors: Links::read(view.transaction, &task, linked)?,
            children: linked(&view.transaction.children(id)?)?,
            gates,
            dispatch: catalogue.as_ref().ok().and_then(|skills| {
                dispatch_subject(skills, &Subject::from(&task), None, false).ok()
            }),
            spawns: list_spawns(view.transaction.spawns(id)?),
            refused: refused.filter(|_| task.status != Status::Done).cloned(),
            attempts,
            task,
        })
    })
}

fn list_spawns(records: Vec<SpawnRecord>) -> Vec<SpawnRow> {
    let first = records.len().saturating_sub(SPAWNS_MAX);
    let spawns = records.into_iter().skip(first).map(|record| SpawnRow {
        prompt_digest: record.receipt["promptDigest"].as_str().map(String::from),
        manifest_id: record.manifest_id,
        output_file: record.output_file,
        at: record.at,
    });
    spawns.collect()
}

/// Collects the attempts at a task from the last runs, oldest first.
fn list_attempts(view: &View<'_>, workspace: &Workspace, id: TaskId) -> Vec<TaskAttempt> {
    let mut all = Vec::new();
    for run in view.runs.iter().rev().map(|run| &run.id) {
        let track = view.tracks.find(run);
        let has_file = |attempt: u32, end: &str| {
            let folder = run_folder(workspace, run).ok();
            folder.is_some_and(|folder| folder.join(format!("{id}-{attempt}.{end}")).is_file())
        };
        for attempt in track.map(|track| track.attempts(id)).unwrap_or_default() {
            all.push(TaskAttempt {
                run: run.clone(),
                has_prompt: has_file(attempt.attempt, "prompt.md"),
                has_log: has_file(attempt.attempt, "log"),
                attempt: attempt.clone(),
            });
        }
    }
    let first = all.len().saturating_sub(ATTEMPTS_MAX);
    all.split_off(first)
}
