//! Queries to workers, in the form of the supervisor specification.

use axum::http::header::HeaderName;

use super::answer::Answer;
use super::call::Call;
use super::fault::Shape;
use super::route::Route;
use crate::coordinator::ask::{self, Options, Query, QueryReply, QueryReport};
use crate::error::Result;
use crate::ops::executions::Progress;

const RUN: HeaderName = HeaderName::from_static("x-run-id");
/// Maximum number of parallel workers of a query.
const JOBS: usize = 4;

pub(super) fn routes() -> Vec<Route> {
    let query = Route::post("/query", query)
        .about("Answers a query with workers")
        .tag("ask")
        .takes::<Query>()
        .answers::<QueryReply>(200)
        .errors(Shape::Detail)
        .asks(|_| true);
    vec![query]
}

fn query(call: &Call) -> Result<Answer> {
    let asked = ask(call, &call.parse_body()?)?;
    Ok(Answer::ok(&asked.reply)?.header(RUN, &asked.run.id))
}

fn ask(call: &Call, query: &Query) -> Result<QueryReport> {
    let options = Options {
        planner: None,
        jobs: JOBS.min(call.server.options.jobs),
    };
    let user = call.user();
    let done = ask::ask(&call.surroundings("ask"), query, &options, &mut |told| {
        if let Progress::Piece(piece) = told {
            call.server.feed.piece(user, &piece);
        }
    });
    match &done {
        Ok(done) => call.server.feed.over(&done.run.id),
        Err(_) => call.server.feed.wake(),
    }
    done
}
