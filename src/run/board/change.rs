//! What an event changes of its task.

use super::{TaskRun, TaskState};
use crate::clock::between_ms;
use crate::run::told::{Told, kind};
use crate::run::{Outcome, Spent};

/// Takes a task up again.
pub(super) fn reopen(task: &mut TaskRun) {
    task.state = TaskState::Waiting;
    (task.outcome, task.reason, task.ended_at) = (None, None, None);
    (task.group, task.worktree) = (None, None);
}

/// Takes what happened with a task.
pub(super) fn happened(task: &mut TaskRun, kind: &str, at: &str, told: &Told) {
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

/// Ends what worked on a task when the process of the run was gone: until when it did nobody knows, only
/// that it did until something was told last.
pub(super) fn broke_off(task: &mut TaskRun, until: &str) {
    let since = task.since.take();
    let took = since.and_then(|since| between_ms(&since, until));
    task.duration_ms += took.unwrap_or(0);
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

/// Notes what was kept and why, beside the reason for which the task failed.
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

/// Says where work is kept that is not in the workspace, after the reason for which it is not.
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
