//! Agents in the form of the specification that has no prompts: the list that pages keep in step with, and the picture of
//! the ways that messages go.

use std::collections::HashMap;

use serde::Serialize;

use super::metrics::Counts;
use super::{Measuring, metrics, seen_and_used, show_all};
use crate::agent::{Agent, AgentStatus, Kind, Role, SUPERVISOR};
use crate::error::Result;
use crate::ops::operation::Nothing;
use crate::ops::{Notes, Surroundings};
use crate::route::FINALIZE;

/// Width of a column of the picture.
const COLUMN: u32 = 240;
/// Height of a row of it.
const ROW: u32 = 88;
/// The node that chooses.
const ROUTER: &str = "router";

/// All agents.
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
fn briefs(surroundings: &Surroundings) -> Result<Vec<Brief>> {
    let (known, uses) = seen_and_used(surroundings)?;
    let shown = show_all(surroundings, known, &uses)?.into_iter();
    let briefs = shown.map(|one| Brief {
        agent: one.agent,
        expires_at: one.expires_at,
    });
    Ok(briefs.collect())
}

pub(crate) fn sync(surroundings: &Surroundings, _: &mut Notes, _: Nothing) -> Result<Synced> {
    let agents = briefs(surroundings)?;
    Ok(Synced {
        message: format!("Synced {} agents", agents.len()),
        count: agents.len(),
        agents,
    })
}

/// The picture of the ways that messages go.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(crate) struct Drawn {
    graph: Graph,
    agents: Vec<Brief>,
    metrics: Counts,
}

/// Nodes and edges.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
struct Graph {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

/// What a node is.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum NodeType {
    Supervisor,
    Router,
    Agent,
    Finalize,
}

/// A node with its place.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
struct Node {
    id: String,
    #[serde(rename = "type")]
    kind: NodeType,
    label: String,
    status: Option<AgentStatus>,
    color: Option<String>,
    icon: Option<String>,
    /// How many executions came here.
    executions: u64,
    /// Which part of all that is, from 0 to 1.
    share: f64,
    x: u32,
    y: u32,
}

/// A way that messages go.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
struct Edge {
    id: String,
    source: String,
    target: String,
    label: &'static str,
    count: u64,
    share: f64,
}

pub(crate) fn graph(surroundings: &Surroundings, notes: &mut Notes, _: Nothing) -> Result<Drawn> {
    let agents = briefs(surroundings)?;
    let dashboard = metrics(surroundings, notes, Measuring::default())?.dashboard;
    let all = dashboard.counts.total_executions;
    let patterns = dashboard.routing_patterns.iter();
    let counts: HashMap<&str, u64> = patterns
        .map(|pattern| (pattern.used.agent_id.as_str(), pattern.used.count))
        .collect();
    let count = |id: &str| counts.get(id).copied().unwrap_or(0);
    let drawn = agents.iter().map(|brief| &brief.agent);
    let drawn: Vec<&Agent> = drawn
        .filter(|agent| agent.id != SUPERVISOR && agent.status != AgentStatus::Archived)
        .collect();
    let middle = u32::try_from(drawn.len().saturating_sub(1)).unwrap_or(0) * ROW / 2;
    let share = |count: u64| count as f64 / all.max(1) as f64;
    let station = |id: &str, kind, label: &str, column, executions| Node {
        id: id.to_string(),
        kind,
        label: label.to_string(),
        status: None,
        color: None,
        icon: None,
        executions,
        share: share(executions),
        x: column * COLUMN,
        y: middle,
    };
    let edge = |source: &str, target: &str, label, count| Edge {
        id: format!("{source}>{target}"),
        source: source.to_string(),
        target: target.to_string(),
        label,
        count,
        share: share(count),
    };
    let mut nodes = vec![
        station(SUPERVISOR, NodeType::Supervisor, "Supervisor", 0, all),
        station(ROUTER, NodeType::Router, "Router", 1, all),
    ];
    let mut edges = vec![edge(SUPERVISOR, ROUTER, "route", all)];
    for (row, agent) in (0_u32..).zip(drawn) {
        let count = count(&agent.id);
        nodes.push(Node {
            status: Some(agent.status),
            color: Some(agent.color.clone()),
            icon: Some(agent.icon.clone()),
            y: row * ROW,
            ..station(&agent.id, NodeType::Agent, &agent.name, 2, count)
        });
        edges.push(edge(ROUTER, &agent.id, "delegate", count));
        edges.push(edge(&agent.id, FINALIZE, "finalize", count));
    }
    nodes.push(station(FINALIZE, NodeType::Finalize, "Finalize", 3, all));
    edges.push(edge(ROUTER, FINALIZE, "no agent fits", count(FINALIZE)));
    Ok(Drawn {
        graph: Graph { nodes, edges },
        metrics: dashboard.counts,
        agents,
    })
}
