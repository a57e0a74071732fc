//! The state of a run and of each of its tasks, read from its events, all at once or as they come: for the
//! coordinator, which resumes from it, and for all views. Pure.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde_json::Value;

use super::attempt::Attempt;
use super::coordination::Coordination;
use super::event::{AgentEnd, AttemptStart};
use super::planned::{Planned, waves};
use super::step::{Counts, StepState, TaskRun};
use super::{Event, Outcome, RunEvent, Spent, TaskEvent};
use crate::clock::between_ms;
use crate::id::TaskId;

/// Most attempts of a task that are kept; the last one counts always.
const ATTEMPTS_MAX: usize = 200;

#[derive(Clone, Debug, Default)]
pub(crate) struct RunProjection {
    tasks: Vec<TaskRun>,
    places: HashMap<TaskId, usize>,
    /// Of a plan or a query.
    pub(crate) coordination: Coordination,
    /// Cursor of the last event that was read.
    pub(crate) cursor: u64,
    /// The options of the run, as the last event of them says.
    pub(crate) options: Option<Value>,
    told_at: String,
    /// When the last process that worked on the run began; `None` once its end is recorded.
    process_at: Option<String>,
}

impl RunProjection {
    pub(crate) fn read(events: &[Event]) -> RunProjection {
        let mut track = RunProjection::default();
        events.iter().for_each(|event| track.take_event(event));
        track
    }

    /// Takes more events; those that were taken before are passed over.
    pub(crate) fn apply_new(&mut self, events: &[Event]) {
        for event in events {
            if event.cursor > self.cursor {
                self.take_event(event);
            }
        }
    }

    fn take_event(&mut self, event: &Event) {
        self.cursor = event.cursor;
        self.coordination.apply(&event.kind, &event.detail);
        self.apply(&event.at, RunEvent::read(event).as_ref());
    }

    /// Returns how long the last process of the run worked on it, in milliseconds, until its last event. `None` if
    /// that was counted before.
    pub(crate) fn count_open_time(&self) -> Option<u64> {
        between_ms(self.process_at.as_deref()?, &self.told_at)
    }

    pub(crate) fn tasks(&self) -> &[TaskRun] {
        &self.tasks
    }

    pub(crate) fn task(&self, id: TaskId) -> Option<&TaskRun> {
        self.places.get(&id).map(|place| &self.tasks[*place])
    }

    /// Returns the place of a task in the order of the run.
    pub(crate) fn position(&self, id: TaskId) -> Option<usize> {
        self.places.get(&id).copied()
    }

    pub(crate) fn attempts(&self, id: TaskId) -> &[Attempt] {
        self.task(id).map_or(&[], |task| &task.history)
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts::new(&self.tasks)
    }

    /// Applies an event; `None` is one that does not concern tasks.
    pub(crate) fn apply(&mut self, at: &str, event: Option<&RunEvent>) {
        // No event of its own says that a plan began: its first one is what was asked for.
        if self.told_at.is_empty() {
            self.process_at = Some(at.to_string());
        }
        match event {
            Some(RunEvent::Started { tasks, options, .. }) => {
                self.process_at = Some(at.to_string());
                self.start(tasks, options);
            }
            Some(RunEvent::Resumed { options, again, .. }) => {
                self.process_at = Some(at.to_string());
                self.add_lost_time();
                self.break_off(at);
                self.reopen(options, *again);
            }
            Some(RunEvent::PlanResumed {}) => self.process_at = Some(at.to_string()),
            Some(RunEvent::Interrupted {}) => {
                self.process_at = None;
                self.add_lost_time();
            }
            Some(RunEvent::Finished { .. }) => {
                self.process_at = None;
                self.break_off(at);
            }
            // A request may come long after the process has ended.
            Some(
                RunEvent::CancelRequested { .. }
                | RunEvent::Task(_, _, TaskEvent::WordsSent { .. } | TaskEvent::StopRequested { .. }),
            ) => return,
            Some(RunEvent::Task(task, attempt, event)) => {
                if let Some(place) = self.places.get(task) {
                    apply(&mut self.tasks[*place], at, *attempt, event);
                }
            }
            Some(RunEvent::Stopping { .. }) | None => {}
        }
        at.clone_into(&mut self.told_at);
    }

    fn start(&mut self, planned: &[Planned], options: &Option<Value>) {
        self.options.clone_from(options);
        let waves = waves(planned);
        let tasks = planned.iter().map(|planned| TaskRun {
            planned: planned.clone(),
            wave: waves.get(&planned.task_id).copied(),
            ..TaskRun::default()
        });
        self.tasks = tasks.collect();
        let places = self.tasks.iter().enumerate();
        self.places = places
            .map(|(place, task)| (task.planned.task_id, place))
            .collect();
    }

    /// Adds the time of agents whose end is unknown because the process of the run was killed: they worked at least
    /// until the last event.
    fn add_lost_time(&mut self) {
        for task in &mut self.tasks {
            let since = task.since.take();
            let took = since.and_then(|since| between_ms(&since, &self.told_at));
            task.duration_ms += took.unwrap_or(0);
        }
    }

    fn reopen(&mut self, options: &Option<Value>, is_again: bool) {
        self.options = options.clone().or(self.options.take());
        for task in &mut self.tasks {
            let is_settled = task.is_done() || task.state == StepState::Failed && !is_again;
            if !is_settled {
                task.state = StepState::Waiting;
                (task.outcome, task.reason, task.ended_at) = (None, None, None);
                (task.group, task.worktree) = (None, None);
            }
        }
    }

    fn break_off(&mut self, at: &str) {
        let last = self.tasks.iter_mut();
        for attempt in last.filter_map(|task| task.history.last_mut()) {
            attempt.break_off(at);
        }
    }
}

fn apply(task: &mut TaskRun, at: &str, attempt: Option<u32>, event: &TaskEvent) {
    match event {
        TaskEvent::Started(start) => return begin_attempt(task, at, attempt, start),
        TaskEvent::AgentStarted {
            group,
            process_start_time,
        } => {
            task.group = group.zip(process_start_time.clone());
            task.since = Some(at.to_string());
        }
        TaskEvent::AgentConversation { conversation } => {
            task.conversation.clone_from(conversation);
        }
        TaskEvent::AgentProgress { doing } => task.doing.clone_from(doing),
        TaskEvent::AgentEnded(end) => end_agent(task, end),
        TaskEvent::VerificationFailed {
            outcome,
            violations,
            ..
        } => {
            task.state = StepState::Running;
            task.violations.clone_from(violations);
            task.outcome = *outcome;
        }
        TaskEvent::Completed { reason } => {
            end_attempt(task, StepState::Done, at, reason);
            task.outcome = Some(Outcome::Ok);
            task.violations.clear();
        }
        TaskEvent::Failed { outcome, reason } => {
            task.outcome = outcome.or(task.outcome);
            let state = match task.outcome {
                Some(Outcome::Cancelled) => StepState::Cancelled,
                _ => StepState::Failed,
            };
            end_attempt(task, state, at, reason);
        }
        TaskEvent::Skipped { reason, caused_by } => {
            end_attempt(task, StepState::Skipped, at, reason);
            task.caused_by = *caused_by;
        }
        TaskEvent::Merged { .. } => task.branch = None,
        TaskEvent::Retained {
            reason,
            branch,
            worktree,
        } => note_retained_worktree(task, reason, branch, worktree),
        TaskEvent::Checked { .. }
        | TaskEvent::Waiting { .. }
        | TaskEvent::WordsSent { .. }
        | TaskEvent::StopRequested { .. } => {}
    }
    if let Some(last) = task.history.last_mut() {
        last.apply(at, event);
    }
}

fn begin_attempt(task: &mut TaskRun, at: &str, attempt: Option<u32>, start: &AttemptStart) {
    // An attempt that was ended for words has no verdict.
    if let Some(last) = task.history.last_mut() {
        last.break_off(at);
    }
    task.state = StepState::Running;
    task.is_held = true;
    task.attempts = attempt.unwrap_or(task.attempts);
    task.started_at.get_or_insert_with(|| at.to_string());
    task.setup.clone_from(&start.setup);
    task.planned.acceptance.clone_from(&start.acceptance);
    (task.doing, task.group) = (None, None);
    if !start.resumes {
        task.conversed = Spent::default();
    }
    let next = u32::try_from(task.history.len() + 1).unwrap_or(u32::MAX);
    let number = attempt.unwrap_or(next);
    task.history.push(Attempt::new(number, start, at));
    if task.history.len() > ATTEMPTS_MAX {
        task.history.remove(0);
    }
}

fn end_agent(task: &mut TaskRun, end: &AgentEnd) {
    if task.state == StepState::Running {
        task.state = StepState::Verifying;
    }
    task.outcome = end.outcome;
    // An agent that was stopped has no final message.
    if end.outcome != Some(Outcome::Cancelled) {
        (task.ended, task.message) = (end.outcome, end.message.clone());
    }
    task.duration_ms += end.duration_ms.unwrap_or(0);
    task.since = None;
    task.spent = task.spent.plus(end.to_spent());
    task.conversed = task.conversed.plus(end.to_spent());
    if end.resumes == Some(false) {
        task.conversation = None;
    } else if end.conversation.is_some() {
        task.conversation.clone_from(&end.conversation);
    }
    (task.doing, task.group) = (None, None);
}

fn note_retained_worktree(
    task: &mut TaskRun,
    why: &Option<String>,
    branch: &Option<String>,
    worktree: &Option<String>,
) {
    for list in [&mut task.violations, &mut task.warnings] {
        let new = why.as_ref().filter(|why| !list.contains(why)).cloned();
        list.extend(new);
    }
    let Some(now) = describe_place(worktree, branch) else {
        return;
    };
    let is_same = |now: &Option<String>, before: &Option<String>| now.is_some() && now == before;
    let is_of_one = is_same(worktree, &task.worktree) || is_same(branch, &task.branch);
    let before = describe_place(&task.worktree, &task.branch).filter(|_| is_of_one);
    if let Some(reason) = &mut task.reason {
        let before = before.unwrap_or_default();
        let why = reason.strip_suffix(before.as_str());
        *reason = format!("{}{now}", why.unwrap_or(reason.as_str()));
    }
    task.worktree.clone_from(worktree);
    task.branch.clone_from(branch);
}

fn describe_place(worktree: &Option<String>, branch: &Option<String>) -> Option<String> {
    match (worktree, branch) {
        (Some(place), _) => Some(format!("; its worktree is kept: {place}")),
        (None, Some(branch)) => Some(format!("; its work is kept on the branch {branch}")),
        (None, None) => None,
    }
}

fn end_attempt(task: &mut TaskRun, state: StepState, at: &str, reason: &Option<String>) {
    task.is_held = false;
    task.ended_at = Some(at.to_string());
    task.state = state;
    (task.reason, task.caused_by) = (reason.clone(), None);
}
