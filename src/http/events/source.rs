//! What is new in the databases, as events.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use serde_json::{Value, json};

use super::frame::{Frame, Kind, Place};
use crate::clock::Clock;
use crate::error::Result;
use crate::http::conversations;
use crate::run::Line;
use crate::store::Store;
use crate::store::agency::Agency;
use crate::store::sqlite::{SqliteAgency, SqliteStore};
use crate::workspace::Workspace;

/// Most events of one sort that are read at once.
const BATCH: u32 = 500;
/// Most owners that are remembered.
const OWNERS_MAX: usize = 10_000;

/// The databases, open for reading.
pub(super) struct Source {
    store: SqliteStore,
    agency: SqliteAgency,
    /// Whose each run and conversation is.
    owners: HashMap<String, Option<Arc<str>>>,
    seen: Option<(u64, u64)>,
}

impl Source {
    /// Opens them.
    pub(super) fn open(workspace: &Workspace) -> Result<Source> {
        Ok(Source {
            store: workspace.open_store()?,
            agency: SqliteAgency::open_or_create(&workspace.agency())?,
            owners: HashMap::new(),
            seen: None,
        })
    }

    /// Says whether anything has changed since it was last asked.
    pub(super) fn has_changed(&mut self) -> Result<bool> {
        let now = Some((self.store.version()?, self.agency.changes()?));
        let changed = now != self.seen;
        self.seen = now;
        Ok(changed)
    }

    /// Has the next question find a change: what was seen was not told.
    pub(super) fn forget(&mut self) {
        self.seen = None;
    }

    /// Says where the stream ends now.
    pub(super) fn end(&mut self) -> Result<Place> {
        let tasks = self.store.read()?.last_cursor()?;
        let agency = self.agency.read()?;
        Ok(Place {
            runs: agency.last_event()?,
            tasks,
            agents: agency.agents_revision()?,
            said: agency.last_said()?,
        })
    }

    /// Reads what comes after a place and not after another, and moves the place on. What happened in
    /// different sources comes in the order of its times.
    pub(super) fn after(&mut self, place: &mut Place, end: Option<Place>) -> Result<Vec<Frame>> {
        let limit = |from: u64, end: Option<u64>| match end {
            Some(end) => u32::try_from(end.saturating_sub(from))
                .unwrap_or(BATCH)
                .min(BATCH),
            None => BATCH,
        };
        let changes = limit(place.tasks, end.map(|end| end.tasks));
        let changes = self.store.read()?.changes(place.tasks, None, changes)?;
        let Source { agency, owners, .. } = self;
        let agency = agency.read()?;
        let events = limit(place.runs, end.map(|end| end.runs));
        let events = agency.events(None, place.runs, events)?;
        let said = limit(place.said, end.map(|end| end.said));
        let all_said = agency
            .last_said()?
            .min(end.map_or(u64::MAX, |end| end.said));
        let is_all = said < BATCH;
        let said = agency.said_after(place.said, said)?;
        let is_all = is_all || said.len() < BATCH as usize;
        let mut sources = [VecDeque::new(), VecDeque::new(), VecDeque::new()];
        sources[0].extend(changes.into_iter().map(|change| {
            let data = serde_json::to_value(&change).unwrap_or_default();
            (change.at.clone(), Part::Task(change.cursor, data))
        }));
        for event in events {
            let look = |id: &str| Ok(agency.run(id)?.map(|run| run.user));
            let owner = owner(owners, &event.run, look)?;
            let data = json!(Line::from(&event));
            sources[1].push_back((event.at, Part::Run(event.cursor, owner, data)));
        }
        for (cursor, message) in said {
            let id = message.conversation.clone().unwrap_or_default();
            let look = |id: &str| Ok(agency.conversation(id)?.map(|one| one.user));
            let owner = owner(owners, &id, look)?;
            let at = message.created_at.clone();
            let message = conversations::said(&message);
            let data = json!({"conversationId": id, "at": at, "message": message});
            sources[2].push_back((at, Part::Said(cursor, owner, data)));
        }
        let frames = merged(sources, place);
        if is_all {
            // What was said outside of conversations is not looked through again.
            place.said = place.said.max(all_said);
        }
        Ok(frames)
    }

    /// Says which revision the agents have, as an event when it is another than that of a place.
    pub(super) fn agents(&mut self, place: &mut Place, clock: &Clock) -> Result<Option<Frame>> {
        let revision = self.agency.read()?.agents_revision()?;
        if revision == place.agents {
            return Ok(None);
        }
        place.agents = revision;
        let at = clock.timestamp();
        let data = json!({"revision": revision, "at": at});
        Ok(Some(Frame::new(Kind::Agents, "agents", Some(place), &data)))
    }
}

/// Puts together what happened in different sources. Within one, cursors say what came first: times
/// may run back a little, and whoever goes on from an id must not miss what came before it.
fn merged<const N: usize>(
    mut sources: [VecDeque<(String, Part)>; N],
    place: &mut Place,
) -> Vec<Frame> {
    let mut frames = Vec::new();
    loop {
        let heads = sources.iter_mut().filter(|source| !source.is_empty());
        let first = heads.min_by(|one, other| {
            let at = |source: &VecDeque<(String, Part)>| source.front().map(|(at, _)| at.clone());
            at(one).cmp(&at(other))
        });
        let Some((at, part)) = first.and_then(VecDeque::pop_front) else {
            return frames;
        };
        frames.push(part.frame(place, &at));
    }
}

/// Something that happened, with its cursor and whose it is.
enum Part {
    Task(u64, Value),
    Run(u64, Option<Arc<str>>, Value),
    Said(u64, Option<Arc<str>>, Value),
}

impl Part {
    /// Writes it, and moves the place on.
    fn frame(self, place: &mut Place, at: &str) -> Frame {
        match self {
            Part::Task(cursor, data) => {
                place.tasks = cursor;
                Frame::new(Kind::Task, "task", Some(place), &data)
            }
            Part::Run(cursor, owner, mut data) => {
                place.runs = cursor;
                data["at"] = json!(at);
                Frame::new(Kind::Run, "run", Some(place), &data).of(owner)
            }
            Part::Said(cursor, owner, data) => {
                place.said = cursor;
                Frame::new(Kind::Conversation, "conversation", Some(place), &data).of(owner)
            }
        }
    }
}

/// Says whose something is. What is nobody's any more is told to nobody but those who hear all.
fn owner(
    owners: &mut HashMap<String, Option<Arc<str>>>,
    id: &str,
    look: impl FnOnce(&str) -> Result<Option<String>>,
) -> Result<Option<Arc<str>>> {
    if let Some(owner) = owners.get(id) {
        return Ok(owner.clone());
    }
    if owners.len() >= OWNERS_MAX {
        owners.clear();
    }
    let owner: Option<Arc<str>> = Some(look(id)?.unwrap_or_default().into());
    owners.insert(id.to_string(), owner.clone());
    Ok(owner)
}
