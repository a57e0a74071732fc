//! Reading ahead: threads read and understand what comes next while what came before is used.

use std::mem;
use std::panic::resume_unwind;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread;

use crate::error::{Code, Error, Result};
use crate::transfer::{Item, Share, Sink};

/// How many items are handed on at once where readers take no turns: to wake who takes them costs more
/// than to read one.
const AHEAD: usize = 32;

/// Takes what was read, in order. An error ends the reading.
pub(super) type Take<'a> = dyn FnMut(&mut Item) -> Result<()> + 'a;

/// Has some readers read their share each, and hands on what they find in the order of the file.
pub(super) fn read(
    readers: usize,
    take: &mut Take<'_>,
    read: impl Fn(Share, &mut Sink<'_>) -> Result<()> + Sync,
) -> Result<()> {
    let read = &read;
    thread::scope(|scope| {
        let (mut pieces, mut threads) = (Vec::new(), Vec::new());
        for own in 0..readers {
            let (desk, reader) = desk(Share { own, of: readers });
            pieces.push(desk);
            threads.push(scope.spawn(move || reader.read(read)));
        }
        // An error of who takes it ends the reading: the channels are gone.
        let last = in_turn(&pieces, take)?;
        drop(pieces);
        let thread = threads.swap_remove(last);
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Takes pieces from one reader after the other, and returns the one that had no more.
fn in_turn(desks: &[Desk], take: &mut Take<'_>) -> Result<usize> {
    for own in (0..desks.len()).cycle() {
        let Ok(mut items) = desks[own].pieces.recv() else {
            return Ok(own);
        };
        items.iter_mut().try_for_each(&mut *take)?;
        // A reader that is gone needs nothing back.
        let _ = desks[own].used.send(items);
    }
    Ok(0)
}

/// Where a reader puts what it has read, and gets it back when it was used: memory costs less where it
/// came from.
struct Desk {
    pieces: Receiver<Vec<Item>>,
    used: Sender<Vec<Item>>,
}

/// The side of the thread.
struct Reader {
    share: Share,
    pieces: SyncSender<Vec<Item>>,
    used: Receiver<Vec<Item>>,
}

fn desk(share: Share) -> (Desk, Reader) {
    let (sender, pieces) = mpsc::sync_channel(1);
    let (back, used) = mpsc::channel();
    let reader = Reader {
        share,
        pieces: sender,
        used,
    };
    (Desk { pieces, used: back }, reader)
}

impl Reader {
    /// Reads a share, and hands it on piece by piece. What comes before an error is handed on before it is
    /// told.
    fn read(self, read: impl Fn(Share, &mut Sink<'_>) -> Result<()>) -> Result<()> {
        let mut items = Vec::with_capacity(AHEAD);
        let done = read(self.share, &mut |item| {
            let is_turn = matches!(item, Item::Turn);
            items.push(item);
            if is_turn || (self.share.of == 1 && items.len() >= AHEAD) {
                return self.hand_on(mem::replace(&mut items, self.fresh()));
            }
            Ok(())
        });
        done.and(self.hand_on(items))
    }

    fn hand_on(&self, items: Vec<Item>) -> Result<()> {
        let gone = |_| Error::new(Code::Internal, "nobody takes what is read any more");
        self.pieces.send(items).map_err(gone)
    }

    /// Lets go of what was used, and returns room for the next piece.
    fn fresh(&self) -> Vec<Item> {
        let mut items = self.used.try_iter().last().unwrap_or_default();
        items.clear();
        items
    }
}
