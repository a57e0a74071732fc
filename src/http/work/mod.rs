//! What of the work is no plain operation, and what operations share: who acts, and warnings.

mod transfer;

use serde::Serialize;

use super::call::Call;
use super::route::Route;
use crate::error::{Code, Error, Result, steers};
use crate::ops::Context;

/// Longest name of who acts, in characters.
const AGENT_MAX: usize = 100;

pub(super) fn routes() -> Vec<Route> {
    transfer::routes()
        .into_iter()
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
