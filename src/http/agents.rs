//! Endpoints of agents.

use axum::http::header::VARY;
use serde::Serialize;
use serde_json::Value;

use super::answer::{Answer, JSON};
use super::call::Call;
use super::fault::Shape;
use super::route::Route;
use super::{body, guard, pages};
use crate::agent::draft::Draft;
use crate::agent::{Agent, Kind};
use crate::document::Object;
use crate::error::{Code, Error, Result, quote_all};
use crate::ops::{Notes, agents};

pub(super) fn routes() -> Vec<Route> {
    let routes = [
        Route::get("/api/agents/registry", registry)
            .about("Lists workers: agents reached by HTTP or as a program")
            .answers::<Vec<Entry>>(200),
        Route::get("/agents", registry_or_page)
            .about("Lists workers as JSON, or returns the page of agents")
            .answers::<Vec<Entry>>(200)
            .sends(200, "text/html")
            .sends(303, "text/plain")
            .refuses(401)
            .page()
            .open(),
        Route::post("/api/agents/register", register)
            .about("Registers or changes a runtime agent")
            .takes::<Draft>()
            .answers::<Registered>(200),
    ];
    routes
        .map(|route| route.tag("agents").errors(Shape::Success))
        .into()
}

/// Returns a predicate for ids that are hidden from the caller. An unknown id may have been that of
/// another user's agent, so only callers who see everything get it.
pub(super) fn find_unseen(call: &Call) -> Result<impl Fn(&String) -> bool> {
    let all = call.server.agents(None, None)?;
    let user = call.caller.visible_user().map(String::from);
    Ok(move |id: &String| {
        let agent = all.index.agent(id);
        user.is_some() && agent.is_none_or(|agent| !agent.is_seen_by(user.as_deref()))
    })
}

/// A worker, in the form of the specification.
#[derive(Serialize, schemars::JsonSchema)]
struct Entry {
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

fn registry(call: &Call) -> Result<Answer> {
    let known = agents::load_seen(&call.surroundings("agents.list"))?;
    let workers = known.agents.into_iter().filter(Agent::is_worker);
    let entries = workers.map(|agent| Entry {
        command: Some(quote_all(&agent.command)).filter(|command| !command.is_empty()),
        name: agent.name,
        description: agent.description,
        intents: agent.intents,
        kind: agent.kind,
        endpoint: agent.endpoint,
        healthcheck: agent.healthcheck,
        timeout_ms: agent.timeout_ms,
    });
    Answer::ok(&entries.collect::<Vec<_>>())
}

/// Replies with the registry for clients that prefer JSON, else with the page: they share a path.
fn registry_or_page(call: &Call) -> Result<Answer> {
    let is_program = call.accepts(JSON) && !call.accepts("text/html");
    let answer = match (is_program, call.is_signed_in()) {
        (true, true) => registry(call),
        (true, false) => Err(guard::unauthorized("this request needs a token")),
        (false, is_in) => pages::page(&call.server.pages, &call.uri, is_in),
    };
    Ok(answer?.header(VARY, "accept"))
}

/// A temporary agent, in the form of the specification.
#[derive(Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Registered {
    success: bool,
    agent_id: String,
    /// Whether an existing agent was changed.
    recreated: bool,
}

fn register(call: &Call) -> Result<Answer> {
    let invalid = |error: Error| match error.code {
        Code::InputInvalid => {
            // The words of the specification.
            let why = match body::json(&call.body) {
                Ok(Value::Null) => "Invalid agent payload",
                Ok(_) => "Invalid agent payload: it must be an object",
                Err(_) => "Invalid JSON",
            };
            Error::new(Code::InputInvalid, why)
        }
        _ => error,
    };
    let Object(fields) = call.body().map_err(invalid)?;
    let draft = Draft {
        is_runtime: true,
        ..Draft::from_row(fields)?
    };
    let surroundings = call.surroundings("agents.register");
    let done = agents::register(&surroundings, &mut Notes::default(), draft)?;
    Answer::ok(&Registered {
        success: true,
        agent_id: done.one.agent.agent.id,
        recreated: !done.created,
    })
}
