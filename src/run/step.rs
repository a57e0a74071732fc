//! The state of a task of a run. Pure.

use serde::Serialize;

use super::attempt::Attempt;
use super::event::Setup;
use super::planned::Planned;
use super::{Outcome, Spent};
use crate::id::TaskId;
use crate::words::closed;

closed! {
    #[derive(Default)]
    StepState, "state of a step":
    /// It waits for other tasks, or for a free slot.
    #[default]
    Waiting = "waiting",
    /// An agent works on it, or is about to.
    Running = "running",
    /// Its agent has ended, and its work is being verified.
    Verifying = "verifying",
    /// It verified and is done.
    Done = "done",
    Failed = "failed",
    /// It was cancelled before it was over; that does not count as a failure.
    Cancelled = "cancelled",
    /// It was not begun.
    Skipped = "skipped",
}

impl StepState {
    pub(crate) fn is_under_way(self) -> bool {
        matches!(self, StepState::Running | StepState::Verifying)
    }

    pub(crate) fn is_open(self) -> bool {
        self == StepState::Waiting || self.is_under_way()
    }

    /// Returns whether work on it ended without success.
    pub(crate) fn is_undone(self) -> bool {
        matches!(self, StepState::Failed | StepState::Cancelled)
    }
}

/// A task of a run, with its state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskRun {
    /// Its criteria are those of its last claim, once it was claimed.
    #[serde(flatten)]
    pub(crate) planned: Planned,
    /// Its wave in the run, from 0; none when it waits for itself.
    pub(crate) wave: Option<usize>,
    pub(crate) state: StepState,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) reason: Option<String>,
    pub(crate) attempts: u32,
    #[serde(flatten)]
    pub(crate) setup: Setup,
    pub(crate) violations: Vec<String>,
    /// Notes for the user, also of a task that is done: conflicting files and retained work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
    /// When it was begun, RFC 3339 in UTC.
    pub(crate) started_at: Option<String>,
    pub(crate) ended_at: Option<String>,
    /// From when on it could have begun, where that is asked for and all that it needs is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ready_at: Option<String>,
    /// How long its agents took together, in milliseconds.
    pub(crate) duration_ms: u64,
    #[serde(flatten)]
    pub(crate) spent: Spent,
    /// The branch that holds its work, when that could not be merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<String>,
    /// The worktree that holds its work, when no branch could hold all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) worktree: Option<String>,
    /// Its attempts, oldest first, of very many the last ones; none in the report of a run that has just ended.
    pub(crate) history: Vec<Attempt>,
    /// The task that kept it from starting.
    #[serde(skip)]
    pub(crate) caused_by: Option<TaskId>,
    /// The current action of its agent.
    pub(crate) doing: Option<String>,
    /// Whether another attempt in this run continues the conversation of its agent, where that is asked for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) can_continue: bool,
    #[serde(skip)]
    pub(crate) conversation: Option<String>,
    /// Tokens and cost of that conversation.
    #[serde(skip)]
    pub(crate) conversed: Spent,
    /// When the agent that works on it began.
    #[serde(skip)]
    pub(crate) since: Option<String>,
    /// The process group that works on it, and when that began.
    #[serde(skip)]
    pub(crate) group: Option<(u32, String)>,
    /// Outcome that the last agent reported that ended by itself.
    #[serde(skip)]
    pub(crate) ended: Option<Outcome>,
    /// The last message of that agent.
    #[serde(skip)]
    pub(crate) message: Option<String>,
    /// True from its first attempt until the run is done with it, also while no process executes the run.
    #[serde(skip)]
    pub(crate) is_held: bool,
}

impl TaskRun {
    pub(crate) fn is_done(&self) -> bool {
        self.state == StepState::Done
    }

    /// Returns an attempt by its number, by default the last.
    pub(crate) fn attempt(&self, number: Option<u32>) -> Option<&Attempt> {
        match number {
            Some(number) => self.history.iter().find(|one| one.attempt == number),
            None => self.history.last(),
        }
    }

    /// Returns whether the run counts it among its work: an epic only when it failed.
    pub(crate) fn is_counted(&self) -> bool {
        !self.planned.is_epic || self.state.is_undone()
    }
}

/// Number of tasks of a run in each state. An epic is counted only when it failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Counts {
    pub(crate) total: usize,
    pub(crate) waiting: usize,
    pub(crate) running: usize,
    /// Being checked.
    pub(crate) verifying: usize,
    /// Verified and done.
    pub(crate) done: usize,
    pub(crate) failed: usize,
    /// Cancelled before they were over.
    pub(crate) cancelled: usize,
    /// Not begun.
    pub(crate) skipped: usize,
    /// Waiting, running or verifying: the run is not over.
    pub(crate) open: usize,
}

impl Counts {
    pub(crate) fn new(tasks: &[TaskRun]) -> Counts {
        let mut counts = Counts::default();
        for task in tasks.iter().filter(|task| task.is_counted()) {
            counts.total += 1;
            counts.open += usize::from(task.state.is_open());
            *match task.state {
                StepState::Waiting => &mut counts.waiting,
                StepState::Running => &mut counts.running,
                StepState::Verifying => &mut counts.verifying,
                StepState::Done => &mut counts.done,
                StepState::Failed => &mut counts.failed,
                StepState::Cancelled => &mut counts.cancelled,
                StepState::Skipped => &mut counts.skipped,
            } += 1;
        }
        counts
    }
}
