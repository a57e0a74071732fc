//! Agents: whom messages can reach.

mod change;
mod graph;
mod listed;
pub(super) mod row;

use super::call::Call;
use super::fault::Shape;
use super::route::Route;
use crate::config::Settings;
use crate::error::Result;
use crate::ops::agents::{self, Known, Terms};
use crate::ops::answers::allows_private;
use crate::ops::tokens::Scope;
use crate::ops::trust::Registrant;

pub(super) fn routes() -> Vec<Route> {
    let routes = vec![
        Route::get("/api/agents/sync", listed::sync)
            .about("Lists all agents in the order that decides ties"),
        Route::get("/api/agents/list", listed::list)
            .about("Lists agents with everything that is known of them"),
        Route::get("/api/agents/registry", listed::registry)
            .about("Lists the workers: agents behind an address or in a program"),
        Route::get("/agents", listed::registry_or_page)
            .about("Lists the workers for programs that accept JSON; else the page of agents")
            .answers::<Vec<listed::Entry>>(200)
            .sends(200, "text/html")
            .sends(303, "text/plain")
            .refuses(401)
            .page()
            .open(),
        Route::get("/api/agents/delegations", listed::delegations)
            .about("Lists where messages went and why, newest first"),
        Route::get("/api/agents/metrics", graph::metrics)
            .about("Counts executions: all, and those of each agent"),
        Route::get("/api/agents/graph", graph::graph)
            .about("Draws the way of a message: supervisor, router, agents, finalize"),
        Route::post("/api/agents/create", change::create)
            .about("Registers an agent to stay")
            .query::<change::Dry>()
            .takes::<row::Fields>()
            .answers::<change::Kept>(201)
            .answers::<change::Kept>(200),
        Route::post("/api/agents/register", change::register)
            .about("Registers an agent for the moment, or changes it")
            .takes::<row::Fields>(),
        Route::post("/api/agents/cleanup", change::cleanup)
            .about("Removes the agents of the moment")
            .scope(Scope::Admin),
        Route::get("/api/agents/{id}", listed::show).about("Shows an agent"),
        Route::put("/api/agents/{id}", change::update)
            .about("Changes an agent")
            .query::<change::Dry>()
            .takes::<row::Fields>()
            .answers::<change::Kept>(200)
            .answers::<change::Changed>(409),
        Route::delete("/api/agents/{id}", change::remove)
            .about("Removes an agent; a built-in one becomes as it was built"),
    ];
    let all = routes.into_iter();
    all.map(|route| route.tag("agents").errors(Shape::Success))
        .collect()
}

fn seen(call: &Call) -> Result<Known> {
    agents::known_by(&call.surroundings("agents.list"), call.only())
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

fn terms(call: &Call, keeps: bool) -> Terms {
    let settings: &Settings = &call.server.settings;
    Terms {
        by: Registrant::Http,
        user: call.only().map(String::from),
        seen: None,
        allow_private: allows_private(settings),
        keeps,
    }
}
