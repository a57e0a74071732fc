//! Who writes executions down: one thread, which puts all that came while it wrote into its next
//! transaction, so that thousands a second are safe on a disk that can be asked a few hundred times.
//! Answers of models and workers are waited for by other threads.

mod teller;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::oneshot;

use super::events::feed::Feed;
use super::keys::Note;
use crate::error::{Code, Error, Result};
use crate::ops::agents::Roster;
use crate::ops::executions::{Begun, Executor, Order, Told};

pub(super) use teller::Heard;
use teller::{Open, Teller};

/// Most executions that wait to be written down; more are refused.
const QUEUE: usize = 4_096;
/// Most that are begun in one transaction.
const BATCH: usize = 512;
/// How long the thread waits before it looks whether it is to end.
const LOOK: Duration = Duration::from_millis(100);

/// Takes what the server has to say about itself.
pub(super) type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// What somebody wishes to have executed.
struct Wish {
    order: Order,
    asker: Asker,
}

/// Who is told of an execution, and where its beginning is noted besides. That is done by who begins it:
/// a caller may be gone by then, and is to find it nevertheless.
struct Asker {
    teller: Teller,
    note: Option<Note>,
}

/// What those threads share that wait for answers.
#[derive(Default)]
struct Crew {
    open: Mutex<Waiting>,
    comes: Condvar,
}

/// Executions that wait for somebody who waits for their answers.
#[derive(Default)]
struct Waiting {
    open: VecDeque<Open>,
    is_closed: bool,
}

/// Who writes executions down.
pub(super) struct Scribe {
    wishes: Mutex<Option<SyncSender<Wish>>>,
    /// How many executions are not over.
    under_way: Arc<AtomicUsize>,
    crew: Arc<Crew>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Scribe {
    /// Begins to write, with some threads beside it that wait for answers.
    pub(super) fn begin(
        executor: Executor,
        jobs: usize,
        roster: &Arc<Roster>,
        feed: &Arc<Feed>,
        say: &Say,
    ) -> Result<Scribe> {
        let (sender, wishes) = sync_channel(QUEUE);
        let under_way = Arc::new(AtomicUsize::new(0));
        let crew = Arc::new(Crew::default());
        let mut threads = Vec::new();
        for _ in 0..jobs.max(1) {
            let (crew, under_way) = (Arc::clone(&crew), Arc::clone(&under_way));
            let (feed, say) = (Arc::clone(feed), Arc::clone(say));
            let executor = executor.another()?;
            let work = move || answer(executor, &crew, &feed, &say, &under_way);
            threads.push(begin("cleo-answer", work)?);
        }
        let writing = Writing {
            executor,
            roster: Arc::clone(roster),
            feed: Arc::clone(feed),
            say: Arc::clone(say),
            crew: Arc::clone(&crew),
            under_way: Arc::clone(&under_way),
            ending: Vec::new(),
        };
        threads.push(begin("cleo-scribe", move || writing.write(&wishes))?);
        Ok(Scribe {
            wishes: Mutex::new(Some(sender)),
            under_way,
            crew,
            threads: Mutex::new(threads),
        })
    }

    /// Has something executed. The answer comes when it has begun, or when it is over.
    pub(super) fn execute(
        &self,
        order: Order,
        note: Option<Note>,
        waits: bool,
    ) -> Result<oneshot::Receiver<Result<Begun>>> {
        let (teller, told) = oneshot::channel();
        let teller = match waits {
            true => Teller::Last(teller),
            false => Teller::First(teller),
        };
        let asker = Asker { teller, note };
        self.send(Wish { order, asker })?;
        Ok(told)
    }

    /// Has something executed, and tells all that happens until it is over.
    pub(super) fn follow(
        &self,
        order: Order,
        note: Option<Note>,
    ) -> Result<UnboundedReceiver<Heard>> {
        let (teller, told) = unbounded_channel();
        let teller = Teller::All(teller, 0);
        let asker = Asker { teller, note };
        self.send(Wish { order, asker })?;
        Ok(told)
    }

    fn send(&self, wish: Wish) -> Result<()> {
        let wishes = self.wishes.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = wishes.as_ref().ok_or_else(super::fault::busy)?;
        self.under_way.fetch_add(1, Ordering::SeqCst);
        sender.try_send(wish).map_err(|_| {
            self.under_way.fetch_sub(1, Ordering::SeqCst);
            super::fault::busy()
        })
    }

    /// Takes no more, and waits until all is over; says whether it was in time.
    pub(super) fn end(&self, time: Duration) -> bool {
        self.wishes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let begun = Instant::now();
        while self.under_way.load(Ordering::SeqCst) > 0 && begun.elapsed() < time {
            thread::sleep(Duration::from_millis(5));
        }
        let is_over = self.under_way.load(Ordering::SeqCst) == 0;
        if is_over {
            self.crew.close();
            let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
            threads.drain(..).for_each(|thread| drop(thread.join()));
        }
        is_over
    }
}

fn begin(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    let thread = thread::Builder::new().name(name.to_string());
    thread
        .spawn(work)
        .map_err(|cause| Error::new(Code::Internal, "a thread cannot be started").because(cause))
}

/// The thread that writes.
struct Writing {
    executor: Executor,
    roster: Arc<Roster>,
    feed: Arc<Feed>,
    say: Say,
    crew: Arc<Crew>,
    under_way: Arc<AtomicUsize>,
    /// Executions that end with the next transaction.
    ending: Vec<Open>,
}

impl Writing {
    fn write(mut self, wishes: &Receiver<Wish>) {
        while let Some(wished) = self.next(wishes) {
            if !wished.is_empty() || !self.ending.is_empty() {
                self.turn(wished);
            }
        }
    }

    /// Takes what has come; nothing when nothing more will, and all is written.
    fn next(&self, wishes: &Receiver<Wish>) -> Option<Vec<Wish>> {
        let mut wished = Vec::new();
        if self.ending.is_empty() {
            match wishes.recv_timeout(LOOK) {
                Ok(wish) => wished.push(wish),
                Err(RecvTimeoutError::Timeout) => return Some(wished),
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        while wished.len() < BATCH {
            match wishes.try_recv() {
                Ok(wish) => wished.push(wish),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
            }
        }
        Some(wished)
    }

    fn turn(&mut self, wished: Vec<Wish>) {
        let open = std::mem::take(&mut self.ending);
        let (ending, tellers): (Vec<_>, Vec<_>) = open
            .into_iter()
            .map(|open| (open.begun, open.teller))
            .unzip();
        let mut orders = Vec::with_capacity(wished.len());
        let mut asked = Vec::with_capacity(wished.len());
        for wish in wished {
            orders.push(wish.order);
            asked.push(wish.asker);
        }
        match self.executor.advance(&self.roster, &ending, &orders) {
            Ok((ended, begun)) => {
                for (begun, teller) in ended.into_iter().zip(tellers) {
                    self.over(teller, Ok(begun));
                }
                for (begun, asker) in begun.into_iter().zip(asked) {
                    self.began(begun, asker);
                }
            }
            Err(error) => self.failed(&error, ending, tellers, asked),
        }
        self.feed.wake();
    }

    fn began(&mut self, begun: Result<Begun>, Asker { teller, note }: Asker) {
        let begun = match begun {
            Ok(begun) => begun,
            Err(error) => return self.over(Some(teller), Err(error)),
        };
        if let Some(note) = note {
            note.begun(&begun.run().id);
        }
        let open = teller.began(begun);
        match self.executor.ends_alone(&open.begun) {
            true => self.ending.push(open),
            false => self.crew.take(open),
        }
    }

    /// Nothing of a transaction is kept: what was to begin has not begun, and what was to end is
    /// tried once more, by itself.
    fn failed(
        &mut self,
        error: &Error,
        ending: Vec<Begun>,
        tellers: Vec<Option<Teller>>,
        asked: Vec<Asker>,
    ) {
        (self.say)(&format!("executions could not be written: {error}"));
        // The agents may have been seen as that transaction would have left them.
        self.roster.forget();
        for (begun, teller) in ending.into_iter().zip(tellers) {
            self.crew.take(Open { begun, teller });
        }
        for Asker { teller, .. } in asked {
            let again = Error::new(error.code, error.message.clone());
            self.over(Some(teller), Err(again));
        }
    }

    fn over(&self, teller: Option<Teller>, told: Result<Begun>) {
        self.under_way.fetch_sub(1, Ordering::SeqCst);
        if let Some(teller) = teller {
            teller.over(told);
        }
    }
}

impl Crew {
    fn take(&self, open: Open) {
        let mut waiting = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.open.push_back(open);
        self.comes.notify_one();
    }

    /// Sends home who waits here.
    fn close(&self) {
        let mut waiting = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.is_closed = true;
        self.comes.notify_all();
    }

    fn next(&self) -> Option<Open> {
        let mut waiting = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if waiting.is_closed {
                return None;
            }
            if let Some(open) = waiting.open.pop_front() {
                return Some(open);
            }
            let woken = self.comes.wait(waiting);
            waiting = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Waits for one answer after the other.
fn answer(mut executor: Executor, crew: &Crew, feed: &Feed, say: &Say, under_way: &AtomicUsize) {
    while let Some(Open { begun, mut teller }) = crew.next() {
        let id = begun.run().id.clone();
        let user = begun.run().user.clone();
        let done = executor.finish(begun, &mut |told| {
            if let Told::Piece(piece) = &told {
                feed.piece(&user, piece);
            }
            if let Some(teller) = &mut teller {
                teller.tell(&told);
            }
        });
        if let Err(error) = &done {
            say(&format!("execution {id}: {error}"));
        }
        under_way.fetch_sub(1, Ordering::SeqCst);
        feed.over(&id);
        if let Some(teller) = teller {
            teller.over(done);
        }
    }
}
