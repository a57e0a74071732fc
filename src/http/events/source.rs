//! Reads new rows of the databases as events.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use serde_json::{Value, json};

use super::frame::{Frame, Kind, Origin, Place, Wants, belongs};
use super::logs::Logs;
use crate::clock::Clock;
use crate::error::Result;
use crate::http::assigned::{FIELD, hide_in_fields};
use crate::ops::agents;
use crate::run::Line;
use crate::store::{Database, Recorded, Store};
use crate::workspace::Workspace;

/// Maximum number of events of a source per read.
const BATCH: u32 = 500;
/// Maximum number of new events of a source per batch.
pub(super) const AT_ONCE: u32 = 2_000;
/// Number of recent events for a new listener, and of each source for a reconnecting one.
pub(super) const RECENT: usize = BATCH as usize;
/// Maximum number of reads to find the events of a listener.
const PAGES: usize = 20;
/// Maximum number of cached owners.
const OWNERS_MAX: usize = 10_000;

/// Events of one source, in the order of its cursors.
type Parts = VecDeque<Part>;

/// Events missed between two places.
pub(super) struct Missed {
    /// The place after which no event is missing.
    pub(super) from: Place,
    pub(super) frames: Vec<Frame>,
    /// Whether no event is missing at all.
    pub(super) is_whole: bool,
}

impl Missed {
    pub(super) fn nothing(place: Place) -> Missed {
        Missed {
            from: place,
            frames: Vec::new(),
            is_whole: true,
        }
    }
}

/// The databases, open for reading.
pub(super) struct Source {
    store: Database,
    workspace: Workspace,
    /// Owners of runs and conversations.
    owners: HashMap<String, Option<Arc<str>>>,
    seen: Option<u64>,
    logs: Logs,
}

impl Source {
    pub(super) fn open(workspace: &Workspace) -> Result<Source> {
        Ok(Source {
            store: workspace.open_store()?,
            workspace: workspace.clone(),
            owners: HashMap::new(),
            seen: None,
            logs: Logs::default(),
        })
    }

    pub(super) fn has_changed(&mut self) -> Result<bool> {
        let now = Some(self.store.watch()?);
        let changed = now != self.seen;
        self.seen = now;
        Ok(changed)
    }

    /// Makes the next check find a change, because events were not sent.
    pub(super) fn mark_unsent(&mut self) {
        self.seen = None;
    }

    pub(super) fn read_end(&mut self) -> Result<Place> {
        let transaction = self.store.read()?;
        Ok(Place {
            runs: transaction.last_event()?,
            tasks: transaction.last_cursor()?,
            agents: transaction.agents_revision()?,
            said: transaction.last_said()?,
        })
    }

    /// Reads the events between two places and advances the place. Events of different sources are
    /// ordered by time.
    pub(super) fn read_frames_between(
        &mut self,
        place: &mut Place,
        end: Place,
    ) -> Result<Vec<Frame>> {
        let (from, mut sources) = (*place, Vec::new());
        for origin in Origin::ALL {
            let parts = self.read(origin, from.cursor(origin), end.cursor(origin), AT_ONCE)?;
            let last = parts.back().map(|part| part.cursor);
            // Messages outside of conversations are not scanned again.
            let reached = last.filter(|_| parts.len() >= AT_ONCE as usize);
            let reached = reached.unwrap_or(end.cursor(origin));
            *place.cursor_mut(origin) = reached.max(from.cursor(origin));
            sources.push(parts);
        }
        Ok(merge(sources, from))
    }

    /// Reads the latest events between two places that a listener gets, at most one read of each
    /// source.
    pub(super) fn read_missed(
        &mut self,
        after: Place,
        end: Place,
        wants: &Wants,
    ) -> Result<Missed> {
        let only = wants.only.as_deref();
        let (mut from, mut is_whole) = (end, true);
        from.agents = after.agents.min(end.agents);
        let mut sources = Vec::new();
        for origin in Origin::ALL
            .into_iter()
            .filter(|origin| wants.contains(origin.kind()))
        {
            let begin = after.cursor(origin);
            let (cursor, parts) = self.read_latest(origin, begin, end.cursor(origin), only)?;
            is_whole &= cursor <= begin;
            *from.cursor_mut(origin) = cursor;
            sources.push(parts);
        }
        let mut frames = merge(sources, from);
        if wants.contains(Kind::Agents) && from.agents != end.agents {
            let agents = from.agents;
            frames.extend(self.agents(&mut Place { agents, ..end }, &Clock::System)?);
        }
        Ok(Missed {
            from,
            frames,
            is_whole,
        })
    }

    /// Reads the latest events of one source between two cursors that a listener gets. It searches
    /// backwards within limits, because most events may be those of others. Returns the cursor
    /// after which no event is missing.
    fn read_latest(
        &mut self,
        origin: Origin,
        after: u64,
        end: u64,
        only: Option<&str>,
    ) -> Result<(u64, Parts)> {
        let (mut from, mut heard) = (end, Parts::new());
        for _ in 0..PAGES {
            if from <= after || heard.len() >= RECENT {
                break;
            }
            let below = from.saturating_sub(BATCH.into()).max(after);
            let page = self.read(origin, below, from, BATCH)?.into_iter().rev();
            page.filter(|part| belongs(part.owner.as_deref(), only))
                .for_each(|part| heard.push_front(part));
            from = below;
        }
        while heard.len() > RECENT {
            from = heard.pop_front().map_or(from, |part| part.cursor);
        }
        Ok((from, heard))
    }

    /// Reads at most `most` events of one source between two cursors.
    fn read(&mut self, origin: Origin, after: u64, end: u64, most: u32) -> Result<Parts> {
        let limit = u32::try_from(end.saturating_sub(after)).unwrap_or(most);
        let limit = limit.min(most);
        let mut parts = match origin {
            Origin::Tasks => self.tasks(after, limit)?,
            Origin::Runs => self.runs(after, limit)?,
            Origin::Said => self.read_messages(after, limit)?,
        };
        // Cursors have gaps, so the read may go beyond the end.
        parts.retain(|part| part.cursor <= end);
        Ok(parts)
    }

    fn tasks(&mut self, after: u64, limit: u32) -> Result<Parts> {
        let changes = self.store.read()?.changes(after, None, limit)?;
        if changes.is_empty() {
            return Ok(Parts::new());
        }
        // All users get the same, without agents that only one user sees or saw.
        let agents = agents::load_in(&self.workspace)?.agents.into_iter();
        let told = agents.filter(|agent| !agent.is_private());
        let told: HashSet<String> = told.map(|agent| agent.id).collect();
        let part = |change: Recorded| {
            let mut data = serde_json::to_value(&change).unwrap_or_default();
            hide_in_fields(&mut data, FIELD, &|id: &String| !told.contains(id));
            Part::new(Origin::Tasks, change.cursor, change.at, None, data)
        };
        Ok(changes.into_iter().map(part).collect())
    }

    fn runs(&mut self, after: u64, limit: u32) -> Result<Parts> {
        let Source { store, owners, .. } = self;
        let transaction = store.read()?;
        let mut parts = Parts::new();
        for event in transaction.events(None, after, limit)? {
            let look = |id: &str| Ok(transaction.run(id)?.map(|run| run.user));
            let owner = find_owner(owners, &event.run, look)?;
            let mut data = json!(Line::from(&event));
            data["at"] = json!(event.at);
            let part = Part::new(Origin::Runs, event.cursor, event.at, owner, data);
            parts.push_back(part);
        }
        Ok(parts)
    }

    fn read_messages(&mut self, after: u64, limit: u32) -> Result<Parts> {
        let Source { store, owners, .. } = self;
        let transaction = store.read()?;
        let mut parts = Parts::new();
        for (cursor, message) in transaction.messages_after(after, limit)? {
            let id = message.conversation.clone().unwrap_or_default();
            let look = |id: &str| Ok(transaction.conversation(id)?.map(|one| one.user_id));
            let owner = find_owner(owners, &id, look)?;
            let at = message.created_at.clone();
            let data = json!({"conversationId": id, "at": at, "message": message});
            parts.push_back(Part::new(Origin::Said, cursor, at, owner, data));
        }
        Ok(parts)
    }

    pub(super) fn read_grown_logs(&mut self) -> Result<Vec<Frame>> {
        self.logs.read_grown(&mut self.store, &self.workspace)
    }

    pub(super) fn agents(&mut self, place: &mut Place, clock: &Clock) -> Result<Option<Frame>> {
        let revision = self.store.read()?.agents_revision()?;
        if revision == place.agents {
            return Ok(None);
        }
        place.agents = revision;
        let at = clock.timestamp();
        let data = json!({"revision": revision, "at": at});
        Ok(Some(Frame::new(Kind::Agents, Some(place), &data)))
    }
}

/// Merges the events of all sources. Within a source, cursors decide the order: times may run back
/// a little, and a client that resumes after an id must not miss earlier events.
fn merge(mut sources: Vec<Parts>, mut place: Place) -> Vec<Frame> {
    let mut frames = Vec::new();
    loop {
        let heads = sources.iter_mut().filter(|source| !source.is_empty());
        let first = heads.min_by(|one, other| one[0].at.cmp(&other[0].at));
        match first.and_then(VecDeque::pop_front) {
            Some(part) => frames.push(part.frame(&mut place)),
            None => return frames,
        }
    }
}

struct Part {
    origin: Origin,
    cursor: u64,
    at: String,
    /// Owner; `None` if every user gets it.
    owner: Option<Arc<str>>,
    data: Value,
}

impl Part {
    fn new(origin: Origin, cursor: u64, at: String, owner: Option<Arc<str>>, data: Value) -> Part {
        Part {
            origin,
            cursor,
            at,
            owner,
            data,
        }
    }

    fn frame(self, place: &mut Place) -> Frame {
        *place.cursor_mut(self.origin) = self.cursor;
        Frame::new(self.origin.kind(), Some(place), &self.data).with_owner(self.owner)
    }
}

/// Returns the owner. Events without an owner any more go only to listeners to all users.
fn find_owner(
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
