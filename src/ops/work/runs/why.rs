//! The reason for the state of a run and of each of its tasks, with the replayed receipts of its prompts.

use std::collections::HashSet;

use serde::Serialize;

use super::show;
use crate::error::Result;
use crate::id::{self, TaskId};
use crate::ops::Context;
use crate::ops::spawn::{Why, whys};
use crate::run::view::RunView;
use crate::run::{Run, RunKind, RunStatus, StepState, TaskRun};

/// A run with the reason for its state.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct RunWhy {
    pub(crate) run: Run,
    /// The reason for its state.
    pub(crate) reason: String,
    /// Its tasks, in its order, without epics that did not fail.
    pub(crate) tasks: Vec<TaskWhy>,
}

/// A task of a run; its reason says why it is in its state, also where nothing went wrong.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskWhy {
    #[serde(flatten)]
    pub(crate) task: TaskRun,
    /// The tasks of the run that come before it and are not done.
    pub(crate) waits_for: Vec<TaskId>,
    /// The receipt of the prompt that its last attempt began with, replayed; none when it was not begun or has
    /// been spawned anew since.
    pub(crate) spawn: Option<Why>,
}

pub(crate) fn why(context: &mut Context, run: &str) -> Result<RunWhy> {
    let RunView { run, tasks, .. } = show(context, run)?;
    let run = run.record;
    let begun = tasks.iter().filter(|task| task.attempts > 0);
    let begun: Vec<TaskId> = begun.map(|task| task.planned.task_id).collect();
    let mut spawns = whys(context, &begun)?;
    let done = tasks.iter().filter(|task| task.is_done());
    let done: HashSet<TaskId> = done.map(|task| task.planned.task_id).collect();
    let work = tasks.into_iter().filter(TaskRun::is_counted).map(|task| {
        let is_open = matches!(task.state, StepState::Waiting | StepState::Skipped);
        let needs = task.planned.needs.iter().filter(|_| is_open).copied();
        let waits_for: Vec<TaskId> = needs.filter(|need| !done.contains(need)).collect();
        let spawn = spawns.remove(&task.planned.task_id);
        TaskWhy {
            spawn: spawn
                .filter(|why| task.setup.manifest_id.as_ref() == Some(&why.receipt.manifest_id)),
            task: TaskRun {
                reason: Some(task_reason(&task, &run, &waits_for)),
                history: Vec::new(),
                ..task
            },
            waits_for,
        }
    });
    Ok(RunWhy {
        tasks: work.collect(),
        reason: reason(&run),
        run,
    })
}

fn task_reason(task: &TaskRun, run: &Run, waits_for: &[TaskId]) -> String {
    match task.state {
        StepState::Done if task.attempts == 0 => "it was done already".to_string(),
        StepState::Done => "what its agent left verifies".to_string(),
        StepState::Running | StepState::Verifying if run.is_over() => {
            "the run ended while an agent worked on it".to_string()
        }
        StepState::Running => "an agent works on it".to_string(),
        StepState::Verifying => "what its agent left is being verified".to_string(),
        StepState::Waiting if run.is_over() => "the run ended before it was its turn".to_string(),
        StepState::Waiting if waits_for.is_empty() => "it waits for its turn".to_string(),
        StepState::Waiting => format!("it waits for {}", id::list(waits_for)),
        StepState::Failed | StepState::Cancelled | StepState::Skipped => {
            explain_task(task, waits_for)
        }
    }
}

fn explain_task(task: &TaskRun, waits_for: &[TaskId]) -> String {
    let noted = task.reason.clone();
    let noted = noted.unwrap_or_else(|| match task.violations.is_empty() {
        true => "no reason is known".to_string(),
        false => task.violations.join("; "),
    });
    match waits_for.is_empty() {
        true => noted,
        false => format!("{noted} ({})", id::list(waits_for)),
    }
}

fn reason(run: &Run) -> String {
    if let Some(error) = &run.error {
        return error.clone();
    }
    match run.status {
        RunStatus::Pending => "it has not begun".to_string(),
        RunStatus::Running => "it is in progress".to_string(),
        RunStatus::Interrupted => "its process ended before it did".to_string(),
        RunStatus::Cancelled => "it was cancelled".to_string(),
        RunStatus::Failed => "no reason is known".to_string(),
        RunStatus::Unanswered => "no model is configured that could answer".to_string(),
        RunStatus::Completed => {
            // An agent's answer is not a reason; the result of a run over tasks is.
            let is_over_tasks = matches!(run.kind, RunKind::Epic | RunKind::Tasks);
            let came_out = run.output.as_ref().filter(|_| is_over_tasks);
            let told = came_out.unwrap_or(&run.routing_reason);
            let words = if told.is_empty() {
                "all of it was done"
            } else {
                told
            };
            words.to_string()
        }
    }
}
