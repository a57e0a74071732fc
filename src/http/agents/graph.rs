//! What executions say of agents: numbers, and the picture of the ways that messages go.

use std::collections::HashMap;

use serde::Serialize;

use super::listed::Brief;
use super::seen;
use crate::agent::{AgentStatus, SUPERVISOR};
use crate::error::Result;
use crate::http::call::Call;
use crate::http::extract::Json;
use crate::ops::agents::{self, Dashboard};
use crate::route::FINALIZE;

/// Width of a column of the picture.
const COLUMN: u32 = 240;
/// Height of a row of it.
const ROW: u32 = 88;

/// Counted executions.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(super) struct Measured {
    success: bool,
    dashboard: Dashboard,
    agents: Vec<agents::Measured>,
}

pub(super) fn metrics(call: &Call) -> Result<Json<Measured>> {
    let surroundings = call.surroundings("agents.metrics");
    let measured = agents::metrics(&surroundings, call.only())?;
    let seen = seen(call)?;
    let mut of_agents = measured.agents;
    of_agents.retain(|one| seen.agents.iter().any(|agent| agent.id == one.agent_id));
    Ok(Json(Measured {
        success: true,
        dashboard: Dashboard {
            active_agents: of_agents.len(),
            total_agents: seen.agents.len(),
            ..measured.dashboard
        },
        agents: of_agents,
    }))
}

/// The picture of the ways that messages go.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(super) struct Drawn {
    success: bool,
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

/// Numbers, in the form of the specification.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Counts {
    total_agents: usize,
    total_executions: u64,
    active_executions: u64,
    completed_executions: u64,
    failed_executions: u64,
}

pub(super) fn graph(call: &Call) -> Result<Json<Drawn>> {
    let known = seen(call)?;
    let measured = agents::metrics(&call.surroundings("agents.metrics"), call.only())?;
    let dashboard = measured.dashboard;
    let all = dashboard.total_executions;
    let counts: HashMap<&str, u64> = dashboard
        .routing_patterns
        .iter()
        .map(|pattern| (pattern.used.agent_id.as_str(), pattern.used.count))
        .collect();
    let drawn = known.agents.iter();
    let drawn = drawn
        .filter(|agent| agent.id != SUPERVISOR && agent.status != AgentStatus::Archived)
        .collect::<Vec<_>>();
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
    let nobody = counts.get(FINALIZE).copied().unwrap_or(0);
    let mut nodes = vec![
        station(SUPERVISOR, NodeType::Supervisor, "Supervisor", 0, all),
        station(ROUTER, NodeType::Router, "Router", 1, all),
    ];
    let mut edges = vec![edge(SUPERVISOR, ROUTER, "route", all, share(all))];
    for (row, agent) in (0_u32..).zip(&drawn) {
        let count = counts.get(agent.id.as_str()).copied().unwrap_or(0);
        let node = station(&agent.id, NodeType::Agent, &agent.name, 2, count);
        nodes.push(Node {
            status: Some(agent.status),
            color: Some(agent.color.clone()),
            icon: Some(agent.icon.clone()),
            y: row * ROW,
            ..node
        });
        edges.push(edge(ROUTER, &agent.id, "delegate", count, share(count)));
        edges.push(edge(&agent.id, FINALIZE, "finalize", count, share(count)));
    }
    nodes.push(station(FINALIZE, NodeType::Finalize, "Finalize", 3, all));
    edges.push(edge(
        ROUTER,
        FINALIZE,
        "no agent fits",
        nobody,
        share(nobody),
    ));
    Ok(Json(Drawn {
        success: true,
        graph: Graph { nodes, edges },
        metrics: Counts {
            total_agents: known.agents.len(),
            total_executions: all,
            active_executions: dashboard.running_executions,
            completed_executions: dashboard.completed_executions,
            failed_executions: dashboard.failed_executions,
        },
        agents: known.agents.iter().map(Brief::from).collect(),
    }))
}

/// The node that chooses.
const ROUTER: &str = "router";

fn edge(source: &str, target: &str, label: &'static str, count: u64, share: f64) -> Edge {
    Edge {
        id: format!("{source}>{target}"),
        source: source.to_string(),
        target: target.to_string(),
        label,
        count,
        share,
    }
}
