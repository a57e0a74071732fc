//! What became of each task of a run, read from its events: one way for the coordinator, which goes on
//! from it after a kill, and for everybody who looks at a run. Pure.

use std::collections::HashMap;

use serde::Serialize;

use super::told::{Planned, Told, kind};
use super::{Event, Outcome, Spent, Usage};
use crate::clock::between_ms;
use crate::id::TaskId;
use crate::words::closed;

closed! {
    /// Where a task stands in a run.
    TaskState, "state of a task in a run":
    /// It waits for others, or for its turn.
    Waiting = "waiting",
    /// An agent works on it.
    Running = "running",
    /// It verified and is done.
    Done = "done",
    /// It failed.
    Failed = "failed",
    /// It was not begun.
    Skipped = "skipped",
}

/// What became of a task in a run.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskRun {
    /// The task.
    pub task_id: TaskId,
    /// Its title.
    pub title: String,
    /// The tasks of the run that come before it.
    pub needs: Vec<TaskId>,
    /// Where it stands.
    pub state: TaskState,
    /// How its last try ended.
    pub outcome: Option<Outcome>,
    /// Why it is not done.
    pub reason: Option<String>,
    /// How many tries it took.
    pub attempts: u32,
    /// The skill.
    pub skill: Option<String>,
    /// The runner.
    pub runner: Option<String>,
    /// Epoch of its claim.
    pub epoch: Option<u32>,
    /// Id of its manifest entry.
    pub manifest_id: Option<String>,
    /// Its output file.
    pub output_file: Option<String>,
    /// What it was last missing.
    pub missing: Vec<String>,
    /// When it was begun, RFC 3339 in UTC.
    pub started_at: Option<String>,
    /// When it was over.
    pub ended_at: Option<String>,
    /// How long its agents took together, in milliseconds.
    pub duration_ms: u64,
    /// Tokens that they used, as far as they say.
    pub usage: Option<Usage>,
    /// What they cost in US dollars, as far as they say.
    pub cost: Option<f64>,
    /// The branch that holds its work, when that could not be merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The worktree that holds its work, when no branch could hold all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// The task because of which it was not begun.
    #[serde(skip)]
    pub because: Option<TaskId>,
    /// The last words of what its agent did.
    #[serde(skip)]
    pub doing: Option<String>,
    /// The conversation to go on with.
    #[serde(skip)]
    pub conversation: Option<String>,
    /// What that conversation has come to.
    #[serde(skip)]
    pub conversed: Spent,
    /// When the agent that works on it began.
    #[serde(skip)]
    pub since: Option<String>,
    /// The process group that works on it, and when that began.
    #[serde(skip)]
    pub group: Option<(u32, String)>,
    /// What the running agent has used until now.
    #[serde(skip)]
    pub using: Option<Usage>,
    /// How the program of the last agent that has ended says it did.
    #[serde(skip)]
    pub ended: Option<Outcome>,
    /// The last message of that agent.
    #[serde(skip)]
    pub message: Option<String>,
    /// True from its first try until the run is through with it, also while nobody carries the run out.
    #[serde(skip)]
    pub is_held: bool,
    /// True for an epic.
    #[serde(skip)]
    pub is_epic: bool,
}

impl TaskRun {
    fn new(planned: Planned) -> TaskRun {
        TaskRun {
            task_id: planned.task_id,
            title: planned.title,
            needs: planned.needs,
            is_epic: planned.is_epic,
            state: TaskState::Waiting,
            outcome: None,
            reason: None,
            attempts: 0,
            skill: None,
            runner: None,
            epoch: None,
            manifest_id: None,
            output_file: None,
            missing: Vec::new(),
            started_at: None,
            ended_at: None,
            duration_ms: 0,
            usage: None,
            cost: None,
            branch: None,
            worktree: None,
            because: None,
            doing: None,
            conversation: None,
            conversed: Spent::default(),
            since: None,
            group: None,
            using: None,
            ended: None,
            message: None,
            is_held: false,
        }
    }

    /// Says whether it verified and is done.
    pub fn is_done(&self) -> bool {
        self.state == TaskState::Done
    }

    /// Says whether it has come to an end that stays when a run goes on that was interrupted.
    pub fn is_settled(&self) -> bool {
        let failed = self.state == TaskState::Failed && !self.was_stopped();
        self.is_done() || failed
    }

    /// Says whether work on it was ended by somebody before it was over, which is no failure of it.
    pub fn was_stopped(&self) -> bool {
        self.state == TaskState::Failed && self.outcome == Some(Outcome::Cancelled)
    }
}

/// The tasks of a run, and where each stands.
#[derive(Clone, Debug, Default)]
pub struct Board {
    tasks: Vec<TaskRun>,
    places: HashMap<TaskId, usize>,
    /// When its process last told something.
    told_at: String,
}

impl Board {
    /// Reads the events of a run.
    pub fn of(events: &[Event]) -> Board {
        let mut board = Board::default();
        for event in events {
            board.take(&event.kind, &event.at, &Told::read(&event.detail));
        }
        board
    }

    /// Returns the tasks, in the order of the run.
    pub fn tasks(&self) -> &[TaskRun] {
        &self.tasks
    }

    /// Finds a task.
    pub fn task(&self, id: TaskId) -> Option<&TaskRun> {
        self.places.get(&id).map(|place| &self.tasks[*place])
    }

    /// Notes what the running agent of a task has used until now, which no event tells.
    pub fn using(&mut self, id: TaskId, usage: Usage) {
        if let Some(place) = self.places.get(&id) {
            self.tasks[*place].using = Some(usage);
        }
    }

    /// Notes what the running agent of a task does now, where no event tells that so soon.
    pub fn doing(&mut self, id: TaskId, what: String) {
        if let Some(place) = self.places.get(&id) {
            self.tasks[*place].doing = Some(what);
        }
    }

    /// Takes what happened.
    pub fn take(&mut self, kind: &str, at: &str, told: &Told) {
        if kind == kind::RUN_STARTED {
            self.tasks = told.tasks.iter().cloned().map(TaskRun::new).collect();
            let places = self.tasks.iter().enumerate();
            self.places = places.map(|(place, task)| (task.task_id, place)).collect();
        }
        if matches!(kind, kind::RUN_LEFT | kind::RUN_RESUMED) {
            let until = &self.told_at;
            let tasks = self.tasks.iter_mut();
            tasks.for_each(|task| broke_off(task, until));
        }
        if kind == kind::RUN_RESUMED {
            let again = told.again == Some(true);
            let open = |task: &&mut TaskRun| !(task.is_settled() && !again || task.is_done());
            self.tasks.iter_mut().filter(open).for_each(reopen);
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

/// How many tasks of a run came how far. Epics are not counted.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// All.
    pub total: usize,
    /// Verified and done.
    pub done: usize,
    /// Failed.
    pub failed: usize,
    /// Ended by somebody before they were over.
    pub stopped: usize,
    /// Not begun.
    pub skipped: usize,
    /// Neither, because the run is not over.
    pub open: usize,
}

impl Summary {
    /// Counts the tasks of a run.
    pub fn of(board: &Board) -> Summary {
        Summary::of_tasks(board.tasks())
    }

    /// Counts tasks.
    pub fn of_tasks(tasks: &[TaskRun]) -> Summary {
        let mut summary = Summary::default();
        for task in tasks.iter().filter(|task| !task.is_epic) {
            summary.total += 1;
            *match task.state {
                TaskState::Done => &mut summary.done,
                TaskState::Failed if task.was_stopped() => &mut summary.stopped,
                TaskState::Failed => &mut summary.failed,
                TaskState::Skipped => &mut summary.skipped,
                TaskState::Waiting | TaskState::Running => &mut summary.open,
            } += 1;
        }
        summary
    }
}

/// Takes a task up again.
fn reopen(task: &mut TaskRun) {
    task.state = TaskState::Waiting;
    (task.outcome, task.reason, task.ended_at) = (None, None, None);
    (task.group, task.worktree) = (None, None);
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

/// Ends what worked on a task when the process of the run was gone: until when it did nobody knows, only
/// that it did until something was told last.
fn broke_off(task: &mut TaskRun, until: &str) {
    let since = task.since.take();
    let took = since.and_then(|since| between_ms(&since, until));
    task.duration_ms += took.unwrap_or(0);
}

fn ended(task: &mut TaskRun, told: &Told) {
    task.outcome = told.outcome;
    (task.ended, task.message) = (told.outcome, told.message.clone());
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
    if told.conversation.is_some() {
        task.conversation = told.conversation.clone();
    }
    (task.doing, task.group, task.using) = (None, None, None);
}

/// Notes what was kept and why, beside the reason for which the task failed.
fn kept(task: &mut TaskRun, told: &Told) {
    let why = told.reason.clone();
    let is_new = why.as_ref().is_some_and(|why| !task.missing.contains(why));
    task.missing.extend(why.filter(|_| is_new));
    let what = match (&told.worktree, &told.branch) {
        (Some(place), _) => format!("its worktree is kept: {place}"),
        (None, Some(branch)) => format!("its work is kept on the branch {branch}"),
        (None, None) => return,
    };
    task.worktree = told.worktree.clone();
    task.branch = told.branch.clone();
    if let Some(reason) = &mut task.reason {
        *reason += &format!("; {what}");
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

#[cfg(test)]
mod tests {
    use super::*;

    fn told(task: u32) -> Told {
        Told::of(TaskId(task))
    }

    fn board() -> Board {
        let planned = |id| Planned {
            task_id: TaskId(id),
            title: format!("Task {id}"),
            needs: Vec::new(),
            is_epic: false,
        };
        let mut board = Board::default();
        let tasks = vec![planned(1), planned(2)];
        let started = Told {
            tasks,
            ..Told::default()
        };
        board.take(kind::RUN_STARTED, "t0", &started);
        board
    }

    #[test]
    fn a_worktree_that_is_kept_is_told_beside_the_reason_of_the_failure() {
        let mut board = board();
        let failed = Told {
            outcome: Some(Outcome::AgentError),
            reason: Some("it crashed".into()),
            ..told(1)
        };
        board.take(kind::TASK_FAILED, "t1", &failed);
        let kept = Told {
            worktree: Some("/w/T1-1".into()),
            reason: Some("no commit".into()),
            ..told(1)
        };
        board.take(kind::TASK_KEPT, "t2", &kept);
        let task = &board.tasks()[0];
        let reason = "it crashed; its worktree is kept: /w/T1-1";
        assert_eq!(task.reason.as_deref(), Some(reason));
        assert_eq!(task.missing, ["no commit"]);
        assert_eq!(task.worktree.as_deref(), Some("/w/T1-1"));
    }

    #[test]
    fn a_branch_that_is_kept_is_told_beside_the_reason_of_the_failure() {
        let mut board = board();
        let failed = Told {
            reason: Some("it was given up".into()),
            ..told(1)
        };
        board.take(kind::TASK_FAILED, "t1", &failed);
        let kept = Told {
            branch: Some("cleo/run_1/T1-1".into()),
            ..told(1)
        };
        board.take(kind::TASK_KEPT, "t2", &kept);
        let task = &board.tasks()[0];
        let reason = "it was given up; its work is kept on the branch cleo/run_1/T1-1";
        assert_eq!(task.reason.as_deref(), Some(reason));
        assert_eq!(task.branch.as_deref(), Some("cleo/run_1/T1-1"));
    }

    #[test]
    fn a_task_adds_up_what_its_tries_took() {
        let mut board = board();
        for attempt in [1, 2] {
            let started = Told {
                attempt: Some(attempt),
                epoch: Some(3),
                ..told(1)
            };
            board.take(kind::TASK_STARTED, "t1", &started);
            let ended = Told {
                duration_ms: Some(5),
                cost: Some(0.25),
                ..told(1)
            };
            board.take(kind::AGENT_ENDED, "t2", &ended);
        }
        board.take(kind::TASK_COMPLETED, "t3", &told(1));
        let task = board.task(TaskId(1)).unwrap();
        assert_eq!((task.attempts, task.duration_ms), (2, 10));
        assert_eq!((task.cost, task.outcome), (Some(0.5), Some(Outcome::Ok)));
        assert_eq!(task.started_at.as_deref(), Some("t1"));
        let summary = Summary::of(&board);
        assert_eq!((summary.done, summary.open), (1, 1));
    }

    #[test]
    fn what_was_stopped_is_counted_apart_from_what_failed() {
        let mut board = board();
        for (task, outcome) in [(1, Outcome::Cancelled), (2, Outcome::AgentError)] {
            let failed = Told {
                outcome: Some(outcome),
                ..told(task)
            };
            board.take(kind::TASK_FAILED, "t1", &failed);
        }
        let expected = Summary {
            total: 2,
            failed: 1,
            stopped: 1,
            ..Summary::default()
        };
        assert_eq!(Summary::of(&board), expected);
    }

    #[test]
    fn what_a_conversation_came_to_is_known_until_a_new_one_begins() {
        let mut board = board();
        let costs = [(None, 0.1), (Some(true), 0.2), (None, 0.5)];
        let mut conversed = Vec::new();
        for (resumes, cost) in costs {
            let started = Told { resumes, ..told(1) };
            board.take(kind::TASK_STARTED, "t1", &started);
            let ended = Told {
                cost: Some(cost),
                ..told(1)
            };
            board.take(kind::AGENT_ENDED, "t2", &ended);
            board.take(kind::RUN_RESUMED, "t3", &Told::default());
            conversed.push(board.tasks()[0].conversed.cost);
        }
        assert_eq!(conversed, [Some(0.1), Some(0.3), Some(0.5)]);
        assert_eq!(board.tasks()[0].cost, Some(0.8));
    }

    #[test]
    fn an_agent_whose_cleo_was_killed_worked_until_something_was_told_last() {
        let at = |second: u32| format!("2026-01-26T10:00:{second:02}.000Z");
        let mut board = board();
        board.take(kind::TASK_STARTED, &at(1), &told(1));
        board.take(kind::AGENT_STARTED, &at(2), &told(1));
        board.take(kind::AGENT_DOING, &at(5), &told(1));
        board.take(kind::RUN_CANCEL, &at(30), &Told::default());
        board.take(kind::RUN_LEFT, &at(40), &Told::default());
        board.take(kind::RUN_RESUMED, &at(50), &Told::default());
        assert_eq!(board.tasks()[0].duration_ms, 3_000);
    }

    #[test]
    fn going_on_takes_up_what_came_to_no_end() {
        let mut board = board();
        board.take(kind::TASK_STARTED, "t1", &told(1));
        let failed = Told {
            outcome: Some(Outcome::AgentError),
            ..told(2)
        };
        board.take(kind::TASK_FAILED, "t2", &failed);
        board.take(kind::RUN_RESUMED, "t3", &Told::default());
        let states = board.tasks().iter().map(|task| task.state);
        let states: Vec<_> = states.collect();
        assert_eq!(states, [TaskState::Waiting, TaskState::Failed]);
    }

    #[test]
    fn what_was_under_way_and_what_its_agent_said_last_are_known_when_a_run_goes_on() {
        let mut board = board();
        board.take(kind::TASK_STARTED, "t1", &told(1));
        let ended = Told {
            outcome: Some(Outcome::Ok),
            message: Some("I am done.".into()),
            ..told(1)
        };
        board.take(kind::AGENT_ENDED, "t2", &ended);
        board.take(kind::TASK_STARTED, "t3", &told(1));
        for _ in 0..2 {
            board.take(kind::RUN_RESUMED, "t4", &Told::default());
            let task = &board.tasks()[0];
            assert_eq!((task.is_held, task.ended), (true, Some(Outcome::Ok)));
            assert_eq!(task.message.as_deref(), Some("I am done."));
        }
        board.take(kind::TASK_FAILED, "t5", &told(1));
        assert!(!board.tasks()[0].is_held);
    }
}
