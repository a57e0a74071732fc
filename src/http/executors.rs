//! Runs executions: each is recorded before its caller gets a reply, and then waits for a model or
//! worker on its own thread.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::events::feed::Feed;
use super::fault::busy;
use super::keys::Note;
use super::places::Places;
use super::server::Say;
use crate::error::{Code, Error, Result, catch_panic};
use crate::ops::executions::{Executor, Progress, StartedExecution};
use crate::route::Query;
use crate::run::Event;

/// Maximum number of executions in progress; more are refused.
const UNDER_WAY_MAX: usize = 4_096;
/// Poll interval for the end of executions at shutdown.
const LOOK: Duration = Duration::from_millis(5);

pub(super) struct Order {
    pub(super) user: String,
    /// The user whose agents are candidates besides shared ones; `None` for all.
    pub(super) only: Option<String>,
    pub(super) query: Query,
}

/// News of an execution in progress.
pub(super) enum ExecutionUpdate {
    Event(Event),
    Piece { agent: String, piece: String },
    Over(Result<Box<StartedExecution>>),
}

#[derive(Clone)]
struct Ground {
    feed: Arc<Feed>,
    say: Say,
}

pub(super) struct Executors {
    /// Starts executions one by one, because only one can write at a time.
    first: Arc<tokio::sync::Mutex<Executor>>,
    places: Places<String>,
    /// Limits how many wait for models and workers at a time.
    jobs: Arc<Places<String>>,
    ground: Ground,
}

impl Executors {
    pub(super) fn new(
        executor: Executor,
        jobs: Places<String>,
        feed: &Arc<Feed>,
        say: &Say,
    ) -> Executors {
        Executors {
            first: Arc::new(tokio::sync::Mutex::new(executor)),
            places: Places::new(UNDER_WAY_MAX, UNDER_WAY_MAX / 2),
            jobs: Arc::new(jobs),
            ground: Ground {
                feed: Arc::clone(feed),
                say: Arc::clone(say),
            },
        }
    }

    /// Starts an execution, and returns it with a receiver of its news. It continues if the caller
    /// is gone, who can find it by its idempotency key.
    pub(super) async fn begin(
        &self,
        order: Order,
        note: Option<Note>,
    ) -> Result<(StartedExecution, UnboundedReceiver<ExecutionUpdate>)> {
        let place = self.places.try_take(order.user.clone());
        let place = place.ok_or_else(busy)?;
        let mut executor = Arc::clone(&self.first).lock_owned().await;
        let (ground, jobs) = (self.ground.clone(), Arc::clone(&self.jobs));
        let work = move || {
            let Order { user, only, query } = order;
            let begun = executor.begin(&query, &user, only.as_deref())?;
            if let Some(note) = note {
                note.set_begun(&begun.run().id);
            }
            ground.feed.wake();
            let (caller, told) = unbounded_channel();
            let open = begun.clone();
            let other = match begun.has_ended() {
                true => None,
                false => executor.open_another().ok(),
            };
            let Some(mut other) = other else {
                ground.finish(&mut executor, open, &caller);
                return Ok((begun, told));
            };
            Handle::current().spawn(async move {
                let job = jobs.take(open.run().user.clone()).await;
                let finish = move || {
                    ground.finish(&mut other, open, &caller);
                    drop((place, job));
                };
                tokio::task::spawn_blocking(finish).await
            });
            Ok((begun, told))
        };
        tokio::task::spawn_blocking(work).await.map_err(|cause| {
            Error::new(Code::Internal, "the execution was not started").because(cause)
        })?
    }

    /// Takes no more executions, and returns whether all are over within a time.
    pub(super) fn ends_within(&self, time: Duration) -> bool {
        self.places.close();
        let begun = Instant::now();
        let is_over = || self.places.in_use() == 0;
        while !is_over() && begun.elapsed() < time {
            thread::sleep(LOOK);
        }
        is_over()
    }
}

impl Ground {
    /// Finishes an execution, and sends its news to the caller.
    fn finish(
        &self,
        executor: &mut Executor,
        begun: StartedExecution,
        caller: &UnboundedSender<ExecutionUpdate>,
    ) {
        let (id, user) = (begun.run().id.clone(), begun.run().user.clone());
        let mut tell = |told: Progress<'_>| {
            let heard = match told {
                Progress::Event(event) => ExecutionUpdate::Event(event.clone()),
                Progress::Piece(piece) => {
                    self.feed.piece(&user, &piece);
                    ExecutionUpdate::Piece {
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
        let _ = caller.send(ExecutionUpdate::Over(done.map(Box::new)));
    }
}
