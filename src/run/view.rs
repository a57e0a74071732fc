//! A run as all commands, pages and reports show it: its record, and what its events tell. Pure.

use serde::Serialize;
use serde_json::Value;

use super::coordination::CoordinatorState;
use super::{
    Counts, Event, Message, Outcome, Run, RunKind, RunProjection, RunStatus, STEP, Step, StepState,
    TaskRun,
};
use crate::clock::between_ms;
use crate::id::TaskId;

/// Most steps of a bar; a longer one shows every so many.
const BAR_MAX: usize = 60;
/// Longest title, in characters.
const TITLE_MAX: usize = 300;

/// A run with what happened in it.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct RunView {
    pub(crate) run: RunRow,
    /// Its tasks, if it is a run over tasks: by wave, then in the order of the run.
    pub(crate) tasks: Vec<TaskRun>,
    /// Its progress, in order.
    pub(crate) steps: Vec<Step>,
    /// Its messages, in order.
    pub(crate) messages: Vec<Message>,
    pub(crate) options: Option<Value>,
    /// Cursor of its last event.
    pub(crate) cursor: u64,
    /// The moment of this answer.
    pub(crate) now: String,
    /// Its events, in order; left out where the caller streams them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) events: Option<Vec<Event>>,
}

/// A run on one line.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunRow {
    #[serde(flatten)]
    pub(crate) record: Run,
    /// Its subject in words.
    pub(crate) title: String,
    /// Number of tasks in each state, if it is a run over tasks.
    pub(crate) steps: Option<Counts>,
    /// The state of each task, in wave order, at most 60.
    pub(crate) bar: Option<Vec<StepState>>,
    /// How long it took, or takes until now, in milliseconds.
    pub(crate) duration_ms: u64,
    /// The first failure; of a cancelled execution, by whom it was cancelled.
    pub(crate) fault: Option<Fault>,
    /// Number of tasks that wait for a person.
    pub(crate) needs_you: usize,
    /// Most agents at a time.
    pub(crate) limit: Option<u64>,
    /// The activity of the coordinator, of a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) coordinator: Option<CoordinatorState>,
}

/// The failure of a run.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Fault {
    pub(crate) task: Option<TaskId>,
    pub(crate) message: String,
}

impl RunView {
    pub(crate) fn new(run: Run, track: &RunProjection, events: &[Event], now: String) -> RunView {
        RunView {
            tasks: tasks(track, &run.started_at),
            run: RunRow::new(run, track, &now),
            steps: steps(events),
            messages: Vec::new(),
            options: track.options.clone(),
            cursor: track.cursor,
            now,
            events: None,
        }
    }

    /// Returns the tasks that agents work on, and epics that failed.
    pub(super) fn list_counted(&self) -> impl Iterator<Item = &TaskRun> {
        self.tasks.iter().filter(|task| task.is_counted())
    }
}

fn steps(events: &[Event]) -> Vec<Step> {
    let steps = events.iter().filter(|event| event.kind == STEP);
    let steps = steps.map(|event| serde_json::from_value(event.detail.clone().into()));
    steps.filter_map(Result::ok).collect()
}

fn tasks(track: &RunProjection, started_at: &str) -> Vec<TaskRun> {
    let ready_at = |task: &TaskRun| {
        task.planned
            .needs
            .iter()
            .try_fold(started_at, |last, need| {
                let need = track.task(*need).filter(|need| need.is_done())?;
                Some(last.max(need.ended_at.as_deref()?))
            })
    };
    let view = |task: &TaskRun| TaskRun {
        ready_at: ready_at(task).map(String::from),
        can_continue: task.conversation.is_some(),
        ..task.clone()
    };
    sort_by_wave(track).into_iter().map(view).collect()
}

fn sort_by_wave(track: &RunProjection) -> Vec<&TaskRun> {
    let mut tasks: Vec<&TaskRun> = track.tasks().iter().collect();
    tasks.sort_by_key(|task| task.wave.unwrap_or(usize::MAX));
    tasks
}

impl RunRow {
    pub(crate) fn new(record: Run, track: &RunProjection, now: &str) -> RunRow {
        let tasks = sort_by_wave(track);
        let work = || tasks.iter().filter(|task| task.is_counted());
        let states: Vec<StepState> = work().map(|task| task.state).collect();
        let is_blocked =
            |task: &&&TaskRun| task.outcome == Some(Outcome::Blocked) && !task.is_done();
        let until = record.completed_at.as_deref().unwrap_or(now);
        RunRow {
            title: find_title(&record, track).chars().take(TITLE_MAX).collect(),
            steps: (!states.is_empty()).then(|| track.counts()),
            duration_ms: record
                .execution_time_ms
                .or_else(|| between_ms(&record.started_at, until))
                .unwrap_or(0),
            bar: (!states.is_empty()).then(|| {
                let n_shown = states.len().min(BAR_MAX);
                (0..n_shown)
                    .map(|at| states[at * states.len() / n_shown])
                    .collect()
            }),
            fault: fault(&record, track),
            needs_you: work().filter(is_blocked).count(),
            limit: track.options.as_ref().and_then(|it| it["jobs"].as_u64()),
            coordinator: (record.kind == RunKind::Plan).then_some(track.coordination.state),
            record,
        }
    }
}

/// Returns the subject of a run: the epic, the task or the number of tasks, else its message, which names the wave of a
/// run over one.
fn find_title(run: &Run, track: &RunProjection) -> String {
    let tasks = track.tasks();
    let is_whole = |task: &&TaskRun| task.planned.is_epic && run.kind == RunKind::Epic;
    let has_wave = track.options.as_ref().is_some_and(|it| it["wave"].is_u64());
    let first = tasks.first().filter(|_| !has_wave);
    let named = tasks.iter().find(is_whole).or(first);
    match named {
        Some(task) if run.kind == RunKind::Tasks && tasks.len() > 1 => {
            format!("{} and {} more", task.planned.task_id, tasks.len() - 1)
        }
        named => named.map_or(&run.input, |task| &task.planned.title).clone(),
    }
}

fn fault(run: &Run, track: &RunProjection) -> Option<Fault> {
    let mut tasks = track.tasks().iter();
    if let Some(task) = tasks.find(|task| task.state == StepState::Failed) {
        return Some(Fault {
            task: Some(task.planned.task_id),
            message: task.reason.clone().unwrap_or_else(|| "failed".to_string()),
        });
    }
    // A cancellation is not a failure; the error of an execution says who cancelled it.
    if run.status == RunStatus::Cancelled && run.kind != RunKind::Execution {
        return None;
    }
    let message = run.error.clone()?;
    Some(Fault {
        task: None,
        message,
    })
}
