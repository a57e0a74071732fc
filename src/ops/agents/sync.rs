//! Agents without prompts, in the form of the specification: the list that pages synchronize with.

use serde::Serialize;

use super::{Registry, expires};
use crate::agent::{Agent, AgentStatus, Kind, Role};
use crate::clock::timestamp;
use crate::error::Result;
use crate::ops::operation::Nothing;
use crate::ops::{Notes, Surroundings};

#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Synced {
    message: String,
    agents: Vec<Brief>,
    count: usize,
}

/// The fields of an agent without its prompt.
#[derive(Serialize, schemars::JsonSchema)]
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

#[derive(Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Brief {
    #[serde(flatten, with = "Summary")]
    #[schemars(with = "Summary")]
    agent: Agent,
    /// When it is removed, of a runtime agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
}

pub(crate) fn sync(surroundings: &Surroundings, _: &mut Notes, _: Nothing) -> Result<Synced> {
    let mut registry = Registry::load(surroundings)?;
    let agents = std::mem::take(&mut registry.known.agents).into_iter();
    let briefs = agents.map(|agent| Brief {
        expires_at: expires(&agent).map(timestamp),
        agent: registry.show(agent).agent.agent,
    });
    let agents: Vec<Brief> = briefs.collect();
    Ok(Synced {
        message: format!("Synced {} agents", agents.len()),
        count: agents.len(),
        agents,
    })
}
