//! The recorder of runs: what happens in each is kept here, and which process executes it. Pages, lists and
//! reports of runs are in `ops::work::runs`.

pub(crate) mod journal;
pub(crate) mod liveness;
pub(crate) mod recording;

use std::collections::HashSet;

use super::trust::{Item, Trust};
use super::{Context, Surroundings};
use crate::clock::Clock;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::run::{Event, Run, RunKind, RunProjection, RunStatus};
use crate::store::records::{RunFilter, RunPage};
use crate::store::{Database, Store, Transaction};
use crate::workspace::Workspace;

/// Number of events in which a run names its tasks.
const BEGINNING: u32 = 4;

/// Most runs of a status that are asked whether they do a task.
const OPEN_MAX: u32 = 100;

/// Lists runs of the caller, after runs of dead processes were marked.
pub(crate) fn list(surroundings: &Surroundings, filter: &RunFilter) -> Result<RunPage> {
    let workspace = surroundings.workspace()?;
    match open_after_recovery(&workspace, &surroundings.clock)? {
        Some(mut store) => store.read()?.runs(surroundings.visible_user(), filter),
        None => Ok(RunPage::default()),
    }
}

pub(crate) fn is_own(
    surroundings: &Surroundings,
    workspace: &Workspace,
    run: &Run,
    events: &[Event],
) -> bool {
    Trust::new(surroundings, workspace).is_trusted(&Item::from_run(run, events))
}

pub(crate) fn is_run(name: &str) -> bool {
    let made = name
        .strip_prefix("run_")
        .and_then(|rest| rest.split_once('_'));
    made.is_some_and(|(moment, rest)| {
        let is_moment = moment.len() >= 13 && moment.bytes().all(|it| it.is_ascii_digit());
        is_moment && !rest.is_empty() && !rest.contains('/')
    })
}

fn has_folder(workspace: &Workspace, run: &str) -> bool {
    journal::run_folder(workspace, run).is_ok_and(|folder| folder.is_dir())
}

/// Returns true for a run of the workspace. An agent may move its folder away, so its record counts too.
pub(crate) fn is_known(workspace: &Workspace, run: &str) -> Result<bool> {
    if has_folder(workspace, run) {
        return Ok(true);
    }
    match workspace.store_if_there()? {
        Some(mut store) => Ok(store.read()?.run(run)?.is_some()),
        None => Ok(false),
    }
}

/// Returns the run that works on a task and is not over, and whether it is in progress: one of `named`, or any that is
/// in progress or interrupted. A run whose plan cannot be read counts too.
pub(crate) fn find_judge(
    surroundings: &Surroundings,
    named: &[String],
    task: TaskId,
) -> Result<Option<(String, bool)>> {
    let workspace = surroundings.workspace()?;
    let mut store = open_after_recovery(&workspace, &surroundings.clock)?;
    let mut runs = Vec::new();
    let transaction = store.as_mut().map(Store::read).transpose()?;
    for id in named {
        let run = transaction.as_ref().map(|it| it.run(id)).transpose()?;
        match run.flatten() {
            Some(run) => runs.push(run),
            None if has_folder(&workspace, id) => return Ok(Some((id.clone(), true))),
            None => {}
        }
    }
    let Some(transaction) = transaction else {
        return Ok(None);
    };
    for status in [RunStatus::Running, RunStatus::Interrupted] {
        let open = RunFilter::by_status(status, OPEN_MAX);
        runs.extend(transaction.runs(None, &open)?.runs);
    }
    for run in runs {
        let is_over = matches!(run.status, RunStatus::Completed | RunStatus::Cancelled);
        if is_over || !matches!(run.kind, RunKind::Epic | RunKind::Tasks) {
            continue;
        }
        let track = RunProjection::read(&transaction.events(Some(&run.id), 0, BEGINNING)?);
        if track.tasks().is_empty() || track.task(task).is_some() {
            let is_in_progress = matches!(run.status, RunStatus::Running | RunStatus::Pending);
            return Ok(Some((run.id, is_in_progress)));
        }
    }
    Ok(None)
}

/// Lists the agents that work at a moment, with the runs of a user or of all: on an execution, on a step of a plan or
/// a query, or on a task that they hold.
pub(in crate::ops) fn list_working_agents(
    transaction: &dyn Transaction,
    user: Option<&str>,
    now: &str,
) -> Result<HashSet<String>> {
    let mut agents = HashSet::new();
    for status in [RunStatus::Running, RunStatus::Pending] {
        let open = RunFilter::by_status(status, OPEN_MAX);
        for run in transaction.runs(user, &open)?.runs {
            match run.kind {
                RunKind::Execution => agents.extend(run.agent),
                RunKind::Plan | RunKind::Query => {
                    let track = RunProjection::read(&journal::events(transaction, &run.id)?);
                    let asked = track.coordination.asked.into_iter();
                    agents.extend(asked.map(|(_, agent)| agent));
                }
                RunKind::Epic | RunKind::Tasks => {}
            }
        }
    }
    let claims = transaction.running_claims(now, OPEN_MAX)?;
    agents.extend(claims.into_iter().filter_map(|claim| claim.holder));
    Ok(agents)
}

pub(crate) fn kind(surroundings: &Surroundings, id: &str) -> Result<RunKind> {
    let run = surroundings.workspace()?.open_store()?.read()?.run(id)?;
    run.map(|run| run.kind).ok_or_else(|| no_run(id))
}

pub(in crate::ops) fn open_after_recovery(
    workspace: &Workspace,
    clock: &Clock,
) -> Result<Option<Database>> {
    let mut store = workspace.store_if_there()?;
    if let Some(store) = &mut store {
        liveness::mark_interrupted_runs(store, workspace, clock)?;
    }
    Ok(store)
}

/// Returns the store of the caller's workspace; runs of dead processes are marked first.
pub(in crate::ops) fn open(context: &mut Context) -> Result<&mut Database> {
    let clock = &context.surroundings.clock;
    liveness::mark_interrupted_runs(&mut context.store, &context.workspace, clock)?;
    Ok(&mut context.store)
}

/// Reads a run that must be there and, if a user is named, be that user's.
pub(crate) fn require_run(
    transaction: &dyn Transaction,
    id: &str,
    user: Option<&str>,
) -> Result<Run> {
    let run = transaction.run(id)?;
    let run = run.filter(|run| user.is_none_or(|user| user == run.user));
    run.ok_or_else(|| no_run(id))
}

pub(crate) fn no_run(id: &str) -> Error {
    Error::new(Code::RunNotFound, format!("there is no run `{id}`")).fix("cleo runs list")
}
