//! The description of the API: made from the list of endpoints by a test, and served as it was made.

#[cfg(all(test, feature = "schemas"))]
mod made;
#[cfg(all(test, feature = "schemas"))]
mod names;

use super::answer::{Answer, JSON};
use super::route::Route;

const DESCRIPTION: &str = include_str!("../../../docs/openapi.json");

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/openapi.json", |_| Ok(Answer::bytes(JSON, DESCRIPTION)))
            .about("Describes the API, in the form of OpenAPI 3.1")
            .tag("server")
            .answers::<serde_json::Value>(200)
            .quick()
            .page()
            .open(),
    ]
}
