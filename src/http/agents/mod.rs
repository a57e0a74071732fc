//! Agents: whom messages can reach.

mod change;

use axum::http::header::VARY;
use serde::Serialize;

use super::answer::{Answer, JSON};
use super::call::Call;
use super::extract::{Json, Reply};
use super::fault::Shape;
use super::route::Route;
use super::{guard, pages};
use crate::agent::{Agent, Kind};
use crate::error::{Result, quote};
use crate::ops::agents;

pub(super) fn routes() -> Vec<Route> {
    let routes = vec![
        Route::get("/api/agents/registry", registry)
            .about("Lists the workers: agents behind an address or in a program"),
        Route::get("/agents", registry_or_page)
            .about("Lists the workers for programs that accept JSON; else the page of agents")
            .answers::<Vec<Entry>>(200)
            .sends(200, "text/html")
            .sends(303, "text/plain")
            .refuses(401)
            .page()
            .open(),
        Route::post("/api/agents/create", change::create)
            .about("Registers an agent to stay")
            .query::<change::Dry>()
            .takes::<change::Fields>()
            .answers::<change::Kept>(201)
            .answers::<change::Kept>(200),
        Route::post("/api/agents/register", change::register)
            .about("Registers an agent for the moment, or changes it")
            .takes::<change::Fields>(),
        Route::put("/api/agents/{id}", change::update)
            .about("Changes an agent")
            .query::<change::Dry>()
            .takes::<change::Fields>()
            .answers::<change::Kept>(200)
            .answers::<change::Changed>(409),
    ];
    let all = routes.into_iter();
    all.map(|route| route.tag("agents").errors(Shape::Success))
        .collect()
}

/// Returns what says of an id that the caller does not hear of it. One that is no agent's may have been
/// that of an agent which only its user saw, so that it is told to nobody but those who see all.
pub(super) fn unseen(call: &Call) -> Result<impl Fn(&String) -> bool> {
    let all = call.server.agents(None)?;
    let user = call.only().map(String::from);
    Ok(move |id: &String| {
        let agent = all.agent(id);
        user.is_some() && agent.is_none_or(|agent| !agent.is_seen_by(user.as_deref()))
    })
}

/// A worker, in the form of the specification.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
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

fn registry(call: &Call) -> Result<Json<Vec<Entry>>> {
    let known = agents::seen(&call.surroundings("agents.list"))?;
    let workers = known.agents.into_iter().filter(Agent::is_worker);
    let entries = workers.map(|agent| {
        let words = agent.command.iter().map(|word| quote(word));
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
    Ok(Json(entries.collect()))
}

/// Answers the registry to programs, which ask for JSON and not for pages, and the page to browsers: they have
/// the same address.
fn registry_or_page(call: &Call) -> Result<Answer> {
    let is_program = call.accepts(JSON) && !call.accepts("text/html");
    let answer = match (is_program, call.is_signed_in()) {
        (true, true) => registry(call).and_then(Json::answer),
        (true, false) => Err(guard::unauthorized("a token is needed here")),
        (false, is_in) => pages::page(&call.server.pages, &call.uri, is_in),
    };
    Ok(answer?.header(VARY, "accept"))
}
