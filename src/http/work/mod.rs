//! Tasks of the workspace: the graph, rows, one task, and everything that can be done with it; phases and
//! sessions, checks, and what an orchestrating agent asks.

mod graph;
mod tasks;
mod transfer;

use serde::Serialize;

use super::call::Call;
use super::route::Route;
use crate::error::{Code, Error, Result, steers};
use crate::id::TaskId;
use crate::ops::Context;

/// Longest name of who acts, in characters.
const AGENT_MAX: usize = 100;

pub(super) fn routes() -> Vec<Route> {
    [graph::routes(), tasks::routes(), transfer::routes()]
        .into_iter()
        .flatten()
        .map(|route| route.tag("work"))
        .collect()
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

/// Has the agent act that the caller names. With a token it acts under the name of its user,
/// so that no caller acts as another.
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

fn name(agent: &str) -> Result<&str> {
    let agent = agent.trim();
    if !agent.is_empty() && agent.chars().count() <= AGENT_MAX && !agent.contains(steers) {
        return Ok(agent);
    }
    let message = format!("agent must be one line of at most {AGENT_MAX} visible characters");
    Err(Error::new(Code::InputInvalid, message))
}
