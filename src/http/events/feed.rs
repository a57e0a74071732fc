//! Who listens, and the thread that tells them.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use serde_json::json;

use super::answers::Answers;
use super::frame::{Frame, Kind, Kinds, Place};
use super::queue::{Comes, Teller, queue};
use super::source::{AT_ONCE, Missed, RECENT, Source};
use crate::clock::Clock;
use crate::error::{Code, Error, Result};
use crate::ops::executions;
use crate::workspace::Workspace;

/// How often the databases are looked at. Who writes in this process has it looked at once.
const LOOK: Duration = Duration::from_millis(25);
/// How far the stream may be behind before what lies between is passed over.
const BEHIND: u64 = 20_000;
/// How long the thread rests after it has told something, so that much is told at once; and how much longer
/// for each listener, so that many cost no more than a few.
const REST: (Duration, Duration) = (Duration::from_millis(10), Duration::from_micros(80));
/// How long it rests at most.
const REST_MAX: Duration = Duration::from_millis(60);
/// Most who listen.
const LISTENERS: usize = 2_000;

/// From where on events are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Since {
    /// The last ones that there are, and from now on.
    Recent,
    Now,
    /// After a place.
    Place(Place),
}

/// Tells what happens to all who listen.
pub(in crate::http) struct Feed {
    state: Mutex<State>,
    wakes: Condvar,
    workspace: Workspace,
}

struct State {
    place: Place,
    listeners: Vec<Listener>,
    answers: Answers,
    is_awake: bool,
    is_closed: bool,
}

struct Listener {
    teller: Teller,
    wants: Wants,
}

/// What somebody wants to hear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wants {
    /// Whose events beside those that are everybody's; none: all.
    pub(super) only: Option<String>,
    pub(super) kinds: Kinds,
}

impl Feed {
    pub(in crate::http) fn begin(workspace: &Workspace) -> Result<Arc<Feed>> {
        let mut source = Source::open(workspace)?;
        let feed = Arc::new(Feed {
            state: Mutex::new(State {
                place: source.end()?,
                listeners: Vec::new(),
                answers: Answers::default(),
                is_awake: false,
                is_closed: false,
            }),
            wakes: Condvar::new(),
            workspace: workspace.clone(),
        });
        let told = Arc::downgrade(&feed);
        let thread = thread::Builder::new().name("cleo-feed".to_string());
        let tell = move || {
            while let Some(feed) = told.upgrade() {
                if !feed.turn(&mut source) {
                    break;
                }
            }
        };
        thread.spawn(tell).map_err(|cause| {
            Error::new(Code::Internal, "a thread cannot be started").because(cause)
        })?;
        Ok(feed)
    }

    /// Has the databases looked at now: something was written.
    pub(in crate::http) fn wake(&self) {
        self.state().is_awake = true;
        self.wakes.notify_one();
    }

    pub(in crate::http) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        state.listeners.clear();
        self.wakes.notify_one();
    }

    pub(in crate::http) fn piece(&self, user: &str, piece: &executions::Piece<'_>) {
        let at = Clock::System.timestamp();
        let mut state = self.state();
        let after = state.answers.take(piece.run, piece.piece);
        let data = json!({
            "runId": piece.run, "agent": piece.agent,
            "piece": piece.piece, "after": after, "at": at,
        });
        let frame = Frame::new(Kind::Piece, "piece", None, &data).of(Some(user.into()));
        state.tell(&[frame]);
    }

    pub(in crate::http) fn so_far(&self, run: &str) -> Option<String> {
        self.state().answers.so_far(run).map(String::from)
    }

    pub(in crate::http) fn over(&self, run: &str) {
        self.state().answers.forget(run);
        self.wake();
    }

    /// Begins to tell somebody, without a gap between what was missed and what comes.
    pub(super) fn subscribe(&self, wants: Wants, since: Since) -> Result<(Vec<Bytes>, Comes)> {
        let (teller, comes) = queue();
        let end = {
            let mut state = self.state();
            if state.is_closed || state.listeners.len() >= LISTENERS {
                return Err(crate::http::fault::busy());
            }
            let wants = wants.clone();
            state.listeners.push(Listener { teller, wants });
            state.place
        };
        Ok((self.missed(since, end, &wants)?, comes))
    }

    fn missed(&self, since: Since, end: Place, wants: &Wants) -> Result<Vec<Bytes>> {
        let after = match since {
            Since::Now => end,
            Since::Recent => Place {
                agents: end.agents,
                ..Place::default()
            },
            Since::Place(place) => place,
        };
        // A place that the databases have not reached is one of others: a copy, or an older state.
        let is_foreign = after.is_behind(&end);
        let mut read = match is_foreign || after == end {
            true => Missed::nothing(end),
            false => {
                let mut source = Source::open(&self.workspace)?;
                source.missed(after, end, &wants.kinds, wants.only.as_deref())?
            }
        };
        let hello = json!({"id": read.from.to_string(), "replayed": read.from != end});
        let mut missed = vec![Frame::new(Kind::Stream, "hello", Some(&read.from), &hello).bytes];
        if is_foreign || (since != Since::Recent && !read.is_whole) {
            let reset = json!({"reason": "gap"});
            missed.push(Frame::new(Kind::Stream, "reset", None, &reset).bytes);
        }
        if since == Since::Recent {
            let old = read.frames.len().saturating_sub(RECENT);
            read.frames.drain(..old);
        }
        let only = wants.only.as_deref();
        missed.extend(read.frames.iter().map(|frame| frame.told_to(only).clone()));
        Ok(missed)
    }

    /// Waits until something has happened and tells it; false when nobody is to be told any more.
    fn turn(&self, source: &mut Source) -> bool {
        let state = self.state();
        let wait = self
            .wakes
            .wait_timeout_while(state, LOOK, |state| !state.is_awake && !state.is_closed);
        let (mut state, _) = wait.unwrap_or_else(PoisonError::into_inner);
        if state.is_closed {
            return false;
        }
        state.is_awake = false;
        let (mut place, is_heard) = (state.place, !state.listeners.is_empty());
        drop(state);
        // What cannot be read now is looked at again.
        let frames = new(source, &mut place, is_heard).unwrap_or_else(|_| {
            source.forget();
            Vec::new()
        });
        let mut state = self.state();
        if is_heard || state.listeners.is_empty() {
            state.place = place;
            if !frames.is_empty() {
                state.tell(&frames);
                let rest = state.rest(frames.len());
                drop(state);
                thread::sleep(rest);
            }
        } else {
            // Somebody came meanwhile, and is to hear what was passed over.
            source.forget();
            state.is_awake = true;
        }
        true
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn new(source: &mut Source, place: &mut Place, is_heard: bool) -> Result<Vec<Frame>> {
    if !source.has_changed()? {
        return Ok(Vec::new());
    }
    let end = source.end()?;
    if !is_heard {
        *place = end;
        return Ok(Vec::new());
    }
    let mut frames = Vec::new();
    if place.is_before(&end, BEHIND) {
        *place = Place {
            agents: place.agents,
            ..end
        };
        let reset = json!({"reason": "gap"});
        frames.push(Frame::new(Kind::Stream, "reset", Some(place), &reset));
    }
    frames.extend(source.after(place, end)?);
    frames.extend(source.agents(place, &Clock::System)?);
    if place.is_before(&end, 0) {
        // There is more than is read at once.
        source.forget();
    }
    Ok(frames)
}

impl State {
    /// Tells all who want to hear it. Those who hear the same share the same bytes. Who is too slow is
    /// let go, and comes back where it was.
    fn tell(&mut self, frames: &[Frame]) {
        let mut told: Vec<(Wants, Bytes)> = Vec::new();
        self.listeners.retain(|Listener { teller, wants }| {
            let same = told.iter().find(|(some, _)| some == wants);
            let piece = same.map(|(_, piece)| piece.clone());
            let piece = piece.unwrap_or_else(|| {
                let piece = heard(frames, wants);
                told.push((wants.clone(), piece.clone()));
                piece
            });
            match piece.is_empty() {
                true => !teller.is_closed(),
                false => teller.tell(piece),
            }
        });
    }

    fn rest(&self, events: usize) -> Duration {
        match events < AT_ONCE as usize {
            true => (REST.0 + REST.1 * self.listeners.len() as u32).min(REST_MAX),
            false => Duration::ZERO,
        }
    }
}

fn heard(frames: &[Frame], wants: &Wants) -> Bytes {
    let only = wants.only.as_deref();
    let heard = frames
        .iter()
        .filter(|frame| frame.is_for(&wants.kinds, only));
    let parts: Vec<&[u8]> = heard.map(|frame| frame.told_to(only).as_ref()).collect();
    parts.concat().into()
}
