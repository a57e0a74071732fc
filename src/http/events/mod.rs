//! What happens, told while it happens, whoever does it: this server, another one, a command.
//!
//! One thread looks whether the databases have changed, reads what is new, writes each event once as
//! bytes, and hands these to all who listen. Places in the stream are cursors of the databases, so
//! that whoever comes back, also to another server, goes on where it was.

mod answers;
pub(super) mod feed;
mod frame;
mod queue;
mod source;
mod stream;

use std::collections::VecDeque;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, HeaderName};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::Receiver;

use super::answer::Answer;
use super::call::Call;
use super::guard::Pass;
use super::route::{Promise, Route};
use crate::error::{Code, Error, Result};
use feed::{Since, Wants};
use frame::{Frame, Kind, Kinds};
use stream::Stream;

/// What somebody wants to hear.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// Kinds of events with commas between them: run, task, agents, conversation, piece. All unless told.
    kinds: Option<String>,
    /// The id of an event: those after it; `now`: from now on. The header Last-Event-ID stands before it.
    since: Option<String>,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/events", |_| Err(super::fault::busy()))
            .about("Tells what happens while it happens, as server-sent events; pieces of an answer only where the server carries the execution out")
            .tag("events")
            .query::<Wanted>()
            .sends(200, "text/event-stream")
            .waiting(listen),
    ]
}

/// Writes an event that nobody can go on from.
pub(super) fn event(name: &str, data: &impl Serialize) -> Bytes {
    Frame::new(Kind::Stream, name, None, data).bytes
}

/// Answers with events that come by and by, the first ones at once, as long as the caller is let in.
pub(super) fn stream(first: Vec<Bytes>, comes: Receiver<Bytes>, pass: Pass) -> Answer {
    streamed(Stream::new(first.into(), comes.into(), pass))
}

fn streamed(stream: Stream) -> Answer {
    Answer::stream("text/event-stream", Body::new(stream))
        .header(CACHE_CONTROL, "no-store")
        .header(HeaderName::from_static("x-accel-buffering"), "no")
}

fn listen(call: Call) -> Promise {
    Box::pin(async move {
        let (wants, since) = wanted(&call)?;
        let feed = call.server.feed.clone();
        // What was missed is read from the disk, so not here, where all wait.
        let subscribed = tokio::task::spawn_blocking(move || feed.subscribe(wants, since)).await;
        let (missed, comes) = subscribed.map_err(|cause| {
            Error::new(Code::Internal, "the events cannot be read").because(cause)
        })??;
        let pass = Pass::of(&call.server, &call.headers);
        // Browsers wait for seconds before they connect again unless a server says otherwise.
        let mut missed = VecDeque::from(missed);
        if let Some(first) = missed.front_mut() {
            *first = [b"retry: 500\n", &first[..]].concat().into();
        }
        Ok(streamed(Stream::new(missed, comes, pass)))
    })
}

fn wanted(call: &Call) -> Result<(Wants, Since)> {
    let wanted: Wanted = call.query()?;
    let kinds = wanted.kinds.as_deref().map(Kinds::read).transpose()?;
    let last = call.header("last-event-id")?;
    let since = last.or(wanted.since.as_deref());
    let since = match since.map(str::trim) {
        None | Some("") => Since::Recent,
        Some("now") => Since::Now,
        Some(id) => Since::Place(
            id.parse()
                .map_err(|what: String| Error::new(Code::InputInvalid, what))?,
        ),
    };
    let wants = Wants {
        only: call.only().map(String::from),
        kinds: kinds.unwrap_or_default(),
    };
    Ok((wants, since))
}
