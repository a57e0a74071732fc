//! An event as it goes over the wire: written once, shared by all who listen.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;

use crate::error::{Code, Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Run,
    Task,
    Agents,
    Conversation,
    Piece,
    /// What concerns the stream itself: everybody hears it.
    Stream,
}

const KINDS: [(&str, Kind); 5] = [
    ("run", Kind::Run),
    ("task", Kind::Task),
    ("agents", Kind::Agents),
    ("conversation", Kind::Conversation),
    ("piece", Kind::Piece),
];

/// Some kinds, each once and in the order of the list above: who hears the same shares the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kinds(Vec<Kind>);

impl Default for Kinds {
    fn default() -> Kinds {
        Kinds(KINDS.iter().map(|(_, kind)| *kind).collect())
    }
}

impl Kinds {
    pub(super) fn read(names: &str) -> Result<Kinds> {
        let named: Vec<&str> = names.split(',').map(str::trim).collect();
        let is_kind = |name: &&str| KINDS.iter().any(|(there, _)| there == name);
        if let Some(name) = named.iter().find(|name| !is_kind(name)) {
            let all: Vec<_> = KINDS.iter().map(|(name, _)| *name).collect();
            let message = format!("`{name}` is no kind of events; use {}", all.join(", "));
            return Err(Error::new(Code::InputInvalid, message));
        }
        let kinds = KINDS.iter().filter(|(name, _)| named.contains(name));
        Ok(Kinds(kinds.map(|(_, kind)| *kind).collect()))
    }

    pub(super) fn have(&self, kind: Kind) -> bool {
        kind == Kind::Stream || self.0.contains(&kind)
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

/// A place in the stream: how far it has come in each of its sources.
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
        let Place {
            runs,
            tasks,
            agents,
            said,
        } = self;
        write!(formatter, "{runs}.{tasks}.{agents}.{said}")
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Place, String> {
        let wrong = || "that is no id of an event: ids look like 120.45.7.3".to_string();
        if text.len() > 84 {
            return Err(wrong());
        }
        let numbers: Vec<u64> = text
            .split('.')
            .map(|number| number.parse().map_err(|_| wrong()))
            .collect::<std::result::Result<_, _>>()?;
        match numbers[..] {
            [runs, tasks, agents, said] => Ok(Place {
                runs,
                tasks,
                agents,
                said,
            }),
            _ => Err(wrong()),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) kind: Kind,
    /// Whose it is; none: everybody's.
    pub(super) user: Option<Arc<str>>,
    pub(super) bytes: Bytes,
    /// What those hear in its place who hear all, where it is another.
    whole: Option<Bytes>,
}

impl Frame {
    /// Writes an event. One without a place cannot be gone on from.
    pub(super) fn new(
        kind: Kind,
        name: &str,
        place: Option<&Place>,
        data: &impl Serialize,
    ) -> Frame {
        // JSON holds no ends of lines, so that nothing in it can look like another event.
        let data = serde_json::to_string(data).unwrap_or_default();
        let text = match place {
            Some(place) => format!("id: {place}\nevent: {name}\ndata: {data}\n\n"),
            None => format!("event: {name}\ndata: {data}\n\n"),
        };
        Frame {
            kind,
            user: None,
            bytes: text.into(),
            whole: None,
        }
    }

    pub(super) fn of(mut self, user: Option<Arc<str>>) -> Frame {
        self.user = user;
        self
    }

    /// Has those who hear all hear another in its place.
    pub(super) fn or_whole(mut self, whole: Option<Frame>) -> Frame {
        self.whole = whole.map(|whole| whole.bytes);
        self
    }

    /// Returns what somebody hears who hears only what is a user's, or all.
    pub(super) fn told_to(&self, only: Option<&str>) -> &Bytes {
        match &self.whole {
            Some(whole) if only.is_none() => whole,
            _ => &self.bytes,
        }
    }

    pub(super) fn is_for(&self, kinds: &Kinds, only: Option<&str>) -> bool {
        is_theirs(self.user.as_deref(), only) && kinds.have(self.kind)
    }
}

pub(super) fn is_theirs(user: Option<&str>, only: Option<&str>) -> bool {
    match (user, only) {
        (Some(user), Some(only)) => user == only,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_place_is_read_as_it_is_written() {
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
    fn what_is_told_cannot_look_like_another_event() {
        let data = json!({"text": "a\n\nid: 9\r\nevent: x"});
        let frame = Frame::new(Kind::Run, "run", Some(&Place::default()), &data);
        let text = String::from_utf8(frame.bytes.to_vec()).unwrap();
        assert_eq!(text.lines().count(), 4, "{text}");
        assert!(text.starts_with("id: 0.0.0.0\nevent: run\ndata: {"));
    }

    #[test]
    fn nobody_hears_of_others_or_what_was_not_asked_for() {
        let frame =
            |user: Option<&str>| Frame::new(Kind::Run, "run", None, &()).of(user.map(Arc::from));
        let (all, tasks) = (Kinds::default(), Kinds::read("task").unwrap());
        for (user, kinds, only, hears) in [
            (Some("ann"), &all, Some("ann"), true),
            (Some("ann"), &all, Some("bob"), false),
            (Some("ann"), &all, None, true),
            (None, &all, Some("bob"), true),
            (Some("ann"), &tasks, Some("ann"), false),
        ] {
            assert_eq!(frame(user).is_for(kinds, only), hears, "{user:?} {only:?}");
        }
        assert!(Kinds::read("run,nope").is_err());
        assert_eq!(
            Kinds::read("task, run,run").unwrap(),
            Kinds::read("run,task").unwrap()
        );
    }
}
