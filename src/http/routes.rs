//! Everything that can be asked for. A new resource needs a line here.

use std::sync::LazyLock;

use super::fault::Shape;
use super::route::Route;
use super::{
    agents, around, chat, conversations, events, executions, health, openapi, plans, query,
    routing, runs, session, settings, tasks, work,
};

/// All endpoints.
static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
    [
        agents::routes(),
        around::routes(),
        chat::routes(),
        conversations::routes(),
        events::routes(),
        executions::routes(),
        health::routes(),
        openapi::routes(),
        plans::routes(),
        query::routes(),
        routing::routes(),
        runs::routes(),
        session::routes(),
        settings::routes(),
        tasks::routes(),
        work::routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
});

/// Returns all endpoints.
pub(super) fn all() -> &'static [Route] {
    &ROUTES
}

/// Returns the form in which a request to a path is refused before any endpoint has it.
pub(super) fn refusals_at(path: &str) -> Shape {
    let route = all().iter().find(|route| route.path == path);
    route.map_or(Shape::Ours, |route| route.shape.of_refusals())
}
