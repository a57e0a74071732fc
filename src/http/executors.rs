//! Carries out executions: each begins in a transaction of its own before its caller is answered, and
//! threads wait for the answers of models and workers.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::events::feed::Feed;
use super::fault::busy;
use super::keys::Note;
use super::server::Say;
use crate::error::{Code, Error, Result, catch_panic};
use crate::ops::executions::{Begun, Executor, Told};
use crate::route::Query;
use crate::run::Event;

/// Most executions that are under way; more are refused.
const UNDER_WAY_MAX: usize = 4_096;
/// How often it is looked whether all executions are over, when the server ends.
const LOOK: Duration = Duration::from_millis(5);

pub(super) struct Order {
    pub(super) user: String,
    /// The user whose agents may be chosen besides those of everybody; none: all.
    pub(super) only: Option<String>,
    pub(super) query: Query,
}

/// What is told of an execution after it has begun.
pub(super) enum Heard {
    Event(Event),
    Piece { agent: String, piece: String },
    Over(Result<Box<Begun>>),
}

struct Open {
    begun: Begun,
    /// Takes what happens; a caller that is gone is told nothing, and the execution goes on.
    caller: UnboundedSender<Heard>,
    _place: OwnedSemaphorePermit,
}

#[derive(Clone)]
struct Ground {
    feed: Arc<Feed>,
    say: Say,
}

pub(super) struct Executors {
    /// Begins one after the other: only one can write at a time.
    first: Arc<tokio::sync::Mutex<Executor>>,
    places: Arc<Semaphore>,
    open: Mutex<Option<Sender<Open>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    ground: Ground,
}

impl Executors {
    pub(super) fn start(
        executor: Executor,
        jobs: usize,
        feed: &Arc<Feed>,
        say: &Say,
    ) -> Result<Executors> {
        let ground = Ground {
            feed: Arc::clone(feed),
            say: Arc::clone(say),
        };
        let (sender, receiver) = channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let mut threads = Vec::new();
        for _ in 0..jobs.max(1) {
            let (mut executor, receiver) = (executor.another()?, Arc::clone(&receiver));
            let ground = ground.clone();
            let work = move || {
                while let Some(open) = next(&receiver) {
                    ground.finish(&mut executor, open);
                }
            };
            let thread = thread::Builder::new().name("cleo-answer".to_string());
            threads.push(thread.spawn(work).map_err(|cause| {
                Error::new(Code::Internal, "a thread cannot be started").because(cause)
            })?);
        }
        Ok(Executors {
            first: Arc::new(tokio::sync::Mutex::new(executor)),
            places: Arc::new(Semaphore::new(UNDER_WAY_MAX)),
            open: Mutex::new(Some(sender)),
            threads: Mutex::new(threads),
            ground,
        })
    }

    /// Begins an execution, and returns it with what is told of it from then on. It is carried out even
    /// if the caller is gone, which can find it by what is noted for its key.
    pub(super) async fn begin(
        &self,
        order: Order,
        note: Option<Note>,
    ) -> Result<(Begun, UnboundedReceiver<Heard>)> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place = place.map_err(|_| busy())?;
        let open = {
            let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.clone().ok_or_else(busy)?
        };
        let mut executor = Arc::clone(&self.first).lock_owned().await;
        let ground = self.ground.clone();
        let work = move || {
            let Order { user, only, query } = order;
            let begun = executor.begin(&query, &user, only.as_deref())?;
            if let Some(note) = note {
                note.begun(&begun.run().id);
            }
            ground.feed.wake();
            let (caller, told) = unbounded_channel();
            let waits = Open {
                begun: begun.clone(),
                caller,
                _place: place,
            };
            match begun.has_ended() {
                true => ground.finish(&mut executor, waits),
                false => open.send(waits).map_err(|_| busy())?,
            }
            Ok((begun, told))
        };
        tokio::task::spawn_blocking(work).await.map_err(|cause| {
            Error::new(Code::Internal, "the execution was not begun").because(cause)
        })?
    }

    /// Takes no more executions, and waits until all are over; says whether they were in time.
    pub(super) fn end(&self, time: Duration) -> bool {
        self.places.close();
        let begun = Instant::now();
        let is_over = || self.places.available_permits() == UNDER_WAY_MAX;
        while !is_over() && begun.elapsed() < time {
            thread::sleep(LOOK);
        }
        if is_over() {
            let open = &self.open;
            drop(open.lock().unwrap_or_else(PoisonError::into_inner).take());
            let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
            threads.drain(..).for_each(|thread| drop(thread.join()));
        }
        is_over()
    }
}

/// Waits for the next execution; none when no more will come.
fn next(receiver: &Mutex<Receiver<Open>>) -> Option<Open> {
    let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
    receiver.recv().ok()
}

impl Ground {
    fn finish(&self, executor: &mut Executor, open: Open) {
        let Open {
            begun,
            caller,
            _place,
        } = open;
        let (id, user) = (begun.run().id.clone(), begun.run().user.clone());
        let mut tell = |told: Told<'_>| {
            let heard = match told {
                Told::Event(event) => Heard::Event(event.clone()),
                Told::Piece(piece) => {
                    self.feed.piece(&user, &piece);
                    Heard::Piece {
                        agent: piece.agent.to_string(),
                        piece: piece.piece.to_string(),
                    }
                }
            };
            let _ = caller.send(heard);
        };
        let done = catch_panic(|| executor.finish(begun, &mut tell)).flatten();
        if let Err(error) = &done {
            (self.say)(&format!("execution {id}: {error}"));
        }
        self.feed.over(&id);
        let _ = caller.send(Heard::Over(done.map(Box::new)));
    }
}
