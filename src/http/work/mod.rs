//! Tasks of the workspace: the graph, rows, one task, and everything that can be done with it; phases and
//! sessions, checks, and what an orchestrating agent asks.

mod criteria;
mod graph;
mod proofs;
mod tasks;
mod transfer;

use serde::Serialize;

use super::call::Call;
use super::extract::Json;
use super::route::Route;
use super::server::Lent;
use crate::error::{Code, Error, Result, steers};
use crate::id::TaskId;
use crate::ops::Context;
use crate::store::OperationFilter;

/// Longest name of who acts, in characters.
const AGENT_MAX: usize = 100;

pub(super) fn routes() -> Vec<Route> {
    [
        criteria::routes(),
        graph::routes(),
        proofs::routes(),
        tasks::routes(),
        transfer::routes(),
    ]
    .into_iter()
    .flatten()
    .map(|route| route.tag("work"))
    .collect()
}

/// What a write came to.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(super) struct Done<T> {
    #[serde(flatten)]
    pub(super) result: T,
    /// What the caller should know.
    pub(super) warnings: Vec<String>,
    /// Number of the operation, for undo; none when nothing changed.
    pub(super) operation: Option<u64>,
}

impl<T: Serialize> Done<T> {
    pub(super) fn reply(result: T, warnings: Vec<String>, operation: Option<u64>) -> Json<Done<T>> {
        Json(Done {
            result,
            warnings,
            operation,
        })
    }
}

/// Something with what the caller should know.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(super) struct Warned<T> {
    #[serde(flatten)]
    pub(super) result: T,
    /// What the caller should know.
    pub(super) warnings: Vec<String>,
}

/// Reads the path's task. What is no id is no task's.
pub(super) fn task(call: &Call) -> Result<TaskId> {
    let text = call.part("id");
    // An address means one thing only; on a command line, blanks around an id do not count.
    let id = Some(text).filter(|text| text.trim() == *text);
    id.and_then(|id| id.parse().ok()).ok_or_else(|| {
        let shown: String = text.chars().filter(|c| !steers(*c)).take(40).collect();
        Error::new(Code::TaskNotFound, format!("there is no task {shown}")).fix("cleo list")
    })
}

/// Has the agent act that the caller names. Who calls with a token acts under its user's name, so that nobody
/// acts as somebody else.
pub(super) fn act_as(call: &Call, context: &mut Context, agent: Option<&str>) -> Result<()> {
    if let Some(agent) = agent {
        let agent = name(agent)?;
        context.surroundings.actor = match call.caller.is_local {
            true => agent.to_string(),
            false => format!("{}/{agent}", call.user()),
        };
    }
    Ok(())
}

/// Lends the workspace to whoever the caller says acts. Who calls with a token acts under its user's
/// name, so that nobody acts as somebody else.
pub(super) fn context_as<'a>(
    call: &'a Call,
    command: &'static str,
    agent: Option<&str>,
) -> Result<Lent<'a, Context>> {
    let mut context = call.context(command)?;
    act_as(call, &mut context, agent)?;
    Ok(context)
}

fn name(agent: &str) -> Result<&str> {
    let agent = agent.trim();
    if !agent.is_empty() && agent.chars().count() <= AGENT_MAX && !agent.contains(steers) {
        return Ok(agent);
    }
    let message = format!("agent must be one line of at most {AGENT_MAX} visible characters");
    Err(Error::new(Code::InputInvalid, message))
}

/// Changes the path's task in the name of `agent`, and returns the number of the operation, for undo.
pub(super) fn change_task<T>(
    call: &Call,
    command: &'static str,
    agent: Option<&str>,
    work: impl FnOnce(&mut Context, TaskId) -> Result<T>,
) -> Result<(T, Option<u64>)> {
    let task = task(call)?;
    let context = &mut *context_as(call, command, agent)?;
    let before = last_operation(context, task)?;
    let done = work(context, task)?;
    let after = last_operation(context, task)?;
    Ok((done, after.filter(|_| after != before)))
}

fn last_operation(context: &mut Context, task: TaskId) -> Result<Option<u64>> {
    let filter = OperationFilter {
        task: Some(task),
        by: Some(context.surroundings.actor.clone()),
        limit: Some(1),
        ..OperationFilter::default()
    };
    let last = context.read(|transaction| transaction.operations(&filter))?;
    Ok(last.0.first().map(|operation| operation.number))
}

pub(super) fn words<T>(text: Option<&str>) -> Result<Vec<T>>
where
    T: std::str::FromStr,
    T::Err: std::fmt::Display,
{
    let parts = text.unwrap_or_default().split(',').map(str::trim);
    let read = parts.filter(|part| !part.is_empty()).map(str::parse);
    let read: std::result::Result<Vec<T>, T::Err> = read.collect();
    read.map_err(|what| {
        let what = what.to_string();
        let what: String = what.chars().filter(|c| !steers(*c)).take(300).collect();
        Error::new(Code::InputInvalid, what)
    })
}
