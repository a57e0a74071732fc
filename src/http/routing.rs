//! Routing of messages: the agent, the reasons, and the effect of a changed agent.

use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::answer::Answer;
use super::call::Call;
use super::route::Route;
use crate::agent::draft::Draft;
use crate::agent::{Agent, AgentStatus, Kind, Role};
use crate::error::Result;
use crate::ops::agents::View;
use crate::ops::runs;
use crate::route::{Decision, Delegation, Index, Message, MessageRequest, Request};
use crate::run::RunKind;
use crate::store::records::RunFilter;

/// Number of recent messages to try.
const TRIED: u32 = 100;
/// Maximum number of explained candidates.
const EXPLAINED: usize = 100;
/// Id of a draft without one.
const DRAFT: &str = "draft";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/api/route", route)
            .about("Chooses the agent for a message, with reasons")
            .tag("routing")
            .takes::<RouteRequest>()
            .answers::<Routed<'static>>(200)
            .quick()
            .scope(crate::ops::tokens::Scope::Read),
        Route::post("/api/route/try", try_draft)
            .about("Shows which messages a new or changed agent would get")
            .tag("routing")
            .takes::<Attempt>()
            .answers::<DraftTrial>(200)
            .scope(crate::ops::tokens::Scope::Read),
    ]
}

/// A message to route.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct RouteRequest {
    #[serde(flatten)]
    said: MessageRequest,
    explain: Option<usize>,
    /// A draft to score, in place of the agent with its id or in addition.
    draft: Option<Map<String, Value>>,
}

#[derive(Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Routed<'a> {
    route: Decision<'a>,
    delegation: Delegation<'a>,
    /// Agents that get no messages, or not now.
    not_scored: Vec<NotScored<'a>>,
    /// Duration of the routing, in microseconds.
    took_us: u64,
}

/// An agent that is not a candidate.
#[derive(Serialize, schemars::JsonSchema)]
struct NotScored<'a> {
    id: &'a str,
    name: &'a str,
    why: &'static str,
}

fn route(call: &Call) -> Result<Answer> {
    let asked: RouteRequest = call.parse_body()?;
    let explain = asked.explain.or(asked.draft.is_some().then_some(20));
    let query = asked.said.query()?;
    let view = call.agents()?;
    let drafted = asked
        .draft
        .map(|fields| add_draft(&view, fields))
        .transpose()?;
    let view = drafted.as_ref().unwrap_or(&view);
    let begun = Instant::now();
    let decision = view.index.route(&Request {
        message: &query.message,
        agent: query.agent.as_deref(),
        by: call.server.options.by,
        explain: explain.map(|explain| explain.min(EXPLAINED)),
    });
    let took_us = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
    let not_scored = view.index.agents.iter().filter_map(|agent| {
        let why = match (agent.role, agent.status) {
            (Role::Supervisor, _) => "supervisor",
            (_, AgentStatus::Paused) => "paused",
            (_, AgentStatus::Archived) => "archived",
            (_, AgentStatus::Active) => return None,
        };
        let (id, name) = (&agent.id, &agent.name);
        Some(NotScored { id, name, why })
    });
    Answer::ok(&Routed {
        delegation: decision.delegation(&query.text, call.server.surroundings.clock.timestamp()),
        not_scored: match explain {
            Some(_) => not_scored.collect(),
            None => Vec::new(),
        },
        route: decision,
        took_us,
    })
}

fn add_draft(view: &View, fields: Map<String, Value>) -> Result<View> {
    let mut draft = Draft::from_row(fields)?;
    let id = draft.id.take().unwrap_or_else(|| DRAFT.to_string());
    draft.name = draft
        .name
        .or(Some("New agent".to_string()))
        .filter(|_| view.index.agent(&id).is_none());
    let mut agents = view.index.agents.clone();
    let place = agents.iter().position(|agent| agent.id == id);
    let mut agent = match place {
        Some(place) => Arc::unwrap_or_clone(agents.remove(place)),
        None => Agent::new(&id, Kind::Persistent, ""),
    };
    draft.apply(&mut agent)?;
    agents.insert(place.unwrap_or(agents.len()), Arc::new(agent));
    Ok(View {
        index: Index::new(agents),
        warnings: Vec::new(),
    })
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct Attempt {
    draft: Map<String, Value>,
}

/// Effect of a draft on the routing of messages.
#[derive(Default, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DraftTrial {
    messages: usize,
    reaches_now: usize,
    reached_before: usize,
    /// Messages that would newly reach the draft.
    gained: Vec<Outcome>,
    /// Messages that would no longer reach the agent.
    lost: Vec<Outcome>,
}

/// The agent of a message before and after the change.
#[derive(Serialize, schemars::JsonSchema)]
struct Outcome {
    text: String,
    from: String,
    to: String,
}

fn try_draft(call: &Call) -> Result<Answer> {
    let attempt: Attempt = call.body()?;
    let id = attempt.draft.get("id").and_then(Value::as_str);
    let id = id.unwrap_or(DRAFT).to_string();
    let messages = recent_messages(call)?;
    let before = call.agents()?;
    let after = add_draft(&before, attempt.draft)?;
    let mut tried = DraftTrial {
        messages: messages.len(),
        ..DraftTrial::default()
    };
    for text in messages {
        let message = Message::parse(&text);
        let was = before.index.route(&Request::new(&message));
        let decision = after.index.route(&Request::new(&message));
        let outcome = Outcome {
            text: text.chars().take(500).collect(),
            from: was.agent.to_string(),
            to: decision.agent.to_string(),
        };
        let (reached, reaches) = (outcome.from == id, outcome.to == id);
        tried.reached_before += usize::from(reached);
        tried.reaches_now += usize::from(reaches);
        match (reached, reaches) {
            (false, true) => tried.gained.push(outcome),
            (true, false) => tried.lost.push(outcome),
            _ => {}
        }
    }
    Answer::ok(&tried)
}

fn recent_messages(call: &Call) -> Result<Vec<String>> {
    let filter = RunFilter {
        kind: Some(RunKind::Execution),
        limit: TRIED,
        ..RunFilter::default()
    };
    let listed = runs::list(&call.surroundings("runs.list"), &filter)?;
    Ok(listed.runs.into_iter().map(|run| run.input).collect())
}
