//! How a run ended.

use std::time::Duration;

use indexmap::IndexSet;
use serde::Serialize;

use super::request::RunRequest;
use super::scheduler::Stop;
use crate::error::{Code, Error, quote};
use crate::run::{
    Counts, Outcome, Planned, Run, RunEvent, RunProjection, RunStatus, Spent, StepState, TaskRun,
};

const NAMED_MAX: usize = 5;

/// The result of a run and of each of its tasks.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Report {
    pub(crate) run: Run,
    /// Its tasks, in its order.
    pub(crate) tasks: Vec<TaskRun>,
    /// How many of them came how far.
    pub(crate) summary: Counts,
    /// The error that the run ends with.
    #[serde(skip)]
    pub(crate) error: Option<Error>,
    #[serde(skip)]
    pub(crate) warnings: Vec<String>,
}

impl Report {
    /// Makes the report of a run that was stopped, or that has `spent` all of its money, the last that was given.
    pub(super) fn new(
        run: Run,
        track: &RunProjection,
        stop: Option<Stop>,
        spent: Option<f64>,
    ) -> Report {
        let summary = track.counts();
        let brief = |task: &TaskRun| TaskRun {
            history: Vec::new(),
            ..task.clone()
        };
        let tasks: Vec<TaskRun> = track.tasks().iter().map(brief).collect();
        Report {
            error: error(&run, &tasks, summary, stop, spent),
            warnings: Vec::new(),
            run,
            tasks,
            summary,
        }
    }
}

pub(super) fn status(track: &RunProjection, stop: Option<Stop>) -> RunStatus {
    let summary = track.counts();
    // Epics do not count, but one that a stopped run left open still has to be proven.
    let is_left = |task: &TaskRun| task.planned.is_epic && task.state != StepState::Done;
    let leaves_epic = stop.is_some() && track.tasks().iter().any(is_left);
    match stop {
        _ if summary.done == summary.total && !leaves_epic => RunStatus::Completed,
        Some(Stop::Cancelled) => RunStatus::Cancelled,
        Some(Stop::Interrupted(_)) => RunStatus::Interrupted,
        // All that is left was stopped agent by agent.
        None if summary.cancelled > 0 && summary.failed == 0 => RunStatus::Cancelled,
        Some(Stop::TimeLimit) | None => RunStatus::Failed,
    }
}

pub(super) fn set_totals(run: &mut Run, track: &RunProjection, time: Duration) {
    let all = sum_spent(track);
    (run.usage, run.cost) = (all.usage, all.cost);
    let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    run.add_time(time);
    let summary = track.counts();
    run.output = Some(format!("{} of {} done", summary.done, summary.total));
    run.error = (run.status != RunStatus::Completed).then(|| describe_counts(summary));
}

/// Returns what the last event of a run tells of it.
pub(super) fn finish_event(run: &Run) -> RunEvent {
    RunEvent::Finished {
        reason: Some(run.status.to_string()),
        duration_ms: run.execution_time_ms,
        usage: run.usage,
        cost: run.cost,
    }
}

pub(super) fn sum_spent(track: &RunProjection) -> Spent {
    let all = track.tasks().iter().map(|task| task.spent);
    all.fold(Spent::default(), Spent::plus)
}

fn describe_counts(summary: Counts) -> String {
    let (done, total, failed) = (summary.done, summary.total, summary.failed);
    let skipped = summary.skipped;
    let cancelled = match summary.cancelled {
        0 => String::new(),
        n => format!("{n} cancelled, "),
    };
    let are = if total == 1 { "task is" } else { "tasks are" };
    let were = if skipped == 1 { "was" } else { "were" };
    format!("{done} of {total} {are} done, {failed} failed, {cancelled}{skipped} {were} not begun")
}

pub(super) fn resume_command(run: &Run, more: Option<f64>) -> String {
    let resume = format!("cleo runs resume {}", run.id);
    match more {
        Some(more) => format!("{resume} --max-cost {more}"),
        None => resume,
    }
}

pub(super) fn describe_request(planned: &[Planned], request: &RunRequest) -> String {
    let work: Vec<&Planned> = planned.iter().filter(|task| !task.is_epic).collect();
    let (n, noun) = match work.len() {
        1 => (1, "task"),
        n => (n, "tasks"),
    };
    match (request.epic, request.wave) {
        (Some(epic), None) => format!("{epic}: {n} {noun}"),
        (Some(epic), Some(wave)) => format!("{epic}, wave {wave}: {n} {noun}"),
        (None, _) if request.all_ready => format!("all that is ready: {n} {noun}"),
        (None, _) => {
            let named = work.iter().take(NAMED_MAX);
            let named = named.map(|task| task.task_id.to_string());
            let named: Vec<String> = named.collect();
            let more = if n > NAMED_MAX { ", …" } else { "" };
            format!("{}{more}", named.join(", "))
        }
    }
}

fn error(
    run: &Run,
    tasks: &[TaskRun],
    summary: Counts,
    stop: Option<Stop>,
    spent: Option<f64>,
) -> Option<Error> {
    if run.status == RunStatus::Completed {
        return None;
    }
    let resume = resume_command(run, spent);
    let what = describe_counts(summary);
    let stopped = match stop {
        Some(Stop::Interrupted(code)) => Some((code, "was interrupted")),
        Some(Stop::Cancelled) => Some((Code::RunCancelled, "was cancelled")),
        Some(Stop::TimeLimit) => Some((Code::RunTimeout, "took longer than it may")),
        None => None,
    };
    if let Some((code, how)) = stopped {
        return Some(Error::new(code, format!("the run {how}: {what}")).fix(resume));
    }
    let failed = tasks.iter().filter(|task| task.state.is_undone());
    let failed: Vec<&TaskRun> = failed.collect();
    let (code, message) = match (summary.total, &failed[..]) {
        (1, [task, ..]) if task.outcome == Some(Outcome::Timeout) => {
            (Code::RunTimeout, reason(task))
        }
        (1, [task, ..]) => (Code::AgentFailed, reason(task)),
        _ => match list_reasons(&failed, tasks) {
            reasons if reasons.is_empty() => (Code::StepsFailed, what),
            reasons => (Code::StepsFailed, format!("{what}: {}", reasons.join("; "))),
        },
    };
    let error = Error::new(code, message);
    let show = format!("cleo runs show {}", quote(&run.id));
    Some(match spent {
        Some(_) => error.fix(resume).or("see what was done", show),
        None => error.fix(show),
    })
}

/// Lists why tasks failed, or were not begun where none failed.
fn list_reasons(failed: &[&TaskRun], tasks: &[TaskRun]) -> Vec<String> {
    let mut reasons: Vec<String> = failed.iter().map(|task| reason(task)).collect();
    if failed.is_empty() {
        let own = |task: &&TaskRun| task.state == StepState::Skipped && task.caused_by.is_none();
        let own = tasks.iter().filter(own);
        let own: IndexSet<&String> = own.filter_map(|task| task.reason.as_ref()).collect();
        reasons.extend(own.into_iter().take(NAMED_MAX).cloned());
    }
    let more = reasons.len().saturating_sub(NAMED_MAX);
    reasons.truncate(NAMED_MAX);
    reasons.extend((more > 0).then(|| format!("and {more} more")));
    reasons
}

fn reason(task: &TaskRun) -> String {
    let outcome = task.outcome.map_or("failed", Outcome::word);
    let why = task.reason.as_deref().unwrap_or("no reason is known");
    format!("{} ({outcome}): {why}", task.planned.task_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_task_is_told_as_one() {
        let mut summary = Counts {
            total: 1,
            failed: 1,
            ..Counts::default()
        };
        let one = "0 of 1 task is done, 1 failed, 0 were not begun";
        assert_eq!(describe_counts(summary), one);
        (summary.total, summary.skipped) = (2, 1);
        let two = "0 of 2 tasks are done, 1 failed, 1 was not begun";
        assert_eq!(describe_counts(summary), two);
    }
}
