//! An event as bytes, written once and shared by all listeners.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use serde::Serialize;
use serde_json::json;

use crate::words::closed;

closed! {
    /// Subject of an event.
    Kind, "kind of events":
    Run = "run",
    Task = "task",
    Agents = "agents",
    Conversation = "conversation",
    Piece = "piece",
    Log = "log",
}

/// The events that a listener gets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Wants {
    /// Owner whose events are sent beside those without an owner; `None` for the events of all
    /// users.
    pub(super) only: Option<String>,
    /// Sorted and unique, so that listeners with the same kinds share the same bytes; empty means
    /// all kinds.
    pub(super) kinds: Vec<Kind>,
}

impl Wants {
    pub(super) fn contains(&self, kind: Kind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}

/// A source of events that keeps them in the order of its cursors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Tasks,
    Runs,
    Said,
}

impl Origin {
    pub(super) const ALL: [Origin; 3] = [Origin::Tasks, Origin::Runs, Origin::Said];

    pub(super) fn kind(self) -> Kind {
        match self {
            Origin::Tasks => Kind::Task,
            Origin::Runs => Kind::Run,
            Origin::Said => Kind::Conversation,
        }
    }
}

/// A place in the stream: the cursor of each source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) runs: u64,
    pub(super) tasks: u64,
    pub(super) agents: u64,
    pub(super) said: u64,
}

impl Place {
    pub(super) fn cursor(mut self, source: Origin) -> u64 {
        *self.cursor_mut(source)
    }

    pub(super) fn cursor_mut(&mut self, source: Origin) -> &mut u64 {
        match source {
            Origin::Tasks => &mut self.tasks,
            Origin::Runs => &mut self.runs,
            Origin::Said => &mut self.said,
        }
    }

    pub(super) fn is_behind(&self, other: &Place) -> bool {
        let is_behind = |origin: Origin| self.cursor(origin) > other.cursor(origin);
        Origin::ALL.into_iter().any(is_behind)
    }

    pub(super) fn is_before(&self, other: &Place, events: u64) -> bool {
        let before =
            |origin: Origin| other.cursor(origin).saturating_sub(self.cursor(origin)) > events;
        Origin::ALL.into_iter().any(before)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (runs, tasks) = (self.runs, self.tasks);
        write!(formatter, "{runs}.{tasks}.{}.{}", self.agents, self.said)
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Place, String> {
        let numbers = text.split('.').map(|number| number.parse().ok());
        let numbers: Option<Vec<u64>> = numbers.collect();
        let numbers = numbers.and_then(|all| <[u64; 4]>::try_from(all).ok());
        let wrong = "invalid event id: ids look like 120.45.7.3";
        let [runs, tasks, agents, said] = numbers.ok_or(wrong)?;
        Ok(Place {
            runs,
            tasks,
            agents,
            said,
        })
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    /// `None` for an event about the stream itself, for every listener.
    kind: Option<Kind>,
    /// Owner; `None` if every user gets it.
    owner: Option<Arc<str>>,
    bytes: Bytes,
}

impl Frame {
    /// Writes an event. Listeners cannot resume after one without a place.
    pub(super) fn new(kind: Kind, place: Option<&Place>, data: &impl Serialize) -> Frame {
        Frame {
            kind: Some(kind),
            bytes: write(kind.word(), place, data),
            ..Frame::default()
        }
    }

    /// Writes that events before a place are skipped.
    pub(super) fn reset(place: Option<&Place>) -> Frame {
        Frame {
            bytes: write("reset", place, &json!({"reason": "gap"})),
            ..Frame::default()
        }
    }

    pub(super) fn with_owner(self, owner: Option<Arc<str>>) -> Frame {
        Frame { owner, ..self }
    }

    /// Returns the event for a listener that gets it.
    pub(super) fn bytes_for(&self, wants: &Wants) -> Option<&Bytes> {
        let is_wanted = self.kind.is_none_or(|kind| wants.contains(kind));
        let is_sent = is_wanted && belongs(self.owner.as_deref(), wants.only.as_deref());
        is_sent.then_some(&self.bytes)
    }
}

/// Writes an event in the format of server-sent events. JSON has no line breaks, so data cannot
/// look like another event.
pub(super) fn write(name: &str, place: Option<&Place>, data: &impl Serialize) -> Bytes {
    let data = crate::document::to_json(data).unwrap_or_default();
    let text = match place {
        Some(place) => format!("id: {place}\nevent: {name}\ndata: {data}\n\n"),
        None => format!("event: {name}\ndata: {data}\n\n"),
    };
    text.into()
}

pub(super) fn belongs(owner: Option<&str>, only: Option<&str>) -> bool {
    match (owner, only) {
        (Some(owner), Some(only)) => owner == only,
        _ => true,
    }
}

/// Events that are sent together. Equal listeners share the same bytes: a copy of each event for
/// each of 500 listeners (as `axum::response::sse::Event` needs) would cost more than the events.
pub(super) struct Batch {
    frames: Vec<Frame>,
    joined: Mutex<HashMap<Wants, Bytes>>,
}

impl Batch {
    pub(super) fn new(frames: Vec<Frame>) -> Batch {
        Batch {
            frames,
            joined: Mutex::default(),
        }
    }

    /// Returns the events for a listener; empty if there are none.
    pub(super) fn bytes_for(&self, wants: &Wants) -> Bytes {
        let mut joined = self.joined.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = joined.get(wants) {
            return bytes.clone();
        }
        let bytes = |frame| Frame::bytes_for(frame, wants).map(AsRef::as_ref);
        let parts: Vec<&[u8]> = self.frames.iter().filter_map(bytes).collect();
        let bytes = Bytes::from(parts.concat());
        joined.insert(wants.clone(), bytes.clone());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_is_read_unchanged_written() {
        let place = Place {
            runs: 120,
            tasks: 45,
            agents: 7,
            said: u64::MAX,
        };
        assert_eq!(place.to_string().parse(), Ok(place));
        for wrong in [
            "",
            "1",
            "1.2.3",
            "1.2.3.4.5",
            "1.2.3.-4",
            "a.b.c.d",
            "1.2.3.99999999999999999999",
        ] {
            assert!(wrong.parse::<Place>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn data_cannot_look_like_another_event() {
        let data = json!({"text": "a\n\nid: 9\r\nevent: x"});
        let text = write("run", Some(&Place::default()), &data);
        let text = String::from_utf8(text.to_vec()).unwrap();
        assert_eq!(text.lines().count(), 4, "{text}");
        assert!(text.starts_with("id: 0.0.0.0\nevent: run\ndata: {"));
    }

    #[test]
    fn listeners_get_own_events_of_their_kinds() {
        let frame =
            |owner: Option<&str>| Frame::new(Kind::Run, None, &()).with_owner(owner.map(Arc::from));
        let (all, tasks) = (Vec::new(), vec![Kind::Task]);
        for (owner, kinds, only, is_sent) in [
            (Some("ann"), &all, Some("ann"), true),
            (Some("ann"), &all, Some("bob"), false),
            (Some("ann"), &all, None, true),
            (None, &all, Some("bob"), true),
            (Some("ann"), &tasks, Some("ann"), false),
        ] {
            let wants = Wants {
                only: only.map(String::from),
                kinds: kinds.clone(),
            };
            let sent = Batch::new(vec![frame(owner)]).bytes_for(&wants);
            assert_eq!(!sent.is_empty(), is_sent, "{owner:?} {only:?}");
        }
    }
}
