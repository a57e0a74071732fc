//! What waits for one listener: bounded in bytes, so that who reads slowly costs little until it is let go.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// How many pieces may wait for a slow listener.
const PIECES_MAX: usize = 256;
/// How many bytes may wait for it. One piece may be larger: it is shared with all who hear the same.
const BYTES_MAX: usize = 4 << 20;

/// The end of a queue that is told what happens.
pub(super) struct Teller {
    sender: Sender<Bytes>,
    waiting: Arc<AtomicUsize>,
}

/// The end of a queue that is listened at.
pub(super) struct Comes {
    receiver: Receiver<Bytes>,
    /// How many bytes wait, where that is bounded.
    waiting: Option<Arc<AtomicUsize>>,
}

pub(super) fn queue() -> (Teller, Comes) {
    let ((sender, receiver), waiting) = (channel(PIECES_MAX), Arc::default());
    let comes = Comes {
        receiver,
        waiting: Some(Arc::clone(&waiting)),
    };
    (Teller { sender, waiting }, comes)
}

impl Teller {
    /// Tells something; false when the listener is gone, or so slow that it is to be let go.
    pub(super) fn tell(&self, piece: Bytes) -> bool {
        let size = piece.len();
        let waiting = self.waiting.fetch_add(size, Ordering::Relaxed);
        let is_slow = waiting > 0 && waiting + size > BYTES_MAX;
        !is_slow && self.sender.try_send(piece).is_ok()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }
}

impl Comes {
    /// Takes the next piece; none when there will be no more.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let piece = ready!(self.receiver.poll_recv(context));
        if let (Some(piece), Some(waiting)) = (&piece, &self.waiting) {
            waiting.fetch_sub(piece.len(), Ordering::Relaxed);
        }
        Poll::Ready(piece)
    }
}

/// Who tells this waits for a slow listener, so that its size needs no bound.
impl From<Receiver<Bytes>> for Comes {
    fn from(receiver: Receiver<Bytes>) -> Comes {
        Comes {
            receiver,
            waiting: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    fn piece(size: usize) -> Bytes {
        vec![b'x'; size].into()
    }

    #[test]
    fn who_does_not_read_is_let_go_before_much_waits_for_it() {
        let (teller, _comes) = queue();
        let told = (0..100).take_while(|_| teller.tell(piece(1 << 20))).count();
        assert_eq!(told, BYTES_MAX >> 20);
    }

    #[test]
    fn who_reads_may_hear_any_amount_and_one_piece_may_be_large() {
        let mut context = Context::from_waker(Waker::noop());
        let (teller, mut comes) = queue();
        for _ in 0..10 {
            assert!(teller.tell(piece(BYTES_MAX + 1)));
            let Poll::Ready(Some(heard)) = comes.poll(&mut context) else {
                panic!("nothing came");
            };
            assert_eq!(heard.len(), BYTES_MAX + 1);
        }
        assert!(comes.poll(&mut context).is_pending());
        drop(comes);
        assert!(teller.is_closed() && !teller.tell(piece(1)));
    }
}
