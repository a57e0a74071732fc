//! Requests of a person to an agent at work: to begin again with words, or to stop. Its program is ended for both.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::view;
use crate::error::{Code, Error, Result, quote};
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::runs::no_run;
use crate::ops::tasks::{Patch, update};
use crate::run::{RunStatus, StepState, TaskEvent};
use crate::store::Store;

#[derive(Args, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[command(after_help = "\
The words become a note on the task. The program of its agent is ended, and the next attempt begins
at once with them: in the same conversation where the program can resume it, else with the whole
prompt and the words at its end. What the agent has changed stays. It does not count as a repair.

Example:
  cleo runs send run_1769418000000_1 T3 'Use the other index.'")]
pub(crate) struct Words {
    /// Id of the run
    #[arg(value_name = "RUN")]
    id: String,
    /// Task on which the agent works
    task: TaskId,
    /// Text for the agent
    #[arg(value_name = "WORDS")]
    text: String,
}

/// Words that were sent.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Sent {
    pub(crate) task_id: TaskId,
    /// The attempt that is ended for them.
    pub(crate) attempt: u32,
    /// Whether the next attempt can continue its conversation.
    pub(crate) can_continue: bool,
}

pub(crate) fn send(context: &mut Context, Words { id, task, text }: Words) -> Result<Sent> {
    let assignment = &context.surroundings.assignment;
    assignment.refuse_agent("sends no words to agents")?;
    let (attempt, can_continue) = find_attempt(context, &id, task, &[StepState::Running])?;
    let patch = Patch {
        task,
        notes: vec![text],
        ..Patch::default()
    };
    update(context, patch)?;
    let by = Some(context.surroundings.actor.clone());
    request(context, &id, task, TaskEvent::WordsSent { by })?;
    Ok(Sent {
        task_id: task,
        attempt,
        can_continue,
    })
}

#[derive(Args, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
#[command(after_help = "\
The program of the agent is ended, or the commands that check its work. The attempt counts as cancelled,
the task is released, and tasks that depend on it are skipped; the other agents of the run work on. What
the agent has changed stays; unmerged work of a worktree stays on its branch.

Example:
  cleo runs stop run_1769418000000_1 T3")]
pub(crate) struct Stop {
    /// Id of the run
    #[arg(value_name = "RUN")]
    id: String,
    /// Task on which the agent works
    task: TaskId,
}

/// An agent that was asked to stop.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Stopped {
    pub(crate) task_id: TaskId,
    /// The attempt that ends.
    pub(crate) attempt: u32,
}

pub(crate) fn stop(context: &mut Context, Stop { id, task }: Stop) -> Result<Stopped> {
    let assignment = &context.surroundings.assignment;
    assignment.refuse_agent("stops no agents")?;
    let states = [StepState::Running, StepState::Verifying];
    let (attempt, _) = find_attempt(context, &id, task, &states)?;
    let by = context.surroundings.actor.clone();
    request(context, &id, task, TaskEvent::StopRequested { by })?;
    Ok(Stopped {
        task_id: task,
        attempt,
    })
}

/// Finds the attempt of a live run that is in progress, and whether its conversation can continue.
fn find_attempt(
    context: &mut Context,
    id: &str,
    task: TaskId,
    states: &[StepState],
) -> Result<(u32, bool)> {
    let shown = view(context, id, false)?.ok_or_else(|| no_run(id))?;
    let is_live = shown.run.record.status == RunStatus::Running;
    let mut steps = shown.tasks.iter().filter(|_| is_live);
    let step = steps.find(|step| step.planned.task_id == task && states.contains(&step.state));
    let found =
        step.and_then(|step| Some((step.history.last()?.attempt, step.conversation.is_some())));
    found.ok_or_else(|| {
        let message = format!("no agent of {id} works on {task} now");
        let show = format!("cleo runs show {}", quote(id));
        Error::new(Code::StatusRefused, message).fix(show)
    })
}

/// Records what the process of a run is asked to do.
fn request(context: &mut Context, id: &str, task: TaskId, event: TaskEvent) -> Result<()> {
    let (kind, detail) = event.for_task(task).to_parts();
    let at = context.now();
    let mut transaction = context.store.write_records()?;
    transaction.add_event(id, &at, &kind, detail)?;
    transaction.commit().map(drop)
}
