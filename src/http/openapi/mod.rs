//! The description of the API: made from the list of endpoints by a test, and served as it was made.

#[cfg(all(test, feature = "schemas"))]
mod made;
#[cfg(all(test, feature = "schemas"))]
mod names;

use super::answer::{Answer, JSON};
use super::call::Call;
use super::route::Route;
use crate::error::Result;

const DESCRIPTION: &str = include_str!("../../../docs/openapi.json");

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/openapi.json", show)
            .about("Describes the API, in the form of OpenAPI 3.1")
            .tag("server")
            .answers::<serde_json::Value>(200)
            .quick()
            .page()
            .open(),
    ]
}

fn show(_: &Call) -> Result<Answer> {
    Ok(Answer::bytes(JSON, DESCRIPTION))
}
