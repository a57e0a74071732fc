//! Runs on one line each, which says how far they are.

mod found;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use self::found::{found, summary};
use super::title::{Epics, title};
use super::{no_run, settled};
use crate::clock::between_ms;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::Surroundings;
use crate::ops::work::{Dir, Memory};
use crate::run::board::{TaskRun, TaskState};
use crate::run::told::{Planned, waves};
use crate::run::track::{Stage, Track};
use crate::run::{Run, RunKind, RunStatus, Usage};
use crate::store::agency::{Agency, AgencyTransaction};

/// Most steps of a bar; a longer one shows every so many.
const BAR_MAX: usize = 60;
/// Longest message in a row, in characters.
const INPUT_MAX: usize = 300;

/// Which runs.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct Wanted {
    #[serde(skip)]
    pub(crate) user: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) status: Option<RunStatus>,
    pub(crate) kind: Option<RunKind>,
    /// Words to look for in id and message, among the last 500.
    #[serde(rename = "q")]
    pub(crate) words: String,
    /// By what they are sorted, among the last 500; by default newest first.
    #[serde(rename = "sort")]
    pub(crate) order: Order,
    /// Which way; by default the largest first.
    pub(crate) dir: Option<Dir>,
    #[serde(default = "usual_limit")]
    #[cfg_attr(feature = "schemas", schemars(range(min = 1, max = 500)))]
    pub(crate) limit: u32,
    /// Without the first so many.
    pub(crate) offset: u32,
}

fn usual_limit() -> u32 {
    50
}

/// By what runs are sorted; what is equal, newest first.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Order {
    /// By when they began.
    #[default]
    Started,
    /// By how long they took; those that are not over stand last.
    Duration,
    /// By what they cost; those that do not say stand last.
    Cost,
    /// By status, in the order of its words.
    Status,
}

/// Runs.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Rows {
    pub(crate) runs: Vec<RunRow>,
    /// How many fit in all; of those that are looked for by words, or sorted by anything but newest first,
    /// among the last ones.
    pub(crate) total: u64,
    /// How all runs of the user stand.
    pub(crate) summary: Summary,
}

/// How runs stand.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    /// Under way.
    pub(crate) live: u64,
    /// Can be gone on with.
    pub(crate) needs_you: u64,
    /// Begun today (UTC), among the last 500.
    pub(crate) today: u64,
    /// Of these, ended well.
    pub(crate) finished_today: u64,
    /// Of these, ended badly.
    pub(crate) failed_today: u64,
    /// What these cost in US dollars, as far as they say.
    pub(crate) cost_today: Option<f64>,
    /// How many of today's runs say what they cost.
    pub(crate) costs_told: u64,
}

/// A run on one line.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunRow {
    /// The run.
    pub(crate) id: String,
    /// What is carried out.
    pub(crate) kind: RunKind,
    /// Where it stands.
    pub(crate) status: RunStatus,
    /// What it is about, in words.
    pub(crate) title: String,
    /// What was asked for; of a long message the beginning.
    pub(crate) input: String,
    /// Whose it is.
    pub(crate) user: String,
    /// The agent that works on it.
    pub(crate) agent: Option<String>,
    /// How many tasks came how far, of a run over tasks.
    pub(crate) steps: Option<StepCounts>,
    /// Where each task stands, in wave order, at most 60.
    pub(crate) bar: Option<Vec<Stand>>,
    /// When it began.
    pub(crate) started_at: String,
    /// When it ended.
    pub(crate) completed_at: Option<String>,
    /// How long it took, or takes until now, in milliseconds.
    pub(crate) duration_ms: u64,
    /// What it cost in US dollars, as far as that is told.
    pub(crate) cost: Option<f64>,
    /// Tokens that it used, as far as that is told.
    pub(crate) usage: Option<Usage>,
    /// What went wrong first; of an execution that was cancelled, by whom.
    pub(crate) error: Option<Fault>,
    /// How many of its tasks wait for somebody.
    pub(crate) needs_you: usize,
    /// Most agents at a time.
    pub(crate) limit: Option<u64>,
    /// What drives its agents.
    pub(crate) runners: Vec<String>,
}

/// What went wrong in a run.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Fault {
    /// With which task.
    pub(crate) task: Option<TaskId>,
    /// What.
    pub(crate) message: String,
}

/// How many tasks of a run came how far, without epics.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct StepCounts {
    /// All.
    pub(crate) total: usize,
    /// Wait.
    pub(crate) waiting: usize,
    /// Are worked on.
    pub(crate) running: usize,
    /// Are being checked.
    pub(crate) verifying: usize,
    /// Verified and done.
    pub(crate) done: usize,
    pub(crate) failed: usize,
    /// Were not begun.
    pub(crate) skipped: usize,
    /// Were ended by somebody before they were over.
    pub(crate) cancelled: usize,
}

/// Where a task stands in a run.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Stand {
    Waiting,
    Running,
    Verifying,
    Done,
    Failed,
    Skipped,
    Cancelled,
}

/// Lists runs. Those of dead processes are marked first.
pub(crate) fn rows(
    surroundings: &Surroundings,
    memory: &mut Memory,
    wanted: &Wanted,
) -> Result<Rows> {
    let workspace = surroundings.workspace()?;
    let Some(mut agency) = settled(&workspace, &surroundings.clock)? else {
        return Ok(Rows {
            runs: Vec::new(),
            total: 0,
            summary: Summary::default(),
        });
    };
    let transaction = agency.read()?;
    let (runs, total) = found(&*transaction, wanted)?;
    let now = surroundings.clock.timestamp();
    let mut epics = Epics::of(&workspace);
    let mut rows = Vec::with_capacity(runs.len());
    for run in runs {
        rows.push(row_of(&*transaction, memory, &mut epics, run, &now)?);
    }
    let summary = summary(&*transaction, wanted.user.as_ref(), &now)?;
    Ok(Rows {
        runs: rows,
        total,
        summary,
    })
}

fn row_of(
    transaction: &dyn AgencyTransaction,
    memory: &mut Memory,
    epics: &mut Epics<'_>,
    run: Run,
    now: &str,
) -> Result<RunRow> {
    let is_over_tasks = matches!(run.kind, RunKind::Epic | RunKind::Tasks);
    if !is_over_tasks {
        return Ok(row(run, &Track::default(), epics, now));
    }
    let track = memory.track(transaction, &run.id)?;
    Ok(row(run, track, epics, now))
}

pub(super) fn row(run: Run, track: &Track, epics: &mut Epics<'_>, now: &str) -> RunRow {
    let tasks = ordered(track);
    let work = || tasks.iter().filter(|task| task.is_counted());
    let has_tasks = work().next().is_some();
    let first = |text: &str| text.chars().take(INPUT_MAX).collect::<String>();
    let runners: BTreeSet<String> = work().filter_map(|task| task.runner.clone()).collect();
    let limit = track
        .options
        .as_ref()
        .and_then(|options| options["jobs"].as_u64());
    RunRow {
        title: first(&title(&run, track, epics)),
        input: first(&run.input),
        steps: has_tasks.then(|| counts(track)),
        bar: has_tasks.then(|| bar(work().map(|task| stand(track, task)).collect())),
        duration_ms: run.execution_time_ms.unwrap_or_else(|| {
            let until = run.completed_at.as_deref().unwrap_or(now);
            between_ms(&run.started_at, until).unwrap_or(0)
        }),
        error: fault(&run, track),
        needs_you: work()
            .filter(|task| task.outcome == Some(crate::run::Outcome::Blocked) && !task.is_done())
            .count(),
        limit,
        runners: runners.into_iter().collect(),
        id: run.id,
        kind: run.kind,
        status: run.status,
        user: run.user,
        agent: run.agent,
        started_at: run.started_at,
        completed_at: run.completed_at,
        cost: run.cost,
        usage: run.usage,
    }
}

fn fault(run: &Run, track: &Track) -> Option<Fault> {
    let failed = track
        .board
        .tasks()
        .iter()
        .find(|task| task.state == TaskState::Failed && !task.was_cancelled());
    match failed {
        Some(task) => Some(Fault {
            task: Some(task.task_id),
            message: task.reason.clone().unwrap_or_else(|| "failed".to_string()),
        }),
        // That somebody gave it up is no fault of it; of an execution it is kept who did.
        None if run.status == RunStatus::Cancelled && run.kind != RunKind::Execution => None,
        None => run.error.clone().map(|message| Fault {
            task: None,
            message,
        }),
    }
}

/// Returns the tasks of a run by wave; those of a wave stay in the order of the run.
pub(super) fn ordered(track: &Track) -> Vec<&TaskRun> {
    let waves = waves_of(track);
    let mut tasks: Vec<&TaskRun> = track.board.tasks().iter().collect();
    tasks.sort_by_key(|task| waves.get(&task.task_id).copied().unwrap_or(usize::MAX));
    tasks
}

pub(super) fn waves_of(track: &Track) -> BTreeMap<TaskId, usize> {
    let planned = track.board.tasks().iter().map(|task| Planned {
        task_id: task.task_id,
        needs: task.needs.clone(),
        is_epic: task.is_epic,
        ..Planned::default()
    });
    waves(&planned.collect::<Vec<_>>())
}

pub(super) fn stand(track: &Track, task: &TaskRun) -> Stand {
    match task.state {
        TaskState::Waiting => Stand::Waiting,
        TaskState::Running if track.stage(task) == Some(Stage::Verifying) => Stand::Verifying,
        TaskState::Running => Stand::Running,
        TaskState::Done => Stand::Done,
        TaskState::Failed if task.was_cancelled() => Stand::Cancelled,
        TaskState::Failed => Stand::Failed,
        TaskState::Skipped => Stand::Skipped,
    }
}

fn counts(track: &Track) -> StepCounts {
    let mut counts = StepCounts::default();
    for task in track.board.tasks().iter().filter(|task| task.is_counted()) {
        counts.total += 1;
        let count = match stand(track, task) {
            Stand::Waiting => &mut counts.waiting,
            Stand::Running => &mut counts.running,
            Stand::Verifying => &mut counts.verifying,
            Stand::Done => &mut counts.done,
            Stand::Failed => &mut counts.failed,
            Stand::Skipped => &mut counts.skipped,
            Stand::Cancelled => &mut counts.cancelled,
        };
        *count += 1;
    }
    counts
}

fn bar(stands: Vec<Stand>) -> Vec<Stand> {
    let n_shown = stands.len().min(BAR_MAX);
    let at = |place: usize| stands[place * stands.len() / n_shown.max(1)];
    (0..n_shown).map(at).collect()
}

/// Reads a run that must be there and, if a user is named, be that user's.
pub(crate) fn owned(
    transaction: &dyn AgencyTransaction,
    id: &str,
    user: Option<&str>,
) -> Result<Run> {
    let run = transaction.run(id)?;
    let run = run.filter(|run| user.is_none_or(|user| user == run.user));
    run.ok_or_else(|| no_run(id))
}
