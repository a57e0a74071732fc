//! Agents in the form of the specification that has no prompts: the list that pages keep in step with.

use serde::Serialize;

use super::{read_seen, show_all};
use crate::agent::{Agent, AgentStatus, Kind, Role};
use crate::error::Result;
use crate::ops::operation::Nothing;
use crate::ops::{Notes, Surroundings};

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(crate) struct Synced {
    message: String,
    agents: Vec<Brief>,
    count: usize,
}

/// What is shown of an agent where what a model is told is not.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
#[serde(remote = "Agent", rename_all = "camelCase")]
struct Summary {
    id: String,
    name: String,
    description: String,
    role: Role,
    tags: Vec<String>,
    model: String,
    temperature: f64,
    max_tokens: u32,
    tools: Vec<String>,
    color: String,
    icon: String,
    kind: Kind,
    status: AgentStatus,
    is_runtime: bool,
    is_builtin: bool,
    capability: Option<String>,
    last_used_at: Option<String>,
}

/// An agent without what a model is told.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Brief {
    #[serde(flatten, with = "Summary")]
    #[cfg_attr(feature = "schemas", schemars(with = "Summary"))]
    agent: Agent,
    /// When it is removed, of an agent of the moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
}

/// Shows the agents that the caller sees.
pub(crate) fn sync(surroundings: &Surroundings, _: &mut Notes, _: Nothing) -> Result<Synced> {
    let (known, uses) = read_seen(surroundings)?;
    let shown = show_all(surroundings, known, &uses)?.into_iter();
    let briefs = shown.map(|one| Brief {
        agent: one.agent,
        expires_at: one.expires_at,
    });
    let agents: Vec<Brief> = briefs.collect();
    Ok(Synced {
        message: format!("Synced {} agents", agents.len()),
        count: agents.len(),
        agents,
    })
}
