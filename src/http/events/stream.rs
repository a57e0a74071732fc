//! A stream of events to one who listens.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::sync::mpsc::Receiver;
use tokio::time::{Interval, MissedTickBehavior, interval};

/// How often something is sent when nothing happens, so that nobody in between takes the connection
/// for dead, and a dead one is noticed.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// What one listener gets: first what was missed, then what comes.
pub(super) struct Stream {
    missed: VecDeque<Bytes>,
    comes: Receiver<Bytes>,
    alive: Option<Interval>,
}

impl Stream {
    /// Begins with what was missed.
    pub(super) fn new(missed: VecDeque<Bytes>, comes: Receiver<Bytes>) -> Stream {
        Stream {
            missed,
            comes,
            alive: None,
        }
    }
}

impl Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let stream = self.get_mut();
        if let Some(bytes) = stream.missed.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        if let Poll::Ready(bytes) = stream.comes.poll_recv(context) {
            return Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))));
        }
        let alive = stream.alive.get_or_insert_with(|| {
            let mut alive = interval(SIGN_OF_LIFE);
            alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
            alive.reset();
            alive
        });
        match alive.poll_tick(context) {
            Poll::Ready(_) => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b": \n\n"))))),
            Poll::Pending => Poll::Pending,
        }
    }
}
