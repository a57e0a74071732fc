//! The next action: one, with its reason, derived from an overview.

use serde::Serialize;

use super::overview::{Active, Overview};
use crate::error::quote;
use crate::estimate::one_line;
use crate::id::TaskId;
use crate::manifest::Status as EntryStatus;
use crate::ops::runs::liveness::AbandonedRun;
use crate::ops::tasks::{Apart, Ready};
use crate::task::Status;

/// Maximum length of a holder in a reason, in characters.
const NAME_MAX: usize = 24;
/// Maximum number of tasks in one command.
const TASKS_MAX: usize = 5;

#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
pub(crate) struct Recommended {
    /// `resume`, `review`, `complete`, `reclaim`, `spawn`, `wait`, `unblock`, `close`, `plan` or `rest`.
    pub(crate) action: &'static str,
    pub(crate) reason: String,
    /// The command to paste.
    pub(crate) command: String,
}

fn advise(
    action: &'static str,
    reason: impl Into<String>,
    command: impl Into<String>,
) -> Recommended {
    Recommended {
        action,
        reason: reason.into(),
        command: command.into(),
    }
}

/// Decides which action comes first: for interrupted runs, finished tasks, expired claims, output to be verified, ready
/// tasks, active tasks, problems, and at last for an epic or workspace without open work.
pub(super) fn recommend(
    overview: &Overview,
    left: Option<&(TaskId, AbandonedRun)>,
    ready: &Ready,
    apart: &Apart,
) -> Recommended {
    // Only resume or cancel of an interrupted run frees its tasks.
    if let Some((task, left)) = left {
        let (action, foreign) = match left.is_own {
            true => ("resume", ""),
            false => ("review", "; you did not begin it on this machine"),
        };
        let run = quote(&left.run);
        let reason = format!("{run} holds {task}, and its process is gone{foreign}");
        return advise(action, reason, left.resume_command());
    }
    let has_entry = |one: &&Active| one.entry == Some(EntryStatus::Complete);
    if let Some(active) = overview.active.shown.iter().find(has_entry) {
        let id = active.task.id;
        let reason = format!("{id} has a complete entry in the manifest and is still active");
        return advise("complete", reason, &active.command);
    }
    if let Some(claim) = overview.expired_claims.shown.first() {
        let holder = one_line(claim.holder.as_deref().unwrap_or_default(), NAME_MAX);
        let (id, expires) = (claim.task, &claim.expires);
        let reason = format!("the claim of {holder} on {id} ran out at {expires}");
        return advise("reclaim", reason, format!("cleo claim {id}"));
    }
    if let Some(delivered) = ready.delivered.first() {
        let (id, file) = (delivered.id, &delivered.output_file);
        let reason = format!("{id} is ready and has output in {file}");
        return advise("complete", reason, &delivered.command);
    }
    match apart.tasks.as_slice() {
        [] => recommend_without_ready(overview, ready, apart),
        tasks => recommend_spawn(overview, ready, apart, tasks),
    }
}

fn recommend_spawn(
    overview: &Overview,
    ready: &Ready,
    apart: &Apart,
    tasks: &[TaskId],
) -> Recommended {
    let first = tasks[0];
    let mut reason = match ready.total {
        1 => format!("{first} is ready, and nothing else is"),
        n => format!("{n} tasks are ready; {first} is the most urgent"),
    };
    if let Some(held) = apart.conflicts.first() {
        let (task, other) = (held.task, held.conflicts_with);
        reason += &format!("; {task} touches files of {other}");
    }
    let command = match (tasks, &overview.epic) {
        ([only], _) => format!("cleo spawn {only}"),
        (_, Some(epic)) => {
            let epic = epic.id;
            format!("cleo orchestrator spawn --epic {epic} --wave --limit {TASKS_MAX}")
        }
        (several, None) => {
            let ids = several.iter().take(TASKS_MAX).map(|id| format!(" {id}"));
            format!("cleo orchestrator spawn{}", ids.collect::<String>())
        }
    };
    advise("spawn", reason, command)
}

fn recommend_without_ready(overview: &Overview, ready: &Ready, apart: &Apart) -> Recommended {
    let status = format!("cleo orchestrator status{}", overview.option());
    if let Some(held) = apart.conflicts.first() {
        let (task, other) = (held.task, held.conflicts_with);
        let reason = format!("{task} is ready, but touches files that {other} works on");
        return advise("wait", reason, status);
    }
    if let Some(first) = overview.active.shown.first() {
        let reason = match overview.count(Status::Active) {
            1 => format!("nothing is ready until {} is done", first.task.id),
            n => format!("nothing is ready until one of {n} active tasks is done"),
        };
        return advise("wait", reason, status);
    }
    if let Some(first) = overview.finished {
        let reason = format!("everything in {first} is done");
        return advise("close", reason, format!("cleo complete {first}"));
    }
    if let Some(first) = ready.problems.first() {
        return advise("unblock", first.message.clone(), &first.fix);
    }
    for status in [
        Status::Blocked,
        Status::Review,
        Status::Paused,
        Status::Pending,
    ] {
        let n = overview.count(status);
        if n > 0 {
            let are = if n == 1 { "is" } else { "are" };
            let reason = format!("nothing is ready or active, and {n} {are} {status}");
            return advise("unblock", reason, format!("cleo list --status {status}"));
        }
    }
    recommend_closing(overview)
}

fn recommend_closing(overview: &Overview) -> Recommended {
    let Some(epic) = &overview.epic else {
        return match overview.total {
            0 => advise("plan", "there are no tasks yet", "cleo add --help"),
            _ => advise("rest", "everything is done", "cleo orchestrator brief"),
        };
    };
    let (id, status) = (epic.id, epic.status);
    if status.is_closed() {
        let reason = format!("{id} is {status}");
        return advise("rest", reason, "cleo orchestrator start");
    }
    let (empty, done) = (
        format!("nothing is in {id} yet"),
        format!("everything in {id} is done"),
    );
    match overview.total {
        0 => advise("plan", empty, format!("cleo spawn {id}")),
        _ => advise("close", done, format!("cleo complete {id}")),
    }
}
