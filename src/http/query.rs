//! Queries to workers, in the form of the supervisor specification.

use axum::extract::Query as Form;
use axum::http::Uri;
use axum::http::header::HeaderName;
use serde::Deserialize;

use super::answer::Answer;
use super::call::Call;
use super::fault::{self, Shape};
use super::route::Route;
use crate::coordinator::ask::{self, Options, Query, QueryReply, QueryReport};
use crate::error::{Code, Error, Result};
use crate::markdown::escape_html;
use crate::ops::executions::Progress;

/// Header with the run of a query.
const RUN: HeaderName = HeaderName::from_static("x-run-id");
/// Maximum number of parallel workers of a query.
const JOBS: usize = 4;
/// End of a page that answers a form.
const AGAIN: &str = "<p><a href=\"/\">Ask again</a></p></main>";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/query", query)
            .about("Answers a query with workers")
            .tag("ask")
            .takes::<Query>()
            .answers::<QueryReply>(200)
            .errors(Shape::Detail)
            .asks(|_| true),
        Route::post("/ask", page)
            .about("Answers a query from a form, as a page")
            .tag("ask")
            .sends(200, "text/html")
            .sends(400, "text/html")
            .page()
            .asks(|_| true),
    ]
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

#[derive(Debug, Deserialize)]
struct Filled {
    query: String,
    #[serde(default)]
    debug: Option<String>,
}

/// Answers a form with a page, also an invalid form from a browser.
fn page(call: &Call) -> Result<Answer> {
    match answer(call) {
        Err(error) if error.code == Code::InputInvalid && call.accepts("text/html") => {
            let what = format!(
                "<main><h1>Ask</h1><p>{}</p>",
                escape_html(&error.display_message())
            );
            let page = call.server.pages.static_page("Ask", &(what + AGAIN));
            Ok(page.under(fault::status(error.code)))
        }
        answered => answered,
    }
}

fn answer(call: &Call) -> Result<Answer> {
    let read = read_form(&call.body)?;
    let asked = ask(
        call,
        &Query {
            query: read.query.clone(),
            ..Query::default()
        },
    )?;
    let mut content = format!(
        "<main><h1>Ask</h1><p>{}</p><h2>Answer</h2><p>{}</p>",
        escape_html(&read.query),
        escape_html(&asked.reply.answer)
    );
    if read.debug.is_some() {
        for used in &asked.reply.used_agents {
            let line = format!("{} {} {}", used.name, used.intent, used.status.word());
            content += &format!("<p>{}</p>", escape_html(&line));
        }
        let results = serde_json::to_string_pretty(&asked.reply.intermediate_results);
        content += &format!("<pre>{}</pre>", escape_html(&results.unwrap_or_default()));
    }
    content += AGAIN;
    Ok(call.server.pages.static_page("Ask", &content))
}

fn read_form(body: &[u8]) -> Result<Filled> {
    let refuse = || Error::new(Code::InputInvalid, "invalid form");
    let text = std::str::from_utf8(body).map_err(|_| refuse())?;
    let place = Uri::try_from(format!("/?{text}")).map_err(|_| refuse())?;
    let read = Form::try_from_uri(&place);
    read.map(|Form(filled)| filled).map_err(|_| refuse())
}
