//! Everything that can be asked for. A new resource needs a line here.

use std::sync::LazyLock;

use super::route::Route;
use super::{
    agents, chat, conversations, events, executions, health, query, routing, session, tasks,
};

/// All endpoints.
static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
    [
        agents::routes(),
        chat::routes(),
        conversations::routes(),
        events::routes(),
        executions::routes(),
        health::routes(),
        query::routes(),
        routing::routes(),
        session::routes(),
        tasks::routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
});

/// Returns all endpoints.
pub(super) fn all() -> &'static [Route] {
    &ROUTES
}
