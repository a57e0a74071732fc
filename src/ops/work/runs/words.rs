//! Words of a person to an agent at work: its program is ended, and the next attempt begins at once with them.

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
    let shown = view(context, &id, false)?.ok_or_else(|| no_run(&id))?;
    let works = |step: &&crate::run::TaskRun| {
        step.planned.task_id == task && step.state == StepState::Running
    };
    let step = shown.tasks.iter().find(works);
    let is_live = shown.run.record.status == RunStatus::Running;
    let Some(attempt) = step
        .and_then(|step| step.history.last())
        .filter(|_| is_live)
    else {
        let message = format!("no agent of {id} works on {task} now");
        let show = format!("cleo runs show {}", quote(&id));
        return Err(Error::new(Code::StatusRefused, message).fix(show));
    };
    let sent = Sent {
        task_id: task,
        attempt: attempt.attempt,
        can_continue: step.is_some_and(|step| step.conversation.is_some()),
    };
    let patch = Patch {
        task,
        notes: vec![text],
        ..Patch::default()
    };
    update(context, patch)?;
    let by = Some(context.surroundings.actor.clone());
    let (kind, detail) = TaskEvent::WordsSent { by }.for_task(task).to_parts();
    let at = context.now();
    let mut transaction = context.store.write_records()?;
    transaction.add_event(&id, &at, &kind, detail)?;
    transaction.commit()?;
    Ok(sent)
}
