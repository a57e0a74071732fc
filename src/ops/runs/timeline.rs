//! A run as people watch it: where each of its tasks stands, and every try, in time.

use serde::Serialize;
use serde_json::Value;

use super::listing::{RunRow, Stand, ordered, owned, row, stand, waves_of};
use super::title::Epics;
use super::{EVENTS_MAX, no_run, settled, steps};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::Surroundings;
use crate::ops::work::Memory;
use crate::run::board::TaskRun;
use crate::run::track::{Attempt, Load, Track};
use crate::run::{AnsweredBy, Message, Outcome, RunKind, Step, Usage};
use crate::store::agency::Agency;

/// A run with its timeline.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Watched {
    pub(crate) run: RunFull,
    /// The moment of this answer, by the server's clock.
    pub(crate) now: String,
    /// How it is carried out.
    pub(crate) options: Option<Value>,
    /// Its tasks, by wave, then by when they were begun first in the order of the run.
    pub(crate) tasks: Vec<Task>,
    /// How far it came, of a run of one agent.
    pub(crate) steps: Vec<Step>,
    /// What was said in it.
    pub(crate) messages: Vec<Message>,
    /// How many agents worked when.
    pub(crate) running: Vec<Load>,
    /// Cursor of its last event.
    pub(crate) cursor: u64,
    /// How many tries there were, and how many said what they used.
    pub(crate) reported: Reported,
}

/// All of a run.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunFull {
    /// How it looks in a list.
    #[serde(flatten)]
    pub(crate) row: RunRow,
    /// Why it went where it went.
    pub(crate) routing_reason: String,
    /// The score of that.
    pub(crate) routing_score: u32,
    /// What the answer comes from.
    pub(crate) answered_by: Option<AnsweredBy>,
    /// The model that answered.
    pub(crate) model: Option<String>,
    /// The answer.
    pub(crate) output: Option<String>,
    /// The conversation that it belongs to.
    pub(crate) conversation: Option<String>,
}

/// How much is known of what tries used.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Reported {
    /// Tries.
    pub(crate) attempts: usize,
    /// Those that failed.
    pub(crate) failed: usize,
    /// Those that said what they used.
    pub(crate) reporting: usize,
}

/// A task of a run.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Task {
    pub(crate) task_id: TaskId,
    /// Its title when the run began.
    pub(crate) title: String,
    /// Its wave in the run, from 1; none when it waits for itself.
    pub(crate) wave: Option<usize>,
    /// The tasks of the run that come before it.
    pub(crate) needs: Vec<TaskId>,
    /// Where it stands.
    pub(crate) state: Stand,
    /// How its last try ended.
    pub(crate) outcome: Option<Outcome>,
    /// Why it is not done.
    pub(crate) reason: Option<String>,
    /// What it was last missing.
    pub(crate) missing: Vec<String>,
    pub(crate) skill: Option<String>,
    pub(crate) runner: Option<String>,
    /// When it was begun.
    pub(crate) started_at: Option<String>,
    /// When it was over.
    pub(crate) ended_at: Option<String>,
    /// How long its agents took, in milliseconds.
    pub(crate) duration_ms: u64,
    /// Tokens that they used, as far as they say.
    pub(crate) usage: Option<Usage>,
    /// What they cost in US dollars, as far as they say.
    pub(crate) cost: Option<f64>,
    /// What its agent does now.
    pub(crate) doing: Option<String>,
    /// Whether it is an epic, on which nobody works.
    pub(crate) is_epic: bool,
    /// From when on it could have begun; none when something came before it that is not done.
    pub(crate) ready_at: Option<String>,
    /// Its tries.
    pub(crate) attempts: Vec<Attempt>,
}

pub(crate) fn watched(
    surroundings: &Surroundings,
    memory: &mut Memory,
    id: &str,
    user: Option<&str>,
) -> Result<Watched> {
    let workspace = surroundings.workspace()?;
    let agency = settled(&workspace, &surroundings.clock)?;
    let mut agency = agency.ok_or_else(|| no_run(id))?;
    let transaction = agency.read()?;
    let run = owned(&*transaction, id, user)?;
    let now = surroundings.clock.timestamp();
    let messages = transaction.run_messages(id)?;
    let told = match run.kind {
        RunKind::Execution => steps(&transaction.events(Some(id), 0, EVENTS_MAX)?),
        _ => Vec::new(),
    };
    let track = memory.track(&*transaction, id)?;
    let (attempts, failed, reporting) = track.tally();
    Ok(Watched {
        tasks: tasks(track),
        steps: told,
        messages,
        running: track.load.clone(),
        cursor: track.cursor,
        options: track.options.clone(),
        reported: Reported {
            attempts,
            failed,
            reporting,
        },
        run: RunFull {
            routing_reason: run.routing_reason.clone(),
            routing_score: run.routing_score,
            answered_by: run.answered_by,
            model: run.model.clone(),
            output: run.output.clone(),
            conversation: run.conversation.clone(),
            row: row(run, track, &mut Epics::of(&workspace), &now),
        },
        now,
    })
}

fn tasks(track: &Track) -> Vec<Task> {
    let waves = waves_of(track);
    let tasks = ordered(track).into_iter().map(|task| Task {
        task_id: task.task_id,
        title: task.title.clone(),
        wave: waves.get(&task.task_id).map(|wave| wave + 1),
        needs: task.needs.clone(),
        state: stand(track, task),
        outcome: task.outcome,
        reason: task.reason.clone(),
        missing: task.missing.clone(),
        skill: task.skill.clone(),
        runner: task.runner.clone(),
        started_at: task.started_at.clone(),
        ended_at: task.ended_at.clone(),
        duration_ms: task.duration_ms,
        usage: task.usage,
        cost: task.cost,
        doing: task.doing.clone(),
        is_epic: task.is_epic,
        ready_at: ready_at(track, task),
        attempts: track.attempts(task.task_id).to_vec(),
    });
    tasks.collect()
}

fn ready_at(track: &Track, task: &TaskRun) -> Option<String> {
    let mut last = track.started_at.clone()?;
    for need in &task.needs {
        let need = track.board.task(*need)?;
        let ended = need.ended_at.clone().filter(|_| need.is_done())?;
        last = last.max(ended);
    }
    Some(last)
}
