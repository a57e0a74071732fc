//! A stream of events to one who listens.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::packed::{Packer, Piece, Sum};
use super::queue::Comes;
use crate::http::guard::{LOOK, Pass};

/// After how many looks something is sent although nothing happens, so that nobody in between takes the
/// connection for dead, and a dead one is noticed.
const SIGN_OF_LIFE: u32 = 15;
const COMMENT: &[u8] = b": \n\n";

/// What one listener gets: first what was missed, then what comes, as long as it is let in.
pub(super) struct Stream {
    missed: VecDeque<Piece>,
    comes: Comes,
    /// The checksum of what was sent, where it is packed.
    sum: Option<Sum>,
    pass: Pass,
    is_over: bool,
    beat: Option<Interval>,
    /// How many looks there were since something was sent last to show that the connection lives.
    beats: u32,
}

impl Stream {
    pub(super) fn new(
        missed: VecDeque<Piece>,
        comes: Comes,
        is_packed: bool,
        pass: Pass,
    ) -> Stream {
        Stream {
            missed,
            comes,
            sum: is_packed.then(Sum::default),
            pass,
            is_over: false,
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
    fn next(&mut self, context: &mut Context<'_>) -> Poll<Option<Piece>> {
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
        static PACKED: LazyLock<Piece> = LazyLock::new(|| Packer::default().pack(COMMENT));
        Poll::Ready(Some(match self.sum {
            Some(_) => PACKED.clone(),
            None => Bytes::from_static(COMMENT).into(),
        }))
    }

    /// Ends it: what is packed has an end of its own.
    fn end(&mut self) -> Option<Bytes> {
        self.is_over = true;
        self.sum.take().map(Sum::end)
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
        if stream.is_over {
            return Poll::Ready(None);
        }
        let bytes = match ready!(stream.next(context)) {
            Some(piece) => {
                if let Some(sum) = &mut stream.sum {
                    sum.take(&piece);
                }
                Some(piece.bytes)
            }
            None => stream.end(),
        };
        Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}
