//! The next action: one, with its reason, derived from an overview.

use serde::Serialize;

use super::overview::Overview;
use crate::error::quote;
use crate::estimate::one_line;
use crate::id::TaskId;
use crate::manifest::Status as EntryStatus;
use crate::ops::runs::alive::Left;
use crate::ops::tasks::{Apart, Ready};
use crate::task::Status;

/// Maximum length of a holder in a reason, in characters.
const NAME_MAX: usize = 24;
/// Maximum number of tasks in one command.
const TASKS_MAX: usize = 5;

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Default, Serialize)]
pub(crate) struct Recommended {
    /// `resume`, `review`, `complete`, `reclaim`, `spawn`, `wait`, `unblock`, `close`, `plan` or `rest`.
    pub(crate) action: &'static str,
    pub(crate) reason: String,
    /// The command to paste.
    pub(crate) command: String,
}

fn advice(action: &'static str, reason: String, command: impl Into<String>) -> Recommended {
    Recommended {
        action,
        reason,
        command: command.into(),
    }
}

/// Decides which action comes first: for interrupted runs, finished tasks, expired claims, ready tasks, active
/// tasks, problems, and at last for an epic or workspace without open work.
pub(super) fn recommend(
    overview: &Overview,
    left: Option<&(TaskId, Left)>,
    ready: &Ready,
    apart: &Apart,
) -> Recommended {
    // Nobody else can complete or claim what an interrupted run holds.
    let interrupted = left.map(|(task, left)| {
        let (action, foreign) = match left.is_own {
            true => ("resume", ""),
            false => ("review", "; you did not begin it on this machine"),
        };
        let run = quote(&left.run);
        let reason = format!("{run} holds {task}, and its process is gone{foreign}");
        advice(action, reason, left.way_on())
    });
    interrupted
        .or_else(|| complete_finished(overview))
        .or_else(|| reclaim_expired(overview))
        .or_else(|| spawn_ready(overview, ready, apart))
        .or_else(|| wait_for_active(overview))
        .or_else(|| unblock(overview, ready))
        .unwrap_or_else(|| close(overview))
}

fn complete_finished(overview: &Overview) -> Option<Recommended> {
    let mut active = overview.active.shown.iter();
    let id = active
        .find(|one| one.entry == Some(EntryStatus::Complete))?
        .task
        .id;
    let reason = format!("{id} has a complete entry in the manifest and is still active");
    Some(advice("complete", reason, format!("cleo complete {id}")))
}

fn reclaim_expired(overview: &Overview) -> Option<Recommended> {
    let claim = overview.expired_claims.shown.first()?;
    let holder = one_line(claim.holder.as_deref().unwrap_or_default(), NAME_MAX);
    let (id, expires) = (claim.task, &claim.expires);
    let reason = format!("the claim of {holder} on {id} ran out at {expires}");
    Some(advice("reclaim", reason, format!("cleo claim {id}")))
}

fn spawn_ready(overview: &Overview, ready: &Ready, apart: &Apart) -> Option<Recommended> {
    let conflict = apart.conflicts.first();
    let Some(first) = apart.tasks.first() else {
        let (task, other) = conflict.map(|held| (held.task, held.conflicts_with))?;
        let reason = format!("{task} is ready, but touches files that {other} works on");
        return Some(wait(overview, reason));
    };
    let mut reason = match ready.total {
        1 => format!("{first} is ready, and nothing else is"),
        n => format!("{n} tasks are ready; {first} is the most urgent"),
    };
    if let Some(held) = conflict {
        let (task, other) = (held.task, held.conflicts_with);
        reason += &format!("; {task} touches files of {other}");
    }
    let command = match (apart.tasks.as_slice(), &overview.epic) {
        ([only], _) => format!("cleo spawn {only}"),
        (_, Some(epic)) => {
            let epic = epic.id;
            format!("cleo orchestrator spawn --epic {epic} --wave --limit {TASKS_MAX}")
        }
        (several, None) => {
            let ids = several.iter().take(TASKS_MAX).map(TaskId::to_string);
            let ids = ids.collect::<Vec<_>>().join(" ");
            format!("cleo orchestrator spawn {ids}")
        }
    };
    Some(advice("spawn", reason, command))
}

fn wait(overview: &Overview, reason: String) -> Recommended {
    let command = format!("cleo orchestrator status{}", overview.option());
    advice("wait", reason, command)
}

fn wait_for_active(overview: &Overview) -> Option<Recommended> {
    let first = overview.active.shown.first()?.task.id;
    let reason = match overview.count(Status::Active) {
        1 => format!("nothing is ready until {first} is done"),
        n => format!("nothing is ready until one of {n} active tasks is done"),
    };
    Some(wait(overview, reason))
}

fn unblock(overview: &Overview, ready: &Ready) -> Option<Recommended> {
    if let Some(first) = ready.problems.first() {
        return Some(advice("unblock", first.message.clone(), &first.fix));
    }
    let waiting = [
        Status::Blocked,
        Status::Review,
        Status::Paused,
        Status::Pending,
    ];
    let status = waiting
        .into_iter()
        .find(|status| overview.count(*status) > 0)?;
    let n = overview.count(status);
    let are = if n == 1 { "is" } else { "are" };
    let reason = format!("nothing is ready or active, and {n} {are} {status}");
    Some(advice(
        "unblock",
        reason,
        format!("cleo list --status {status}"),
    ))
}

fn close(overview: &Overview) -> Recommended {
    let Some(epic) = &overview.epic else {
        return match overview.total {
            0 => advice(
                "plan",
                "there are no tasks yet".to_string(),
                "cleo add --help",
            ),
            _ => advice(
                "rest",
                "everything is done".to_string(),
                "cleo orchestrator brief",
            ),
        };
    };
    let (id, status) = (epic.id, epic.status);
    if status.is_closed() {
        return advice(
            "rest",
            format!("{id} is {status}"),
            "cleo orchestrator start",
        );
    }
    match overview.total {
        0 => advice(
            "plan",
            format!("nothing is in {id} yet"),
            format!("cleo spawn {id}"),
        ),
        _ => advice(
            "close",
            format!("everything in {id} is done"),
            format!("cleo complete {id}"),
        ),
    }
}
