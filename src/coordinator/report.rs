//! How a run ended.

use std::time::Duration;

use serde::Serialize;

use super::machine::Stop;
use super::options::{Options, Selection};
use crate::error::{Code, Error};
use crate::run::board::{Board, Summary, TaskRun, TaskState};
use crate::run::told::Planned;
use crate::run::{Outcome, Run, RunStatus, Usage};

/// How many tasks a message names.
const NAMED_MAX: usize = 5;

/// What became of a run and of each of its tasks.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub struct Report {
    /// The run.
    pub run: Run,
    /// Its tasks, in its order.
    pub tasks: Vec<TaskRun>,
    /// How many of them came how far.
    pub summary: Summary,
    /// The error that the run ends with.
    #[serde(skip)]
    pub error: Option<Error>,
}

impl Report {
    pub(super) fn new(run: Run, board: &Board, stop: Option<Stop>, caught: Option<Code>) -> Report {
        let summary = Summary::of(board);
        let tasks = board.tasks().to_vec();
        Report {
            error: error(&run, &tasks, summary, stop, caught),
            run,
            tasks,
            summary,
        }
    }
}

/// Says how a run ended that ends now.
pub(super) fn status(board: &Board, stop: Option<Stop>) -> RunStatus {
    let summary = Summary::of(board);
    match stop {
        _ if summary.done == summary.total => RunStatus::Completed,
        Some(Stop::Cancelled) => RunStatus::Cancelled,
        Some(Stop::Interrupted) => RunStatus::Interrupted,
        Some(Stop::TimeLimit) | None => RunStatus::Failed,
    }
}

/// Adds up what the tasks of a run took.
pub(super) fn total(run: &mut Run, board: &Board, time: Duration) {
    let usages = board.tasks().iter().filter_map(|task| task.usage);
    run.usage = usages.reduce(Usage::plus);
    let costs = board.tasks().iter().filter_map(|task| task.cost);
    run.cost = costs.reduce(|a, b| a + b);
    let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let before = run.execution_time_ms.unwrap_or(0);
    run.execution_time_ms = Some(before.saturating_add(time));
    let summary = Summary::of(board);
    run.output = Some(format!("{} of {} done", summary.done, summary.total));
    run.error = (run.status != RunStatus::Completed).then(|| told(summary));
}

fn told(summary: Summary) -> String {
    let Summary {
        total,
        done,
        failed,
        skipped,
        ..
    } = summary;
    format!("{done} of {total} tasks are done, {failed} failed, {skipped} were not begun")
}

/// Says what a run is about, in a line.
pub(super) fn told_of(planned: &[Planned], options: &Options) -> String {
    let work: Vec<&Planned> = planned.iter().filter(|task| !task.is_epic).collect();
    let (n, noun) = match work.len() {
        1 => (1, "task"),
        n => (n, "tasks"),
    };
    match &options.selection {
        Selection::Epic(epic) => format!("{epic}: {n} {noun}"),
        Selection::Wave(epic, wave) => format!("{epic}, wave {wave}: {n} {noun}"),
        Selection::AllReady => format!("all that is ready: {n} {noun}"),
        Selection::Tasks(_) => {
            let named = work
                .iter()
                .take(NAMED_MAX)
                .map(|task| task.task_id.to_string());
            let named: Vec<String> = named.collect();
            let more = if n > NAMED_MAX { ", …" } else { "" };
            format!("{}{more}", named.join(", "))
        }
    }
}

fn error(
    run: &Run,
    tasks: &[TaskRun],
    summary: Summary,
    stop: Option<Stop>,
    caught: Option<Code>,
) -> Option<Error> {
    if run.status == RunStatus::Completed {
        return None;
    }
    let resume = format!("cleo runs resume {}", run.id);
    let show = format!("cleo runs show {}", run.id);
    let what = told(summary);
    let error = |code, message: String| Some(Error::new(code, message));
    match stop {
        Some(Stop::Interrupted) => {
            let code = caught.unwrap_or(Code::Interrupted);
            let message = format!("the run was interrupted: {what}");
            return error(code, message).map(|error| error.fix(resume));
        }
        Some(Stop::Cancelled) => {
            let message = format!("the run was cancelled: {what}");
            return error(Code::RunCancelled, message).map(|error| error.fix(resume));
        }
        Some(Stop::TimeLimit) => {
            let message = format!("the run took longer than it may: {what}");
            return error(Code::RunTimeout, message).map(|error| error.fix(resume));
        }
        None => {}
    }
    let failed = tasks.iter().filter(|task| task.state == TaskState::Failed);
    let failed: Vec<&TaskRun> = failed.collect();
    let mut reasons: Vec<String> = failed
        .iter()
        .take(NAMED_MAX)
        .map(|task| reason(task))
        .collect();
    if failed.len() > NAMED_MAX {
        reasons.push(format!("and {} more", failed.len() - NAMED_MAX));
    }
    if let (1, Some(task)) = (summary.total, failed.first()) {
        let code = match task.outcome {
            Some(Outcome::Timeout) => Code::RunTimeout,
            _ => Code::AgentFailed,
        };
        return error(code, reason(task)).map(|error| error.fix(show));
    }
    let reasons = match reasons.is_empty() {
        true => String::new(),
        false => format!(": {}", reasons.join("; ")),
    };
    error(Code::StepsFailed, format!("{what}{reasons}")).map(|error| error.fix(show))
}

/// Says why a task failed.
fn reason(task: &TaskRun) -> String {
    let outcome = task.outcome.map_or("failed", Outcome::word);
    let why = task.reason.as_deref().unwrap_or("no reason is known");
    format!("{} ({outcome}): {why}", task.task_id)
}
