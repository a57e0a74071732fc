//! The state of each task of a run, read from its events, for the coordinator, which resumes from it, and for
//! all views. Pure.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde::Serialize;

use super::told::{Planned, Told, kind};
use super::{Event, Outcome, Spent, Usage};
use crate::clock::between_ms;
use crate::id::TaskId;
use crate::words::closed;

closed! {
    #[derive(Default)]
    TaskState, "state of a task in a run":
    /// It waits for others, or for its turn.
    #[default]
    Waiting = "waiting",
    Running = "running",
    /// It verified and is done.
    Done = "done",
    Failed = "failed",
    /// It was not begun.
    Skipped = "skipped",
}

/// What became of a task in a run.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskRun {
    pub(crate) task_id: TaskId,
    pub(crate) title: String,
    /// The tasks of the run that come before it.
    pub(crate) needs: Vec<TaskId>,
    pub(crate) state: TaskState,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) reason: Option<String>,
    pub(crate) attempts: u32,
    pub(crate) skill: Option<String>,
    pub(crate) runner: Option<String>,
    pub(crate) epoch: Option<u32>,
    pub(crate) manifest_id: Option<String>,
    pub(crate) output_file: Option<String>,
    pub(crate) missing: Vec<String>,
    /// What its user should look at, also where it is done: files that were put aside, and work that is kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
    /// When it was begun, RFC 3339 in UTC.
    pub(crate) started_at: Option<String>,
    pub(crate) ended_at: Option<String>,
    /// How long its agents took together, in milliseconds.
    pub(crate) duration_ms: u64,
    /// Tokens that they used, as far as they say.
    pub(crate) usage: Option<Usage>,
    /// What they cost in US dollars, as far as they say.
    pub(crate) cost: Option<f64>,
    /// The branch that holds its work, when that could not be merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<String>,
    /// The worktree that holds its work, when no branch could hold all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) worktree: Option<String>,
    /// The task because of which it was not begun.
    #[serde(skip)]
    pub(crate) because: Option<TaskId>,
    /// The last words of what its agent did.
    #[serde(skip)]
    pub(crate) doing: Option<String>,
    /// The criteria that it had when it was claimed.
    #[serde(skip)]
    pub(crate) acceptance: Vec<String>,
    #[serde(skip)]
    pub(crate) conversation: Option<String>,
    /// What that conversation has come to.
    #[serde(skip)]
    pub(crate) conversed: Spent,
    /// When the agent that works on it began.
    #[serde(skip)]
    pub(crate) since: Option<String>,
    /// The process group that works on it, and when that began.
    #[serde(skip)]
    pub(crate) group: Option<(u32, String)>,
    /// What the running agent has used until now.
    #[serde(skip)]
    pub(crate) using: Option<Usage>,
    /// How the program of the last agent says it did that came to an end of its own.
    #[serde(skip)]
    pub(crate) ended: Option<Outcome>,
    /// The last message of that agent.
    #[serde(skip)]
    pub(crate) message: Option<String>,
    /// True from its first try until the run is through with it, also while nobody carries the run out.
    #[serde(skip)]
    pub(crate) is_held: bool,
    #[serde(skip)]
    pub(crate) is_epic: bool,
}

impl TaskRun {
    fn new(planned: Planned) -> TaskRun {
        TaskRun {
            task_id: planned.task_id,
            title: planned.title,
            needs: planned.needs,
            is_epic: planned.is_epic,
            ..TaskRun::default()
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.state == TaskState::Done
    }

    pub(crate) fn is_settled(&self) -> bool {
        let failed = self.state == TaskState::Failed && !self.was_cancelled();
        self.is_done() || failed
    }

    /// Returns whether the run counts it among its work: an epic only when it failed.
    pub(crate) fn is_counted(&self) -> bool {
        !self.is_epic || self.state == TaskState::Failed
    }

    /// Returns whether work on it was ended by somebody before it was over, which is no failure of it.
    pub(crate) fn was_cancelled(&self) -> bool {
        self.state == TaskState::Failed && self.outcome == Some(Outcome::Cancelled)
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Board {
    tasks: Vec<TaskRun>,
    places: HashMap<TaskId, usize>,
    told_at: String,
}

impl Board {
    pub(crate) fn of(events: &[Event]) -> Board {
        let mut board = Board::default();
        for event in events {
            board.take(&event.kind, &event.at, &Told::read(&event.detail));
        }
        board
    }

    pub(crate) fn tasks(&self) -> &[TaskRun] {
        &self.tasks
    }

    pub(crate) fn task(&self, id: TaskId) -> Option<&TaskRun> {
        self.places.get(&id).map(|place| &self.tasks[*place])
    }

    /// Notes what the running agent of a task has used until now, which no event tells.
    pub(crate) fn using(&mut self, id: TaskId, usage: Usage) {
        if let Some(place) = self.places.get(&id) {
            self.tasks[*place].using = Some(usage);
        }
    }

    pub(crate) fn doing(&mut self, id: TaskId, what: String) {
        if let Some(place) = self.places.get(&id) {
            self.tasks[*place].doing = Some(what);
        }
    }

    pub(crate) fn take(&mut self, kind: &str, at: &str, told: &Told) {
        if kind == kind::RUN_STARTED {
            self.tasks = told.tasks.iter().cloned().map(TaskRun::new).collect();
            let places = self.tasks.iter().enumerate();
            self.places = places.map(|(place, task)| (task.task_id, place)).collect();
        }
        if matches!(kind, kind::RUN_LEFT | kind::RUN_RESUMED) {
            // When work ended nobody knows, only that it went on until something was told last.
            for task in &mut self.tasks {
                let since = task.since.take();
                let took = since.and_then(|since| between_ms(&since, &self.told_at));
                task.duration_ms += took.unwrap_or(0);
            }
        }
        if kind == kind::RUN_RESUMED {
            let again = told.again == Some(true);
            let open = |task: &&mut TaskRun| !(task.is_settled() && !again || task.is_done());
            for task in self.tasks.iter_mut().filter(open) {
                task.state = TaskState::Waiting;
                (task.outcome, task.reason, task.ended_at) = (None, None, None);
                (task.group, task.worktree) = (None, None);
            }
        }
        let place = told.task_id.and_then(|id| self.places.get(&id));
        if let Some(task) = place.map(|place| &mut self.tasks[*place]) {
            happened(task, kind, at, told);
        }
        // Others ask for the end, perhaps long after the process was gone.
        if kind != kind::RUN_CANCEL {
            at.clone_into(&mut self.told_at);
        }
    }
}

/// How many tasks of a run came how far. An epic is counted only when it failed.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Summary {
    pub(crate) total: usize,
    /// Verified and done.
    pub(crate) done: usize,
    pub(crate) failed: usize,
    /// Ended by somebody before they were over.
    pub(crate) cancelled: usize,
    /// Not begun.
    pub(crate) skipped: usize,
    /// Neither, because the run is not over.
    pub(crate) open: usize,
}

impl Summary {
    pub(crate) fn of(board: &Board) -> Summary {
        Summary::of_tasks(board.tasks())
    }

    pub(crate) fn of_tasks(tasks: &[TaskRun]) -> Summary {
        let mut summary = Summary::default();
        for task in tasks.iter().filter(|task| task.is_counted()) {
            summary.total += 1;
            *match task.state {
                TaskState::Done => &mut summary.done,
                TaskState::Failed if task.was_cancelled() => &mut summary.cancelled,
                TaskState::Failed => &mut summary.failed,
                TaskState::Skipped => &mut summary.skipped,
                TaskState::Waiting | TaskState::Running => &mut summary.open,
            } += 1;
        }
        summary
    }
}

fn happened(task: &mut TaskRun, kind: &str, at: &str, told: &Told) {
    match kind {
        kind::TASK_STARTED => {
            task.state = TaskState::Running;
            task.is_held = true;
            task.attempts = told.attempt.unwrap_or(task.attempts);
            task.started_at.get_or_insert_with(|| at.to_string());
            (task.skill, task.runner) = (told.skill.clone(), told.runner.clone());
            (task.epoch, task.manifest_id) = (told.epoch, told.manifest_id.clone());
            task.output_file = told.output_file.clone();
            task.acceptance.clone_from(&told.acceptance);
            (task.doing, task.group, task.using) = (None, None, None);
            if told.resumes != Some(true) {
                task.conversed = Spent::default();
            }
        }
        kind::AGENT_STARTED => {
            task.group = told.group.zip(told.born.clone());
            task.since = Some(at.to_string());
        }
        kind::AGENT_CONVERSATION => task.conversation = told.conversation.clone(),
        kind::AGENT_DOING => task.doing = told.doing.clone(),
        kind::AGENT_ENDED => ended(task, told),
        kind::TASK_LACKING => {
            task.missing = told.missing.clone();
            task.outcome = told.outcome;
        }
        kind::TASK_COMPLETED => over(task, TaskState::Done, at, told),
        kind::TASK_FAILED => over(task, TaskState::Failed, at, told),
        kind::TASK_SKIPPED => over(task, TaskState::Skipped, at, told),
        kind::TASK_MERGED => task.branch = told.branch.clone(),
        kind::TASK_KEPT => kept(task, told),
        _ => {}
    }
}

fn ended(task: &mut TaskRun, told: &Told) {
    task.outcome = told.outcome;
    // One that was ended came to no last words of its own.
    if told.outcome != Some(Outcome::Cancelled) {
        (task.ended, task.message) = (told.outcome, told.message.clone());
    }
    task.duration_ms += told.duration_ms.unwrap_or(0);
    task.since = None;
    let now = Spent {
        usage: told.usage,
        cost: told.cost,
    };
    let before = Spent {
        usage: task.usage,
        cost: task.cost,
    };
    let all = before.plus(now);
    (task.usage, task.cost) = (all.usage, all.cost);
    task.conversed = task.conversed.plus(now);
    if told.resumes == Some(false) {
        task.conversation = None;
    } else if told.conversation.is_some() {
        task.conversation = told.conversation.clone();
    }
    (task.doing, task.group, task.using) = (None, None, None);
}

fn kept(task: &mut TaskRun, told: &Told) {
    for list in [&mut task.missing, &mut task.warnings] {
        let why = told.reason.as_ref();
        let new = why.filter(|why| !list.contains(why)).cloned();
        list.extend(new);
    }
    let Some(now) = where_kept(&told.worktree, &told.branch) else {
        return;
    };
    let is_same = |now: &Option<String>, before: &Option<String>| now.is_some() && now == before;
    let is_of_one = is_same(&told.worktree, &task.worktree) || is_same(&told.branch, &task.branch);
    let before = where_kept(&task.worktree, &task.branch).filter(|_| is_of_one);
    if let Some(reason) = &mut task.reason {
        let before = before.unwrap_or_default();
        let why = reason.strip_suffix(before.as_str());
        *reason = format!("{}{now}", why.unwrap_or(reason.as_str()));
    }
    task.worktree = told.worktree.clone();
    task.branch = told.branch.clone();
}

fn where_kept(worktree: &Option<String>, branch: &Option<String>) -> Option<String> {
    match (worktree, branch) {
        (Some(place), _) => Some(format!("; its worktree is kept: {place}")),
        (None, Some(branch)) => Some(format!("; its work is kept on the branch {branch}")),
        (None, None) => None,
    }
}

fn over(task: &mut TaskRun, state: TaskState, at: &str, told: &Told) {
    task.state = state;
    task.is_held = false;
    task.ended_at = Some(at.to_string());
    task.outcome = match state {
        TaskState::Done => Some(Outcome::Ok),
        _ => told.outcome.or(task.outcome),
    };
    (task.reason, task.because) = (told.reason.clone(), told.because);
    if state == TaskState::Done {
        task.missing.clear();
    }
    if told.branch.is_some() {
        task.branch = told.branch.clone();
    }
}
