//! To whom tasks are assigned. Tasks are everybody's and agents are not: one that a caller does not see is
//! told, found and assigned as if it were not there.

use serde_json::Value;

use super::agents::unseen;
use super::answer::Answer;
use super::call::Call;
use super::hidden::{FIELD, hide};
use crate::error::Result;
use crate::ops::{Context, agent_tasks};

/// Below which path tasks are told with all their fields.
const WORK: &str = "/api/work/";

/// Leaves out of an answer with tasks to whom they are assigned, where the caller does not see that agent.
pub(super) fn masked(call: &Call, answer: Answer) -> Result<Answer> {
    if call.only().is_none() || !call.uri.path().starts_with(WORK) {
        return Ok(answer);
    }
    let is_unseen = unseen(call)?;
    Ok(answer.edited(|text| {
        // Most answers name no agent, and are long.
        let mut value = match text.contains(FIELD) {
            true => serde_json::from_str::<Value>(text).ok()?,
            false => return None,
        };
        hide(&mut value, &is_unseen);
        Some(value.to_string())
    }))
}

/// Returns the agent whose tasks are looked for; one that the caller does not see has none.
pub(super) fn sought(call: &Call, agent: Option<String>) -> Result<Option<String>> {
    let Some(name) = agent else { return Ok(None) };
    let is_unseen = unseen(call)?;
    // No task is assigned to an empty name.
    Ok(Some(match is_unseen(&name) {
        true => String::new(),
        false => name,
    }))
}

/// Refuses an agent that the caller does not see, or that nobody knows, so that the two cannot be told apart.
/// Whoever sees all may name anybody, as on the command line.
pub(super) fn check(call: &Call, context: &Context, agent: Option<&str>) -> Result<()> {
    match call.only() {
        Some(user) => agent_tasks::require_agent(context, agent, Some(user)),
        None => Ok(()),
    }
}
