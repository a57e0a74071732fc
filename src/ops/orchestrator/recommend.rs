//! What to do next, and why: one action, decided by the facts alone.

use serde::Serialize;

use super::overview::Overview;
use crate::error::quote;
use crate::estimate::one_line;
use crate::id::TaskId;
use crate::manifest::Status as EntryStatus;
use crate::ops::runs::liveness::AbandonedRun;
use crate::ops::tasks::{Apart, Ready};
use crate::task::{Status, TaskView};

/// How much of a name a reason repeats, in characters.
const NAME: usize = 24;
/// How many tasks one command names.
const NAMED: usize = 5;

/// An action, its reason, and the command that takes it.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Default, Serialize)]
pub(crate) struct Recommended {
    /// In a word: `resume`, `review`, `complete`, `reclaim`, `spawn`, `wait`, `unblock`, `close`, `plan` or `rest`.
    pub(crate) action: &'static str,
    pub(crate) reason: String,
    /// The command to paste.
    pub(crate) command: String,
}

/// The word, the reason and the command of an action.
type Advice = (&'static str, String, String);

/// Decides what comes first: what was broken off, what is finished, what is lost, what is ready, what
/// runs, what is stuck, what is over.
pub(super) fn recommend(
    facts: &Overview,
    left: Option<&(TaskId, AbandonedRun)>,
    ready: &Ready,
    apart: &Apart,
) -> Recommended {
    let (action, reason, command) = broken_off(left)
        .or_else(|| advise_finished(facts))
        .or_else(|| advise_lost(facts))
        .or_else(|| startable(facts, ready, apart))
        .or_else(|| running(facts))
        .or_else(|| stuck(facts, ready))
        .unwrap_or_else(|| over(facts));
    Recommended {
        action,
        reason,
        command,
    }
}

/// What such a run holds nobody else can complete or claim, so it comes before all else.
fn broken_off(left: Option<&(TaskId, AbandonedRun)>) -> Option<Advice> {
    let (task, left) = left?;
    let run = quote(&left.run);
    let (action, foreign) = match left.is_own {
        true => ("resume", ""),
        false => ("review", "; you did not begin it on this machine"),
    };
    let reason = format!("{run} holds {task}, and its process is gone{foreign}");
    Some((action, reason, left.resume_command()))
}

fn advise_finished(facts: &Overview) -> Option<Advice> {
    let mut active = facts.active.shown.iter();
    let done = active.find(|one| one.entry == Some(EntryStatus::Complete))?;
    let id = done.task.id;
    let reason = format!("{id} has a complete entry in the manifest and is still active");
    Some(("complete", reason, format!("cleo complete {id}")))
}

fn advise_lost(facts: &Overview) -> Option<Advice> {
    let claim = facts.expired_claims.shown.first()?;
    let (id, holder) = (
        claim.task,
        one_line(claim.holder.as_deref().unwrap_or_default(), NAME),
    );
    let reason = format!("the claim of {holder} on {id} ran out at {}", claim.expires);
    Some(("reclaim", reason, format!("cleo claim {id}")))
}

fn startable(facts: &Overview, ready: &Ready, apart: &Apart) -> Option<Advice> {
    let Some(first) = apart.tasks.first() else {
        return advise_crowded(facts, apart);
    };
    let mut reason = match ready.total {
        1 => format!("{first} is ready, and nothing else is"),
        n => format!("{n} tasks are ready; {first} is the most urgent"),
    };
    if let Some(held) = apart.conflicts.first() {
        let (task, other) = (held.task, held.conflicts_with);
        reason += &format!("; {task} touches files of {other}");
    }
    let command = match (apart.tasks.as_slice(), &facts.epic) {
        ([only], _) => format!("cleo spawn {only}"),
        (_, Some(epic)) => {
            let epic = epic.id;
            format!("cleo orchestrator spawn --epic {epic} --wave --limit {NAMED}")
        }
        (several, None) => {
            let ids = several.iter().take(NAMED).map(TaskId::to_string);
            let ids = ids.collect::<Vec<_>>().join(" ");
            format!("cleo orchestrator spawn {ids}")
        }
    };
    Some(("spawn", reason, command))
}

/// What is ready touches the files of tasks that are under way.
fn advise_crowded(facts: &Overview, apart: &Apart) -> Option<Advice> {
    let held = apart.conflicts.first()?;
    let (task, other) = (held.task, held.conflicts_with);
    let reason = format!("{task} is ready, but touches files that {other} works on");
    let command = format!("cleo orchestrator status{}", facts.option());
    Some(("wait", reason, command))
}

fn running(facts: &Overview) -> Option<Advice> {
    let n_active = facts.count(Status::Active);
    let first = facts.active.shown.first()?.task.id;
    let reason = match n_active {
        1 => format!("nothing is ready until {first} is done"),
        n => format!("nothing is ready until one of {n} active tasks is done"),
    };
    let command = format!("cleo orchestrator status{}", facts.option());
    Some(("wait", reason, command))
}

fn stuck(facts: &Overview, ready: &Ready) -> Option<Advice> {
    if let Some(first) = ready.problems.first() {
        return Some(("unblock", first.message.clone(), first.fix.clone()));
    }
    let waiting = [
        Status::Blocked,
        Status::Review,
        Status::Paused,
        Status::Pending,
    ];
    let status = waiting
        .into_iter()
        .find(|status| facts.count(*status) > 0)?;
    let n = facts.count(status);
    let are = if n == 1 { "is" } else { "are" };
    let reason = format!("nothing is ready or active, and {n} {are} {status}");
    Some(("unblock", reason, format!("cleo list --status {status}")))
}

fn over(facts: &Overview) -> Advice {
    let is_closed = |epic: &TaskView| matches!(epic.status, Status::Done | Status::Cancelled);
    match &facts.epic {
        Some(epic) if facts.total == 0 && !is_closed(epic) => {
            let reason = format!("nothing is in {} yet", epic.id);
            ("plan", reason, format!("cleo spawn {}", epic.id))
        }
        Some(epic) if !is_closed(epic) => {
            let reason = format!("everything in {} is done", epic.id);
            ("close", reason, format!("cleo complete {}", epic.id))
        }
        Some(epic) => {
            let reason = format!("{} is {}", epic.id, epic.status);
            ("rest", reason, "cleo orchestrator start".to_string())
        }
        None if facts.total == 0 => {
            let reason = "there are no tasks yet".to_string();
            ("plan", reason, "cleo add --help".to_string())
        }
        None => {
            let reason = "everything is done".to_string();
            ("rest", reason, "cleo orchestrator brief".to_string())
        }
    }
}
