//! What every answer to an orchestrating agent holds: how far the work is, and what comes next.

use std::path::Path;

use serde::Serialize;

use super::brief::Brief;
use super::budget::Budget;
use super::few::{Few, cut, fit};
use super::followups::{self, Followup};
use super::recommend::{Recommended, recommend};
use super::scope::Scope;
use crate::claim::Claim;
use crate::error::Result;
use crate::estimate;
use crate::id::TaskId;
use crate::manifest::{Status as EntryStatus, log};
use crate::ops::runs::liveness;
use crate::ops::tasks::{self, Below, warn_of_problems};
use crate::ops::{Context, no_task, require};
use crate::store::{Counts, Transaction};
use crate::task::graph::Problem;
use crate::task::{Progress, Status, TaskView};

/// Most tokens of the answer to `start`; the envelope around it takes some more, and all stays below 1,000.
const START_TOKENS: usize = 900;
/// Most tokens of the answer to `status`.
const STATUS_TOKENS: usize = 4_000;
/// Most ready tasks that are read.
const READY_MAX: u32 = 12;
/// Most active tasks that are looked at.
const ACTIVE_MAX: u32 = 20;
/// How many problems are told.
const PROBLEMS_SHOWN: usize = 3;
/// Most epics that are shown.
const EPICS_MAX: u32 = 12;
/// Most entries that are shown.
const ENTRIES_MAX: usize = 5;

/// How far the work of an epic, or all of it, is, and what comes next; lists and texts are cut to what an
/// orchestrator can afford to read.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Overview {
    /// The epic that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) epic: Option<TaskView>,
    /// How many tasks stand where.
    pub(crate) state: Counts,
    /// How many tasks there are.
    pub(crate) total: usize,
    /// Hundredths of the tasks that are done, without cancelled ones.
    pub(crate) percent: usize,
    pub(crate) recommended: Recommended,
    /// Tasks that somebody works on, the last changed first.
    pub(crate) active: Few<Active>,
    /// Tasks that an agent can start now, most urgent first.
    pub(crate) ready: Few<TaskView>,
    /// Entries of the manifest that something has to follow, the newest first.
    pub(crate) followups: Few<Followup>,
    /// Claims whose lease ran out.
    pub(crate) expired_claims: Few<Claim>,
    /// What stands in the way.
    pub(crate) problems: Few<String>,
    /// What the answer of `start` costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) budget: Option<Budget>,
    /// In `status`: how far open epics are; only the one that was asked about, if one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) epics: Option<Few<Progress>>,
    /// In `status`: the newest entries of the manifest, the newest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entries: Option<Few<Reported>>,
    /// What the hand-over holds besides.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) brief: Option<Brief>,
}

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Active {
    #[serde(flatten)]
    pub(crate) task: TaskView,
    /// Who holds it, where somebody has claimed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) holder: Option<String>,
    /// What its latest entry in the manifest says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entry: Option<EntryStatus>,
}

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Reported {
    pub(crate) id: String,
    pub(crate) title: String,
    /// How far the work came.
    pub(crate) status: EntryStatus,
    /// The day of the work.
    pub(crate) date: String,
}

cut! {
    Overview: epic active ready followups expired_claims problems epics entries brief;
    Active: task holder;
    Progress: task;
    Reported: title;
}

/// Reads all that an orchestrating agent needs to begin. What it costs is compared with the tokens that an
/// orchestrator may use.
pub(crate) fn start(context: &mut Context, part: Below) -> Result<Overview> {
    let limit = context.surroundings.defaults.context_tokens;
    let (mut answer, _) = read(context, part.epic)?;
    answer.budget = Some(Budget::compare(0, limit, estimate::METHOD));
    let mut answer = fit(START_TOKENS, answer);
    // The number is a part of the answer, so it is looked for until it fits.
    for _ in 0..4 {
        let tokens = estimate::tokens_of(&answer);
        answer.budget = Some(Budget::compare(tokens, limit, estimate::METHOD));
    }
    Ok(answer)
}

/// Reads where the work of an epic, or all of it, stands, and warns of what can never start.
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
        let newest = log::newest(&manifest, ENTRIES_MAX, |draft| scope.holds_entry(draft))?;
        let entries = newest.entries.into_iter().rev().map(|entry| Reported {
            id: entry.id,
            title: entry.title,
            status: entry.status,
            date: entry.date,
        });
        let n_epics = usize::try_from(n_epics).unwrap_or(usize::MAX);
        answer.epics = Some(Few::new(epics, n_epics));
        answer.entries = Some(Few::new(entries.collect(), newest.total));
        Ok(fit(STATUS_TOKENS, answer))
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

/// Reads an overview that is not cut yet, and what is ready.
pub(super) fn read(
    context: &mut Context,
    epic: Option<TaskId>,
) -> Result<(Overview, tasks::Ready)> {
    let (manifest, now) = (context.workspace.manifest()?, context.now());
    let ready = tasks::find_ready(context, epic, Some(READY_MAX))?;
    let first: Vec<TaskView> = ready.tasks.iter().map(|one| one.task.clone()).collect();
    let ids: Vec<TaskId> = first.iter().map(|task| task.id).collect();
    let (mut overview, apart) = context.read(|transaction| {
        let scope = Scope::new(transaction, epic);
        let state = transaction.counts(epic)?;
        let mut expired_claims = Vec::new();
        for claim in tasks::find_expired(transaction, epic, &now)? {
            let is_open = scope.is_open(claim.task)?;
            expired_claims.extend(is_open.then_some(claim));
        }
        let count = |status: &Status| count(&state, *status);
        let total: usize = Status::ALL.iter().map(count).sum();
        let counted = total - count(&Status::Cancelled);
        let overview = Overview {
            epic: epic
                .map(|id| require(transaction, id))
                .transpose()?
                .map(TaskView::from),
            total,
            percent: (count(&Status::Done) * 100)
                .checked_div(counted)
                .unwrap_or(0),
            recommended: Recommended::default(),
            active: Few::new(
                active(transaction, epic, &manifest)?,
                count(&Status::Active),
            ),
            ready: Few::new(first, usize::try_from(ready.total).unwrap_or(usize::MAX)),
            followups: followups::open(&manifest, &scope)?,
            expired_claims: expired_claims.into(),
            problems: problems(count(&Status::Blocked), &ready.problems),
            budget: None,
            epics: None,
            entries: None,
            brief: None,
            state,
        };
        let apart = tasks::apart(transaction, &ids, usize::MAX, &now)?;
        Ok((overview, apart))
    })?;
    let left = find_left(context, &overview)?;
    overview.recommended = recommend(&overview, left.as_ref(), &ready, &apart);
    Ok((overview, ready))
}

fn active(
    transaction: &dyn Transaction,
    epic: Option<TaskId>,
    manifest: &Path,
) -> Result<Vec<Active>> {
    let ids = transaction.recent(epic, Status::Active, ACTIVE_MAX)?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let latest = log::latest_for(manifest, &ids, |_, _| true)?;
    let mut active = Vec::new();
    for task in transaction.readable(&ids)? {
        active.push(Active {
            holder: transaction.claim(task.id)?.and_then(|claim| claim.holder),
            entry: latest.entry(task.id).map(|entry| entry.status),
            task: task.into(),
        });
    }
    Ok(active)
}

fn problems(n_blocked: usize, problems: &[Problem]) -> Few<String> {
    let all = problems.iter().map(|one| one.message.clone());
    let mut told: Vec<String> = all.take(PROBLEMS_SHOWN).collect();
    if n_blocked > 0 {
        told.push(format!("{n_blocked} blocked"));
    }
    Few::new(told, problems.len() + usize::from(n_blocked > 0))
}

/// Finds a task that a run holds which nobody carries out any more, and that run.
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

fn count(state: &Counts, status: Status) -> usize {
    usize::try_from(state.get(&status).copied().unwrap_or(0)).unwrap_or(usize::MAX)
}

impl Overview {
    pub(super) fn count(&self, status: Status) -> usize {
        count(&self.state, status)
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
