//! The settings that the server was started with, by which it goes, with who says so. No setting holds a key.

use super::answer::Answer;
use super::call::Call;
use super::route::Route;
use crate::error::Result;
use crate::ops::config::{self, Listed};
use crate::ops::tokens::Scope;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/config", list)
            .about("Lists the settings that the server was started with, with where each is set; a change counts when it is started again")
            .tag("server")
            .scope(Scope::Admin)
            .answers::<Listed>(200),
    ]
}

fn list(call: &Call) -> Result<Answer> {
    Answer::ok(&config::list(&call.server.settings))
}
