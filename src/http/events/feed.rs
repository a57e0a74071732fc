//! The thread that reads new events and sends them to all listeners.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use serde_json::json;
use tokio::sync::broadcast::{Receiver, Sender, channel};

use super::answers::Answers;
use super::frame::{Batch, Frame, Kind, Place, Wants, write};
use super::source::{AT_ONCE, Missed, RECENT, Source};
use crate::clock::Clock;
use crate::error::{Code, Error, Result};
use crate::ops::executions;
use crate::workspace::Workspace;

/// Poll interval of the databases. Writers of this process wake the thread at once.
const LOOK: Duration = Duration::from_millis(25);
/// Maximum lag of the stream before events are skipped.
const BEHIND: u64 = 20_000;
/// Pause of the thread after sending, so that events are sent in batches, and additional pause per
/// listener, so that many listeners cost no more than a few.
const REST: (Duration, Duration) = (Duration::from_millis(10), Duration::from_micros(80));
const REST_MAX: Duration = Duration::from_millis(60);
/// Maximum number of batches that wait for a slow listener before its stream ends. All listeners
/// share them.
const BATCHES_MAX: usize = 256;

/// Start of a stream of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Since {
    /// Recent events, and new ones.
    Recent,
    Now,
    /// After a place.
    Place(Place),
}

pub(in crate::http) struct Feed {
    state: Mutex<State>,
    wakes: Condvar,
    workspace: Workspace,
}

struct State {
    place: Place,
    /// `None` once the server ends, which ends all streams.
    sender: Option<Sender<Arc<Batch>>>,
    answers: Answers,
    is_awake: bool,
}

impl Feed {
    pub(in crate::http) fn begin(workspace: &Workspace) -> Result<Arc<Feed>> {
        let mut source = Source::open(workspace)?;
        let feed = Arc::new(Feed {
            state: Mutex::new(State {
                place: source.read_end()?,
                sender: Some(channel(BATCHES_MAX).0),
                answers: Answers::default(),
                is_awake: false,
            }),
            wakes: Condvar::new(),
            workspace: workspace.clone(),
        });
        let told = Arc::downgrade(&feed);
        let thread = thread::Builder::new().name("cleo-feed".to_string());
        let tell = move || {
            while let Some(feed) = told.upgrade()
                && feed.send_new_events(&mut source).is_some()
            {}
        };
        thread.spawn(tell).map_err(|cause| {
            Error::new(Code::Internal, "a thread cannot be started").because(cause)
        })?;
        Ok(feed)
    }

    /// Polls the databases now, after a write.
    pub(in crate::http) fn wake(&self) {
        self.state().is_awake = true;
        self.wakes.notify_one();
    }

    pub(in crate::http) fn close(&self) {
        self.state().sender = None;
        self.wakes.notify_one();
    }

    pub(in crate::http) fn piece(&self, user: &str, piece: &executions::Piece<'_>) {
        let at = Clock::System.timestamp();
        let mut state = self.state();
        let after = state.answers.append(piece.run, piece.piece);
        let data = json!({
            "runId": piece.run, "agent": piece.agent,
            "piece": piece.piece, "after": after, "at": at,
        });
        let frame = Frame::new(Kind::Piece, None, &data).with_owner(Some(user.into()));
        state.send(vec![frame]);
    }

    pub(in crate::http) fn so_far(&self, run: &str) -> Option<String> {
        self.state().answers.text_so_far(run).map(String::from)
    }

    pub(in crate::http) fn over(&self, run: &str) {
        self.state().answers.forget(run);
        self.wake();
    }

    /// Returns the events that a listener missed, and those to come, without a gap between the two.
    pub(super) fn subscribe(
        &self,
        wants: &Wants,
        since: Since,
    ) -> Result<(Vec<Bytes>, Receiver<Arc<Batch>>)> {
        let (receiver, end) = {
            let state = self.state();
            let sender = state.sender.as_ref();
            let sender = sender.ok_or_else(crate::http::fault::busy)?;
            (sender.subscribe(), state.place)
        };
        Ok((self.read_missed(since, end, wants)?, receiver))
    }

    fn read_missed(&self, since: Since, end: Place, wants: &Wants) -> Result<Vec<Bytes>> {
        let after = match since {
            Since::Now => end,
            Since::Recent => Place {
                agents: end.agents,
                ..Place::default()
            },
            Since::Place(place) => place,
        };
        // A place that the databases have not reached is from another copy or a later state.
        let is_foreign = after.is_behind(&end);
        let mut read = match is_foreign || after == end {
            true => Missed::nothing(end),
            false => {
                let mut source = Source::open(&self.workspace)?;
                source.read_missed(after, end, wants)?
            }
        };
        let hello = json!({"id": read.from.to_string(), "replayed": read.from != end});
        let hello = write("hello", Some(&read.from), &hello);
        // By default browsers wait for seconds before they reconnect.
        let mut missed = vec![[b"retry: 500\n", &hello[..]].concat().into()];
        if is_foreign || (since != Since::Recent && !read.is_whole) {
            missed.extend(Frame::reset(None).bytes_for(wants).cloned());
        }
        if since == Since::Recent {
            let old = read.frames.len().saturating_sub(RECENT);
            read.frames.drain(..old);
        }
        let frames = read.frames.iter();
        missed.extend(frames.filter_map(|frame| frame.bytes_for(wants).cloned()));
        Ok(missed)
    }

    /// Waits for new events and sends them; `None` once the server ends.
    fn send_new_events(&self, source: &mut Source) -> Option<()> {
        let state = self.state();
        let wait = self.wakes.wait_timeout_while(state, LOOK, |state| {
            !state.is_awake && state.sender.is_some()
        });
        let (mut state, _) = wait.unwrap_or_else(PoisonError::into_inner);
        state.sender.as_ref()?;
        state.is_awake = false;
        let (mut place, is_heard) = (state.place, state.listeners() > 0);
        drop(state);
        // A failed read is repeated in the next turn.
        let mut frames = read_new_frames(source, &mut place, is_heard).unwrap_or_else(|_| {
            source.mark_unsent();
            Vec::new()
        });
        if is_heard {
            // Logs that cannot be read now are read in a later turn.
            frames.extend(source.read_grown_logs().unwrap_or_default());
        }
        let mut state = self.state();
        if is_heard || state.listeners() == 0 {
            state.place = place;
            if !frames.is_empty() {
                let rest = state.pause_after(frames.len());
                state.send(frames);
                drop(state);
                thread::sleep(rest);
            }
        } else {
            // A new listener gets the events that were skipped.
            source.mark_unsent();
            state.is_awake = true;
        }
        Some(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read_new_frames(source: &mut Source, place: &mut Place, is_heard: bool) -> Result<Vec<Frame>> {
    if !source.has_changed()? {
        return Ok(Vec::new());
    }
    let end = source.read_end()?;
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
        frames.push(Frame::reset(Some(place)));
    }
    frames.extend(source.read_frames_between(place, end)?);
    frames.extend(source.agents(place, &Clock::System)?);
    if place.is_before(&end, 0) {
        // There are more events than are read at once.
        source.mark_unsent();
    }
    Ok(frames)
}

impl State {
    fn send(&self, frames: Vec<Frame>) {
        if let Some(sender) = &self.sender {
            // Without listeners the send fails.
            let _ = sender.send(Arc::new(Batch::new(frames)));
        }
    }

    fn listeners(&self) -> usize {
        self.sender.as_ref().map_or(0, Sender::receiver_count)
    }

    fn pause_after(&self, events: usize) -> Duration {
        match events < AT_ONCE as usize {
            true => (REST.0 + REST.1 * self.listeners() as u32).min(REST_MAX),
            false => Duration::ZERO,
        }
    }
}
