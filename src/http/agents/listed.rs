//! Lists of agents, each in the form that its readers know.

use std::collections::HashMap;

use axum::http::header::VARY;
use serde::{Deserialize, Serialize};

use super::row::Row;
use super::seen;
use crate::agent::{Agent, AgentStatus, Kind, Role};
use crate::clock::timestamp;
use crate::error::Result;
use crate::http::answer::{Answer, JSON};
use crate::http::call::Call;
use crate::http::call::at_most;
use crate::http::extract::{Json, Query, Reply};
use crate::http::{guard, pages};
use crate::ops::agents;
use crate::ops::executions;
use crate::ops::trust::{Item, Standing, Trust};
use crate::score::normalize;

/// All agents.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(super) struct Synced {
    success: bool,
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
    #[serde(getter = "Agent::is_builtin")]
    is_builtin: bool,
    capability: Option<String>,
    last_used_at: Option<String>,
}

/// An agent without what a model is told.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct Brief {
    #[serde(flatten, with = "Summary")]
    #[cfg_attr(feature = "schemas", schemars(with = "Summary"))]
    agent: Agent,
    /// When it is removed, of an agent of the moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
}

impl From<&Agent> for Brief {
    fn from(agent: &Agent) -> Brief {
        Brief {
            expires_at: agents::expires(agent).map(timestamp),
            agent: agent.clone(),
        }
    }
}

pub(super) fn sync(call: &Call) -> Result<Json<Synced>> {
    let agents: Vec<Brief> = seen(call)?.agents.iter().map(Brief::from).collect();
    Ok(Json(Synced {
        success: true,
        message: format!("Synced {} agents", agents.len()),
        count: agents.len(),
        agents,
    }))
}

/// Which agents to list.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// With this status.
    status: Option<AgentStatus>,
    /// Of this kind.
    kind: Option<Kind>,
    /// In this role.
    role: Option<Role>,
    /// With this in name, id, description or tags, without regard to case.
    q: Option<String>,
}

impl Wanted {
    fn takes(&self, agent: &Agent) -> bool {
        let has = |wanted: &String| {
            let wanted = normalize(wanted.trim());
            let texts = [&agent.id, &agent.name, &agent.description];
            let mut texts = texts.into_iter().chain(&agent.tags);
            texts.any(|text| normalize(text).contains(wanted.as_ref() as &str))
        };
        self.status.is_none_or(|status| status == agent.status)
            && self.kind.is_none_or(|kind| kind == agent.kind)
            && self.role.is_none_or(|role| role == agent.role)
            && self.q.as_ref().is_none_or(has)
    }
}

/// Agents with everything that is known of them.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(super) struct Listed {
    success: bool,
    agents: Vec<Whole>,
    total: usize,
    warnings: Vec<String>,
}

/// An agent with everything that is known of it.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Whole {
    #[serde(flatten)]
    agent: Agent,
    is_builtin: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// The file that it stands in.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Whether it may be called, of a worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    standing: Option<Standing>,
    /// How many executions it had.
    executions: u64,
}

pub(super) fn list(call: &Call, Query(wanted): Query<Wanted>) -> Result<Json<Listed>> {
    let known = seen(call)?;
    let surroundings = call.surroundings("agents.list");
    let counted = agents::metrics(&surroundings, call.only())?.dashboard;
    let counted = counted.routing_patterns.into_iter();
    let counted: HashMap<String, u64> = counted
        .map(|pattern| (pattern.used.agent_id, pattern.used.count))
        .collect();
    let trust = Trust::new(&surroundings, &call.server.workspace);
    let taken = known.agents.iter().filter(|agent| wanted.takes(agent));
    let agents: Vec<Whole> = taken
        .map(|agent| Whole {
            is_builtin: agent.is_builtin(),
            expires_at: agents::expires(agent).map(timestamp),
            file: known.file(&agent.id).map(String::from),
            standing: agent
                .is_worker()
                .then(|| trust.standing(&Item::worker(agent))),
            executions: counted.get(&agent.id).copied().unwrap_or(0),
            agent: agent.clone(),
        })
        .collect();
    Ok(Json(Listed {
        success: true,
        total: agents.len(),
        agents,
        warnings: known.warnings,
    }))
}

/// An agent.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(super) struct Shown {
    success: bool,
    agent: Row,
}

pub(super) fn show(call: &Call) -> Result<Json<Shown>> {
    let surroundings = call.surroundings("agents.show");
    let shown = agents::show(&surroundings, call.part("id"), call.only())?;
    Ok(Json(Shown {
        success: true,
        agent: shown.into(),
    }))
}

/// A worker, in the form of the specification.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(in crate::http) struct Entry {
    name: String,
    description: String,
    intents: Vec<String>,
    #[serde(rename = "type")]
    kind: Kind,
    endpoint: Option<String>,
    command: Option<String>,
    healthcheck: Option<String>,
    timeout_ms: u32,
}

pub(in crate::http) fn registry(call: &Call) -> Result<Json<Vec<Entry>>> {
    let workers = seen(call)?.agents.into_iter().filter(Agent::is_worker);
    let entries = workers.map(|agent| {
        let words = agent.command.iter().map(|word| crate::error::quote(word));
        let command = words.collect::<Vec<_>>().join(" ");
        Entry {
            command: Some(command).filter(|command| !command.is_empty()),
            name: agent.name,
            description: agent.description,
            intents: agent.intents,
            kind: agent.kind,
            endpoint: agent.endpoint,
            healthcheck: agent.healthcheck,
            timeout_ms: agent.timeout_ms,
        }
    });
    Ok(Json(entries.collect::<Vec<_>>()))
}

/// Answers the registry to programs, which ask for JSON and not for pages, and the page to browsers: they have
/// the same address.
pub(super) fn registry_or_page(call: &Call) -> Result<Answer> {
    let is_program = call.accepts(JSON) && !call.accepts("text/html");
    let answer = match (is_program, call.is_signed_in()) {
        (true, true) => registry(call).and_then(Json::answer),
        (true, false) => Err(guard::unauthorized("a token is needed here")),
        (false, is_in) => pages::page(&call.server.pages, &call.uri, is_in),
    };
    Ok(answer?.header(VARY, "accept"))
}

/// Which delegations to list.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Before {
    /// At most so many; 50 unless told, and 200 where more are asked for.
    #[cfg_attr(feature = "schemas", schemars(range(min = 1), with = "Option<u32>"))]
    #[serde(default, deserialize_with = "super::super::call::any")]
    limit: Option<u32>,
    /// Before this cursor.
    before: Option<u64>,
}

/// Where messages went.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(super) struct Delegations {
    success: bool,
    delegations: Vec<executions::Delegated>,
    total: u64,
}

pub(super) fn delegations(call: &Call, Query(wanted): Query<Before>) -> Result<Json<Delegations>> {
    let mut agency = call.agency()?;
    let limit = at_most(wanted.limit, 50, 200)?;
    let (delegations, total) =
        executions::delegations(&mut agency, call.only(), wanted.before, limit)?;
    Ok(Json(Delegations {
        success: true,
        delegations,
        total,
    }))
}
