//! Ready tasks, and the next one.

use serde::Serialize;

use super::choose::{Choice, choose};
use super::{check_scope, describe_conflict, problems};
use crate::error::Result;
use crate::id::{self, TaskId};
use crate::ops::agents::find_assigned;
use crate::ops::tasks::claim::explain_nothing_ready;
use crate::ops::tasks::delivered::{Delivered, find_delivered};
use crate::ops::tasks::read::warn_of_problems;
use crate::ops::tasks::{Caller, Extract, NextRequest};
use crate::ops::trust::Trust;
use crate::ops::{Context, require};
use crate::store::ReadyTask;
use crate::task::graph::waves::BOUND;
use crate::task::graph::{Conflict, Problem};

/// How many ready tasks are listed by default.
const SHOWN: u32 = 20;
/// Maximum number of tasks that a reason names.
const NAMED_MAX: usize = 5;
/// Maximum number of skipped tasks in a reply.
const PASSED_MAX: usize = 20;

/// Tasks that an agent can start now, most urgent first.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Ready {
    pub(crate) tasks: Vec<ReadyTask>,
    /// How many there are without limit.
    pub(crate) total: u64,
    /// Why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// Tasks of the list with output that is to be verified, not written anew.
    pub(crate) delivered: Vec<Delivered>,
    /// Why other tasks can never start.
    pub(crate) problems: Vec<Problem>,
}

/// The task to take next.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Next {
    /// The task; none when nothing is ready.
    pub(crate) task: Option<ReadyTask>,
    /// Why this one, or why none.
    pub(crate) reason: Option<String>,
    /// The command to continue with: it prepares the prompt, verifies output that is there, or shows why none is ready.
    pub(crate) command: Option<String>,
    /// More urgent tasks that were skipped because a task in progress touches the same files.
    pub(crate) conflicts: Vec<Conflict>,
    /// How many of these there are in all.
    pub(crate) conflicts_total: usize,
    /// Tasks that can start once it is done, and not before.
    pub(crate) unblocks: Vec<TaskId>,
    /// How many tasks are ready.
    pub(crate) total: u64,
    /// Why other tasks can never start.
    pub(crate) problems: Vec<Problem>,
}

/// Reads the ready tasks below an epic, or of the whole workspace, and warns of tasks that can never start.
pub(crate) fn ready(context: &mut Context, part: Extract) -> Result<Ready> {
    let mut found = find_ready(context, part.epic, Some(part.limit.unwrap_or(SHOWN)))?;
    let ids: Vec<TaskId> = found.tasks.iter().map(|ready| ready.task.id).collect();
    let trust = Trust::new(&context.surroundings, &context.workspace);
    let caller = Caller::without_task(context);
    (found.delivered, found.reason) = context.read(|tasks| {
        let why = || explain_nothing_ready(tasks, part.epic, &caller.name, &caller.now);
        let why = (found.total == 0).then(why).transpose()?;
        Ok((
            find_delivered(&trust, tasks, &ids)?,
            why.map(|why| why.message),
        ))
    })?;
    warn_of_problems(context, &found.problems);
    Ok(found)
}

/// Warns of problems that keep tasks below an epic from ever starting.
pub(crate) fn warn_of_stuck(context: &mut Context, epic: Option<TaskId>) -> Result<()> {
    let problems = find_ready(context, epic, Some(0))?.problems;
    warn_of_problems(context, &problems);
    Ok(())
}

/// Reads the ready tasks below `epic`, or of the whole workspace, at most `limit`.
pub(crate) fn find_ready(
    context: &mut Context,
    epic: Option<TaskId>,
    limit: Option<u32>,
) -> Result<Ready> {
    context.read(|tasks| {
        check_scope(tasks, epic)?;
        let page = tasks.ready(epic, limit)?;
        Ok(Ready {
            problems: problems(tasks, epic, page.total)?,
            tasks: page.tasks,
            total: page.total,
            reason: None,
            delivered: Vec::new(),
        })
    })
}

/// Chooses the next task, and warns of tasks that can never start.
pub(crate) fn next(context: &mut Context, request: NextRequest) -> Result<Next> {
    let (caller, epic) = (Caller::without_task(context), request.epic);
    let agent = find_assigned(context, request.agent)?;
    let trust = Trust::new(&context.surroundings, &context.workspace);
    // A caller who may not see all agents is not told their names.
    let sees_all = context.surroundings.visible_user().is_none();
    let next = context.read(|tasks| {
        check_scope(tasks, epic)?;
        let mut choice = choose(tasks, epic, agent.as_deref(), &caller.now)?;
        let (mut unblocks, mut assigned, mut command) = (Vec::new(), None, None);
        if let Some(ReadyTask { task, .. }) = &choice.task {
            unblocks = tasks.list_unblocked_by(task.id)?;
            assigned = require(tasks, task.id)?.assigned_agent.filter(|_| sees_all);
            let delivered = find_delivered(&trust, tasks, &[task.id])?.pop();
            let spawn = || format!("cleo spawn {}", task.id);
            command = Some(delivered.map_or_else(spawn, |it| it.command));
        }
        let mut reason = explain_choice(&choice, &unblocks, assigned.as_deref());
        if choice.task.is_none() && reason.is_none() {
            let why = explain_nothing_ready(tasks, epic, &caller.name, &caller.now)?;
            (reason, command) = (Some(why.message), why.fix);
        }
        let conflicts_total = choice.passed.len();
        choice.passed.truncate(PASSED_MAX);
        Ok(Next {
            reason,
            command,
            task: choice.task,
            conflicts: choice.passed,
            conflicts_total,
            unblocks,
            total: choice.total,
            problems: problems(tasks, epic, choice.total)?,
        })
    })?;
    warn_of_problems(context, &next.problems);
    Ok(next)
}

/// Explains the choice; none when no task is ready.
fn explain_choice(choice: &Choice, unblocks: &[TaskId], assigned: Option<&str>) -> Option<String> {
    let Some(task) = &choice.task else {
        if let Some(id) = choice.reserved {
            let anyway = format!("take it anyway with `cleo claim {id}`");
            return Some(format!(
                "{id} is ready, but assigned to another agent; {anyway}"
            ));
        }
        let first = choice.passed.first()?;
        let anyway = format!("take it anyway with `cleo claim {}`", first.task);
        return Some(format!("{}; {anyway}", describe_conflict(first)));
    };
    let mut reason = reason(task, unblocks);
    if let Some(agent) = assigned {
        reason += &format!("; assigned to {agent}");
    }
    if let Some(holder) = &choice.lapsed {
        reason += &format!("; the lease of {holder} on it is over");
    }
    Some(reason)
}

fn reason(ready: &ReadyTask, unblocks: &[TaskId]) -> String {
    let mut reason = format!("{} priority", ready.task.priority);
    if !unblocks.is_empty() {
        let named = id::list_first(unblocks, NAMED_MAX);
        reason += &format!("; {named} can start once it is done");
    }
    match ready.below {
        0 if unblocks.is_empty() => reason + "; nothing depends on it",
        0 => reason,
        1 => reason + "; one task depends on it in a row",
        BOUND.. => reason + &format!("; {BOUND} tasks or more depend on it in a row"),
        below => reason + &format!("; {below} tasks depend on it in a row"),
    }
}
