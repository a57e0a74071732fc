//! What can start now, and what of it to take next.

use serde::Serialize;

use super::{check_scope, problems};
use crate::error::Result;
use crate::id::{self, TaskId};
use crate::ops::Context;
use crate::store::{ReadyTask, Transaction};
use crate::task::graph::Problem;

/// Most tasks that a reason names.
const NAMED_MAX: usize = 5;

/// Tasks that an agent can start now, most urgent first.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub struct Ready {
    /// The tasks.
    pub tasks: Vec<ReadyTask>,
    /// How many there are without limit.
    pub total: u64,
    /// Why other tasks can never start.
    pub problems: Vec<Problem>,
}

/// The task to take next.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub struct Next {
    /// The task; none when nothing is ready.
    pub task: Option<ReadyTask>,
    /// Why this one.
    pub reason: Option<String>,
    /// Tasks that can start once it is done, and not before.
    pub unblocks: Vec<TaskId>,
    /// How many tasks are ready.
    pub total: u64,
    /// Why other tasks can never start.
    pub problems: Vec<Problem>,
}

/// Reads what is ready below `epic`, or in the whole workspace, at most `limit`.
pub fn ready(context: &mut Context, epic: Option<TaskId>, limit: Option<u32>) -> Result<Ready> {
    context.read(|tasks| ready_in(tasks, epic, limit))
}

fn ready_in(tasks: &dyn Transaction, epic: Option<TaskId>, limit: Option<u32>) -> Result<Ready> {
    check_scope(tasks, epic)?;
    let page = tasks.ready(epic, limit)?;
    Ok(Ready {
        problems: problems(tasks, epic, page.total)?,
        tasks: page.tasks,
        total: page.total,
    })
}

/// Reads the task to take next below `epic`, or in the whole workspace.
pub fn next(context: &mut Context, epic: Option<TaskId>) -> Result<Next> {
    context.read(|tasks| {
        let ready = ready_in(tasks, epic, Some(1))?;
        let task = ready.tasks.into_iter().next();
        let unblocks = match &task {
            Some(task) => tasks.unblocked_by(task.id)?,
            None => Vec::new(),
        };
        Ok(Next {
            reason: task.as_ref().map(|task| reason(task, &unblocks)),
            task,
            unblocks,
            total: ready.total,
            problems: ready.problems,
        })
    })
}

/// Says why a task comes first.
fn reason(task: &ReadyTask, unblocks: &[TaskId]) -> String {
    let mut reason = format!("{} priority", task.priority);
    if !unblocks.is_empty() {
        let named = id::list(&unblocks[..unblocks.len().min(NAMED_MAX)]);
        let more = match unblocks.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        reason += &format!("; {named}{more} can start once it is done");
    }
    match task.below {
        0 => reason + "; nothing waits for it",
        1 => reason + "; one task waits for it in a row",
        below => reason + &format!("; {below} tasks wait for it in a row"),
    }
}
