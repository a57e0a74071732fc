//! Whether the server is there.

use serde::Serialize;

use super::answer::Answer;
use super::call::Call;
use super::route::Route;
use crate::error::Result;

/// The form of the specification.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
struct Health {
    status: &'static str,
    message: &'static str,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/health", health)
            .about("Says that the server is there")
            .tag("server")
            .answers::<Health>(200)
            .quick()
            // Probes put what they like there, against caches.
            .page()
            .open(),
    ]
}

fn health(_: &Call) -> Result<Answer> {
    Answer::ok(&Health {
        status: "ok",
        message: "Supervisor is running",
    })
}
