//! A stream of events to one who listens.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::queue::Comes;
use crate::http::guard::{LOOK, Pass};

/// After how many looks something is sent although nothing happens, so that nobody in between takes the
/// connection for dead, and a dead one is noticed.
const SIGN_OF_LIFE: u32 = 15;
const COMMENT: &[u8] = b": \n\n";

/// What one listener gets: first what was missed, then what comes, as long as it is let in.
pub(super) struct Stream {
    missed: VecDeque<Bytes>,
    comes: Comes,
    pass: Pass,
    beat: Option<Interval>,
    /// How many looks there were since something was sent last to show that the connection lives.
    beats: u32,
}

impl Stream {
    pub(super) fn new(missed: VecDeque<Bytes>, comes: Comes, pass: Pass) -> Stream {
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

    /// Returns the next piece; nothing when there is none any more.
    fn next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if !self.is_let_in(context) {
            return Poll::Ready(None);
        }
        if let Some(piece) = self.missed.pop_front() {
            return Poll::Ready(Some(piece));
        }
        if let Poll::Ready(piece) = self.comes.poll(context) {
            return Poll::Ready(piece);
        }
        if self.beats < SIGN_OF_LIFE {
            return Poll::Pending;
        }
        self.beats = 0;
        Poll::Ready(Some(Bytes::from_static(COMMENT)))
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
        let piece = ready!(self.get_mut().next(context));
        Poll::Ready(piece.map(|bytes| Ok(Frame::data(bytes))))
    }
}
