//! Streams events as they happen, by any program: this server, another one, a command.
//!
//! One thread looks whether the databases have changed, reads what is new, writes each event once as
//! bytes, and broadcasts these to all listeners. Places in the stream are cursors of the databases, so
//! that a listener which comes back, also to another server, resumes where it was.

mod answers;
pub(super) mod feed;
mod frame;
mod logs;
mod source;

use std::convert::Infallible;
use std::future::ready;
use std::time::Duration;

use axum::body::Body;
use axum::http::Method;
use axum::http::header::{CACHE_CONTROL, HeaderName};
use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt as _};
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::call::Call;
use super::fault;
use super::guard::Pass;
use super::route::{Promise, Route};
use crate::error::{Code, Error, Result};
use crate::ops::tokens::Scope;
use feed::Since;
use frame::{Kind, Wants};

/// Interval of comments on a silent stream, so that proxies keep the connection, and a dead one is
/// noticed.
const HEARTBEAT: Duration = Duration::from_secs(15);

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// Kinds of events with commas between them; all by default.
    #[serde(default)]
    kinds: Vec<Kind>,
    /// Id of the event to start after, or `now`. The header Last-Event-ID takes precedence.
    since: Option<String>,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::waiting(Method::GET, "/api/events", listen)
            .scope(Scope::Read)
            .about("Streams events as server-sent events, with parts of answers for executions of this server")
            .tag("events")
            .query::<Wanted>()
            .sends(200, "text/event-stream"),
    ]
}

/// Writes an event without an id.
pub(super) fn event(name: &str, data: &impl Serialize) -> Bytes {
    frame::write(name, None, data)
}

/// Streams events while the caller is authorized.
pub(super) fn stream(events: impl Stream<Item = Bytes> + Send + 'static, pass: Pass) -> Answer {
    let events = events.take_until(Box::pin(async move { pass.wait_until_refused().await }));
    let beating = stream::unfold(Box::pin(events), |mut events| async move {
        let next = tokio::time::timeout(HEARTBEAT, events.next()).await;
        let bytes = next.unwrap_or(Some(Bytes::from_static(b": \n\n")))?;
        Some((Ok::<_, Infallible>(bytes), events))
    });
    Answer::stream("text/event-stream", Body::from_stream(beating))
        .header(CACHE_CONTROL, "no-store")
        .header(HeaderName::from_static("x-accel-buffering"), "no")
}

fn listen(call: Call) -> Promise {
    Box::pin(async move {
        let (wants, since) = read_wanted(&call)?;
        let place = call.server.listeners.try_take(call.limited_as.clone());
        let place = place.ok_or_else(fault::busy)?;
        let feed = call.server.feed.clone();
        // Missed events are read from disk, so not on this thread, which serves everybody.
        let subscribed = tokio::task::spawn_blocking(move || {
            let subscribed = feed.subscribe(&wants, since);
            subscribed.map(|(missed, receiver)| (missed, (receiver, wants, place)))
        });
        let (missed, listener) = subscribed.await.map_err(|cause| {
            Error::new(Code::Internal, "the events cannot be read").because(cause)
        })??;
        let comes = stream::unfold(listener, |(mut receiver, wants, place)| async move {
            // The stream of a lagging listener ends; it reconnects and resumes.
            let batch = receiver.recv().await.ok()?;
            Some((batch.bytes_for(&wants), (receiver, wants, place)))
        });
        let comes = comes.filter(|bytes| ready(!bytes.is_empty()));
        let pass = Pass::for_headers(&call.server, &call.headers);
        Ok(stream(stream::iter(missed).chain(comes), pass))
    })
}

fn read_wanted(call: &Call) -> Result<(Wants, Since)> {
    let mut wanted: Wanted = call.query()?;
    wanted.kinds.sort_unstable();
    wanted.kinds.dedup();
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
        only: call.caller.visible_user().map(String::from),
        kinds: wanted.kinds,
    };
    Ok((wants, since))
}
