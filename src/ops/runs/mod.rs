//! What agents carried out: listed, and each with everything that happened in it.

pub(crate) mod alive;
pub(crate) mod journal;
pub(crate) mod listing;
pub(crate) mod logs;
pub(crate) mod pages;
pub(crate) mod proof;
pub(crate) mod recording;
pub(crate) mod timeline;
mod title;
pub(crate) mod why;
pub(crate) mod written;

use serde::Serialize;

use super::Surroundings;
use super::trust::{Item, Trust};
use crate::clock::Clock;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::run::board::{Board, TaskRun};
use crate::run::{Event, Message, Run, RunKind, RunStatus, STEP, Step};
use crate::store::agency::{Agency, AgencyTransaction, RunFilter};
use crate::store::sqlite::SqliteAgency;
use crate::workspace::Workspace;

/// Most events of a run that are shown.
const EVENTS_MAX: u32 = 10_000;

/// Number of events in which a run names its tasks.
const BEGINNING: u32 = 4;

/// Runs.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Listed {
    /// The runs, newest first.
    pub(crate) runs: Vec<Run>,
    /// How many there are without the limit.
    pub(crate) total: u64,
}

/// A run with what happened in it.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    pub(crate) run: Run,
    /// How far it came, in order.
    pub(crate) steps: Vec<Step>,
    /// What was said in it, in order.
    pub(crate) messages: Vec<Message>,
    /// What became of each task, of a run over tasks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tasks: Vec<TaskRun>,
    /// Everything that happened, in order; left out where it was told already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) events: Option<Vec<Event>>,
}

/// Lists runs. Those of dead processes are marked first.
pub(crate) fn list(surroundings: &Surroundings, filter: &RunFilter) -> Result<Listed> {
    let workspace = surroundings.workspace()?;
    let Some(mut agency) = settled(&workspace, &surroundings.clock)? else {
        return Ok(Listed {
            runs: Vec::new(),
            total: 0,
        });
    };
    let page = agency.read()?.runs(filter)?;
    Ok(Listed {
        runs: page.runs,
        total: page.total,
    })
}

pub(crate) fn show(surroundings: &Surroundings, id: &str, user: Option<&str>) -> Result<Shown> {
    let workspace = surroundings.workspace()?;
    let agency = SqliteAgency::open(&workspace.agency())?;
    let mut agency = agency.ok_or_else(|| no_run(id))?;
    one(&mut agency, surroundings, id, user)?.ok_or_else(|| no_run(id))
}

pub(crate) fn is_own(
    surroundings: &Surroundings,
    workspace: &Workspace,
    run: &Run,
    events: &[Event],
) -> bool {
    Trust::new(surroundings, workspace).is_trusted(&Item::stored_run(run, events))
}

pub(crate) fn require_own(
    surroundings: &Surroundings,
    workspace: &Workspace,
    agency: &mut SqliteAgency,
    run: &Run,
) -> Result<()> {
    let events = journal::events(&*agency.read()?, &run.id)?;
    Trust::new(surroundings, workspace).require(&[Item::stored_run(run, &events)])
}

/// Returns whether a task is one of a run that is not over, or may be: the plan of the run cannot be read.
pub(in crate::ops) fn has_to_judge(
    surroundings: &Surroundings,
    id: &str,
    task: TaskId,
) -> Result<bool> {
    let Some(mut agency) = SqliteAgency::open(&surroundings.workspace()?.agency())? else {
        return Ok(false);
    };
    let transaction = agency.read()?;
    let run = transaction.run(id)?;
    let is_open = |run: &Run| {
        let is_over = matches!(run.status, RunStatus::Completed | RunStatus::Cancelled);
        matches!(run.kind, RunKind::Epic | RunKind::Tasks) && !is_over
    };
    if !run.is_some_and(|run| is_open(&run)) {
        return Ok(false);
    }
    let events = transaction.events(Some(id), 0, BEGINNING)?;
    let board = Board::of(&events);
    Ok(board.tasks().is_empty() || board.task(task).is_some())
}

pub(crate) fn kind(surroundings: &Surroundings, id: &str) -> Result<RunKind> {
    let workspace = surroundings.workspace()?;
    let agency = SqliteAgency::open(&workspace.agency())?;
    let mut agency = agency.ok_or_else(|| no_run(id))?;
    let run = agency.read()?.run(id)?;
    run.map(|run| run.kind).ok_or_else(|| no_run(id))
}

pub(crate) fn one(
    agency: &mut SqliteAgency,
    surroundings: &Surroundings,
    id: &str,
    user: Option<&str>,
) -> Result<Option<Shown>> {
    let run = agency.read()?.run(id)?;
    if run.is_some_and(|run| !run.is_over()) {
        alive::settle(agency, &surroundings.workspace()?, &surroundings.clock)?;
    }
    let transaction = agency.read()?;
    let run = transaction.run(id)?;
    let run = run.filter(|run| user.is_none_or(|user| user == run.user));
    run.map(|run| whole(&*transaction, run)).transpose()
}

fn whole(transaction: &dyn AgencyTransaction, run: Run) -> Result<Shown> {
    let events = transaction.events(Some(&run.id), 0, EVENTS_MAX)?;
    Ok(Shown {
        steps: steps(&events),
        messages: transaction.run_messages(&run.id)?,
        tasks: Board::of(&events).tasks().to_vec(),
        events: Some(events),
        run,
    })
}

pub(in crate::ops) fn steps(events: &[Event]) -> Vec<Step> {
    let steps = events.iter().filter(|event| event.kind == STEP);
    let steps = steps.map(|event| serde_json::from_value(event.detail.clone().into()));
    steps.filter_map(std::result::Result::ok).collect()
}

pub(in crate::ops) fn settled(
    workspace: &Workspace,
    clock: &Clock,
) -> Result<Option<SqliteAgency>> {
    let mut agency = SqliteAgency::open(&workspace.agency())?;
    if let Some(agency) = &mut agency {
        alive::settle(agency, workspace, clock)?;
    }
    Ok(agency)
}

pub(crate) fn no_run(id: &str) -> Error {
    Error::new(Code::RunNotFound, format!("there is no run `{id}`")).fix("cleo runs list")
}
