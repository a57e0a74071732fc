//! The description of the API: made from the list of endpoints by a test (`tests::openapi`), and served as it was made.

use super::answer::{Answer, JSON};
use super::call::Call;
use super::pages::answer_embedded;
use super::route::Route;
use crate::embedded;
use crate::error::Result;

const DESCRIPTION: &str = "docs/openapi.json";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/openapi.json", send_description)
            .about("Describes the API, in the form of OpenAPI 3.1")
            .tag("server")
            .answers::<serde_json::Value>(200)
            .quick()
            .page()
            .open(),
    ]
}

fn send_description(call: &Call) -> Result<Answer> {
    let gzip = embedded::find(DESCRIPTION).unwrap_or_default();
    Ok(answer_embedded(JSON, gzip, &call.headers))
}
