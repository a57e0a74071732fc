//! A stream of events to one who listens.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::sync::mpsc::Receiver;
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::http::pass::{LOOK, Pass};

/// After how many looks something is sent although nothing happens, so that nobody in between takes the
/// connection for dead, and a dead one is noticed.
const SIGN_OF_LIFE: u32 = 15;

/// What one listener gets: first what was missed, then what comes, as long as it is let in.
pub(super) struct Stream {
    missed: VecDeque<Bytes>,
    comes: Receiver<Bytes>,
    pass: Pass,
    beat: Option<Interval>,
    /// How many looks there were since something was sent last to show that the connection lives.
    beats: u32,
}

impl Stream {
    /// Begins with what was missed.
    pub(super) fn new(missed: VecDeque<Bytes>, comes: Receiver<Bytes>, pass: Pass) -> Stream {
        Stream {
            missed,
            comes,
            pass,
            beat: None,
            beats: 0,
        }
    }

    /// Looks again whether the listener is let in, when it is time to.
    fn is_let_in(&mut self, context: &mut Context<'_>) -> bool {
        let beat = self.beat.get_or_insert_with(beat);
        while beat.poll_tick(context).is_ready() {
            self.beats += 1;
            if self.pass.check().is_err() {
                return false;
            }
        }
        true
    }
}

fn beat() -> Interval {
    let mut beat = interval(LOOK);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat.reset();
    beat
}

impl Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let stream = self.get_mut();
        if !stream.is_let_in(context) {
            return Poll::Ready(None);
        }
        if let Some(bytes) = stream.missed.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        if let Poll::Ready(bytes) = stream.comes.poll_recv(context) {
            return Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))));
        }
        if stream.beats < SIGN_OF_LIFE {
            return Poll::Pending;
        }
        stream.beats = 0;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b": \n\n")))))
    }
}
