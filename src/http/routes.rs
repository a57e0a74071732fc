//! Everything that can be asked for. A new resource needs a line here.

use std::sync::LazyLock;

use super::route::Route;
use super::{agents, around, events, executions, health, runs, work};

/// All endpoints.
static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
    [
        agents::routes(),
        around::routes(),
        events::routes(),
        executions::routes(),
        health::routes(),
        runs::routes(),
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
