//! The state of an epic, or of all work, and the next action.

use serde::Serialize;

use super::brief::Brief;
use super::budget::Budget;
use super::cut::{Few, cut, cut_to_tokens};
use super::entries::{Followup, Scope};
use super::recommend::{Recommended, recommend};
use crate::claim::Claim;
use crate::error::Result;
use crate::estimate;
use crate::id::TaskId;
use crate::manifest::{Entry, Status as EntryStatus, log};
use crate::ops::runs::liveness;
use crate::ops::tasks::delivered::find_delivered;
use crate::ops::tasks::{self, Below, warn_of_problems};
use crate::ops::trust::Trust;
use crate::ops::{Context, no_task, require};
use crate::store::{Counts, Transaction};
use crate::task::graph::Problem;
use crate::task::{Progress, Status, TaskView};

/// Maximum number of tokens of the answer to `start`, so that it stays below 1,000 with its envelope.
const START_TOKENS: usize = 900;
/// Maximum number of tokens of the answer to `status`.
const STATUS_TOKENS: usize = 4_000;
/// Maximum numbers of ready tasks, active tasks, epics, entries and problems that are read.
const READY_MAX: u32 = 12;
const ACTIVE_MAX: u32 = 20;
const EPICS_MAX: u32 = 12;
const ENTRIES_MAX: usize = 5;
const PROBLEMS_MAX: usize = 3;

/// The state of an epic, or of all work, and the next action; lists and texts are cut to a token budget.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Overview {
    /// The epic of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) epic: Option<TaskView>,
    /// Number of tasks by status.
    pub(crate) state: Counts,
    /// Number of tasks.
    pub(crate) total: u64,
    /// Percentage of the tasks that are done, without cancelled ones.
    pub(crate) percent: u64,
    pub(crate) recommended: Recommended,
    /// An epic whose tasks are all done, where nothing is ready or active.
    #[serde(skip)]
    pub(super) finished: Option<TaskId>,
    /// Active tasks, the last changed first.
    pub(crate) active: Few<Active>,
    /// Tasks that can start now, most urgent first.
    pub(crate) ready: Few<TaskView>,
    /// Entries of the manifest with open follow-ups, the newest first.
    pub(crate) followups: Few<Followup>,
    /// Claims whose lease ran out.
    pub(crate) expired_claims: Few<Claim>,
    /// Why tasks cannot start.
    pub(crate) problems: Few<String>,
    /// In `start`: the tokens of this answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) budget: Option<Budget>,
    /// In `status`: the progress of open epics, or of the epic of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) epics: Option<Few<Progress>>,
    /// In `status`: the newest entries of the manifest, the newest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entries: Option<Few<EntryLine>>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) brief: Option<Brief>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Active {
    #[serde(flatten)]
    pub(crate) task: TaskView,
    /// The holder of its claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) holder: Option<String>,
    /// The status of its latest entry in the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entry: Option<EntryStatus>,
    /// The command to continue with once its entry says complete.
    #[serde(skip)]
    pub(super) command: String,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct EntryLine {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) status: EntryStatus,
    /// The day of the work.
    pub(crate) date: String,
}

cut! {
    Overview: epic active ready followups expired_claims problems epics entries brief;
    Active: task holder;
    Progress: task;
    EntryLine: title;
}

/// Reads what an orchestrating agent needs to begin, and counts the tokens of the answer.
pub(crate) fn start(context: &mut Context, part: Below) -> Result<Overview> {
    let limit = context.surroundings.defaults.context_tokens;
    let (mut answer, _) = read(context, part.epic)?;
    answer.budget = Some(Budget::new(0, limit, estimate::METHOD));
    let mut answer = cut_to_tokens(START_TOKENS, answer);
    // The number is a part of the answer that it counts, so it is repeated until it is stable.
    for _ in 0..4 {
        let tokens = estimate::tokens_of(&answer);
        answer.budget = Some(Budget::new(tokens, limit, estimate::METHOD));
    }
    Ok(answer)
}

/// Reads the state of an epic, or of all work, and warns of problems.
pub(crate) fn status(context: &mut Context, part: Below) -> Result<Overview> {
    let (mut answer, ready) = read(context, part.epic)?;
    warn_of_problems(context, &ready.problems);
    let manifest = context.workspace.manifest()?;
    context.read(|transaction| {
        let (epics, n_epics) = match part.epic {
            Some(epic) => (vec![epic], 1),
            None => transaction.open_epics(EPICS_MAX)?,
        };
        let epics = epics.into_iter().map(|id| progress(transaction, id));
        let epics = epics.collect::<Result<Vec<_>>>()?;
        let scope = Scope::new(transaction, part.epic);
        let newest = log::newest(&manifest, ENTRIES_MAX, |draft| scope.contains(draft))?;
        let entries = newest.entries.into_iter().rev().map(|entry| EntryLine {
            id: entry.id,
            title: entry.title,
            status: entry.status,
            date: entry.date,
        });
        answer.epics = Some(Few::new(epics, n_epics));
        answer.entries = Some(Few::new(entries.collect(), newest.total as u64));
        Ok(cut_to_tokens(STATUS_TOKENS, answer))
    })
}

fn progress(transaction: &dyn Transaction, id: TaskId) -> Result<Progress> {
    let counts = transaction.counts(Some(id))?;
    let count = |status| counts.get(&status).copied().unwrap_or(0);
    Ok(Progress {
        task: transaction.salvage(id)?.ok_or_else(|| no_task(id))?.into(),
        done: count(Status::Done),
        total: counts.values().sum::<u64>() - count(Status::Cancelled),
    })
}

fn find_finished(transaction: &dyn Transaction) -> Result<Option<TaskId>> {
    for id in transaction.open_epics(EPICS_MAX)?.0 {
        let progress = progress(transaction, id)?;
        if progress.total > 0 && progress.done == progress.total {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// Reads an overview before it is cut, and the ready tasks.
pub(super) fn read(
    context: &mut Context,
    epic: Option<TaskId>,
) -> Result<(Overview, tasks::Ready)> {
    let (manifest, now) = (context.workspace.manifest()?, context.now());
    let mut ready = tasks::find_ready(context, epic, Some(READY_MAX))?;
    let first = ready.tasks.iter().map(|one| one.task.clone());
    let ids: Vec<TaskId> = ready.tasks.iter().map(|one| one.task.id).collect();
    let trust = Trust::new(&context.surroundings, &context.workspace);
    let (mut overview, apart) = context.read(|transaction| {
        ready.delivered = find_delivered(&trust, transaction, &ids)?;
        let scope = Scope::new(transaction, epic);
        let state = transaction.counts(epic)?;
        let count = |status| state.get(&status).copied().unwrap_or(0);
        let total: u64 = state.values().sum();
        let mut expired_claims = Vec::new();
        for claim in tasks::find_expired(transaction, epic, &now)? {
            let is_open = scope.is_open(claim.task)?;
            expired_claims.extend(is_open.then_some(claim));
        }
        let epic = epic.map(|id| require(transaction, id)).transpose()?;
        let of = epic.as_ref().map(|epic| epic.id);
        let active = read_active(transaction, of, &trust)?;
        let done = count(Status::Done) * 100;
        let overview = Overview {
            epic: epic.map(TaskView::from),
            total,
            percent: done
                .checked_div(total - count(Status::Cancelled))
                .unwrap_or(0),
            recommended: Recommended::default(),
            finished: match ready.total + count(Status::Active) {
                0 if of.is_none() => find_finished(transaction)?,
                _ => None,
            },
            active: Few::new(active, count(Status::Active)),
            ready: Few::new(first.collect(), ready.total),
            followups: scope.followups(&manifest)?,
            expired_claims: expired_claims.into(),
            problems: list_problems(count(Status::Blocked), &ready.problems),
            budget: None,
            epics: None,
            entries: None,
            brief: None,
            state,
        };
        let apart = tasks::select_independent(transaction, &ids, usize::MAX, &now)?;
        Ok((overview, apart))
    })?;
    let left = find_left(context, &overview)?;
    overview.recommended = recommend(&overview, left.as_ref(), &ready, &apart);
    Ok((overview, ready))
}

fn read_active(
    transaction: &dyn Transaction,
    epic: Option<TaskId>,
    trust: &Trust,
) -> Result<Vec<Active>> {
    let ids = transaction.recent(epic, Status::Active, ACTIVE_MAX)?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut spawned = Vec::new();
    for id in &ids {
        spawned.extend(transaction.latest_spawn_to_show(*id)?);
    }
    // Of a task that was spawned, only the entry for its last prompt counts.
    let counts = |entry: &Entry| {
        let mut own = spawned
            .iter()
            .filter(|it| entry.linked_tasks.contains(&it.task))
            .peekable();
        own.peek().is_none() || own.any(|it| it.manifest_id == entry.id)
    };
    let latest = log::latest_for(&trust.workspace.manifest()?, &ids, counts)?;
    let delivered = find_delivered(trust, transaction, &ids)?;
    let tasks = transaction.readable(&ids)?.into_iter();
    let active = tasks.map(|task| {
        let id = task.id;
        let delivered = delivered.iter().find(|it| it.id == id);
        Ok(Active {
            holder: transaction.claim(id)?.and_then(|claim| claim.holder),
            entry: latest.entry(id).map(|entry| entry.status),
            command: delivered
                .map_or_else(|| format!("cleo complete {id}"), |it| it.command.clone()),
            task: task.into(),
        })
    });
    active.collect()
}

fn list_problems(n_blocked: u64, problems: &[Problem]) -> Few<String> {
    let messages = problems.iter().map(|one| one.message.clone());
    let mut shown: Vec<String> = messages.take(PROBLEMS_MAX).collect();
    if n_blocked > 0 {
        shown.push(format!("{n_blocked} blocked"));
    }
    Few::new(shown, problems.len() as u64 + u64::from(n_blocked > 0))
}

/// Finds a task that an interrupted run holds, and that run.
fn find_left(
    context: &Context,
    overview: &Overview,
) -> Result<Option<(TaskId, liveness::AbandonedRun)>> {
    let active = overview.active.shown.iter();
    let active = active.map(|one| (one.task.id, one.holder.as_deref()));
    let expired = overview.expired_claims.shown.iter();
    let expired = expired.map(|claim| (claim.task, claim.holder.as_deref()));
    let held = active.chain(expired);
    let held: Vec<(TaskId, &str)> = held
        .filter_map(|(task, holder)| Some((task, holder?)))
        .collect();
    let holders = held.iter().map(|(_, holder)| *holder);
    let left = liveness::find_abandoned_runs(&context.surroundings, &context.workspace, holders)?;
    Ok(held.into_iter().find_map(|(task, holder)| {
        let run = left.iter().find(|left| left.run == holder)?;
        Some((task, run.clone()))
    }))
}

impl Overview {
    pub(super) fn count(&self, status: Status) -> u64 {
        self.state.get(&status).copied().unwrap_or(0)
    }

    /// Returns the option that names the epic to a command.
    pub(super) fn option(&self) -> String {
        let option = self
            .epic
            .as_ref()
            .map(|epic| format!(" --epic {}", epic.id));
        option.unwrap_or_default()
    }
}
