//! The agents of a workspace, held ready to be chosen from, and looked at anew when they have changed:
//! for who chooses thousands of times a second.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::{Known, known_to};
use crate::agent::Agent;
use crate::error::Result;
use crate::route::{Index, Profile};
use crate::store::agency::{Agency, AgencyTransaction};
use crate::workspace::Workspace;

/// How long files of agents count as unchanged without a look at them.
const LOOK: Duration = Duration::from_millis(100);
/// How long agents count as unchanged that were just looked at. A command that changes one needs longer
/// to end, so that whoever has seen it end meets the change.
const MOMENT: Duration = Duration::from_millis(1);

/// Agents that somebody can reach, ready to be chosen from.
#[derive(Debug)]
pub(crate) struct View {
    /// The agents in list order, which decides ties.
    pub(crate) agents: Vec<Arc<Agent>>,
    /// The router's index of them.
    pub(crate) index: Index,
    places: HashMap<String, usize>,
}

impl View {
    /// Makes the index.
    pub(crate) fn of(agents: impl IntoIterator<Item = impl Into<Arc<Agent>>>) -> View {
        let agents: Vec<Arc<Agent>> = agents.into_iter().map(Into::into).collect();
        View {
            index: Index::of(agents.iter().map(|agent| Profile::from(&**agent))),
            places: agents
                .iter()
                .map(|agent| agent.id.clone())
                .zip(0..)
                .collect(),
            agents,
        }
    }

    /// Finds an agent.
    pub(crate) fn agent(&self, id: &str) -> Option<&Arc<Agent>> {
        let place = self.places.get(id);
        place.and_then(|place| self.agents.get(*place))
    }

    /// Finds an agent that must be there.
    pub(crate) fn require(&self, id: &str) -> Result<&Arc<Agent>> {
        let missing = || Known {
            agents: self.agents.iter().map(|agent| (**agent).clone()).collect(),
            ..Known::default()
        };
        self.agent(id).ok_or_else(|| missing().no_agent(id))
    }
}

/// What the agents were when they were last read.
struct Held {
    revision: u64,
    /// When it was known to be so.
    known: Instant,
    files: Files,
    looked: Instant,
    all: Arc<View>,
    /// Whether some agents are not everybody's.
    is_divided: bool,
    /// What single users see, where that is not all.
    of_users: HashMap<String, Arc<View>>,
}

/// Names, sizes and times of the files that agents stand in.
type Files = Vec<(std::ffi::OsString, u64, Option<SystemTime>)>;

/// The agents of a workspace.
pub(crate) struct Roster {
    workspace: Workspace,
    held: Mutex<Holding>,
}

/// What is held, and when this process changed an agent last: what was read before counts no more.
#[derive(Default)]
struct Holding {
    held: Option<Held>,
    changed: Option<Instant>,
}

impl Roster {
    /// Begins without having looked.
    pub(crate) fn new(workspace: Workspace) -> Roster {
        Roster {
            workspace,
            held: Mutex::default(),
        }
    }

    /// Returns the agents as a transaction that writes sees them: those of one user, or all.
    pub(crate) fn view(
        &self,
        transaction: &dyn AgencyTransaction,
        user: Option<&str>,
    ) -> Result<Arc<View>> {
        self.seen(transaction, user, Instant::now())
    }

    /// Returns the agents of a user, or all, as they stand now or did a moment ago.
    pub(crate) fn current(&self, agency: &mut dyn Agency, user: Option<&str>) -> Result<Arc<View>> {
        let now = Instant::now();
        if let Some(view) = self.holding().known(user, now) {
            return Ok(view);
        }
        self.seen(&*agency.read()?, user, now)
    }

    /// Has the next who asks look at the store: this process has changed an agent.
    pub(crate) fn forget(&self) {
        let mut holding = self.holding();
        (holding.held, holding.changed) = (None, Some(Instant::now()));
    }

    fn seen(
        &self,
        transaction: &dyn AgencyTransaction,
        user: Option<&str>,
        now: Instant,
    ) -> Result<Arc<View>> {
        let mut holding = self.holding();
        let revision = transaction.agents_revision()?;
        let current = holding.held.take();
        let current = current.filter(|held| held.revision == revision);
        let current = current.and_then(|held| held.looked_at(&self.workspace));
        let mut current = match current {
            Some(current) => current,
            None => Held::read(transaction, &self.workspace, revision)?,
        };
        current.known = now;
        Ok(holding.held.insert(current).of(user))
    }

    fn holding(&self) -> MutexGuard<'_, Holding> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Holding {
    fn known(&mut self, user: Option<&str>, now: Instant) -> Option<Arc<View>> {
        let held = self.held.as_mut()?;
        let is_new = self.changed.is_none_or(|changed| changed < held.known)
            && now.saturating_duration_since(held.known) < MOMENT;
        is_new.then(|| held.of(user))
    }
}

impl Held {
    fn read(
        transaction: &dyn AgencyTransaction,
        workspace: &Workspace,
        revision: u64,
    ) -> Result<Held> {
        // Looked at before they are read: what changes meanwhile is seen the next time.
        let files = files(workspace);
        let agents = known_to(transaction, workspace)?.agents;
        Ok(Held {
            revision,
            known: Instant::now(),
            files,
            looked: Instant::now(),
            is_divided: agents.iter().any(Agent::is_private),
            all: Arc::new(View::of(agents)),
            of_users: HashMap::new(),
        })
    }

    /// Looks at the files, if it is time to; nothing when they have changed.
    fn looked_at(mut self, workspace: &Workspace) -> Option<Held> {
        if self.looked.elapsed() < LOOK {
            return Some(self);
        }
        self.looked = Instant::now();
        (files(workspace) == self.files).then_some(self)
    }

    fn of(&mut self, user: Option<&str>) -> Arc<View> {
        let Some(user) = user.filter(|_| self.is_divided) else {
            return Arc::clone(&self.all);
        };
        if let Some(view) = self.of_users.get(user) {
            return Arc::clone(view);
        }
        let agents = self.all.agents.iter();
        let seen = agents.filter(|agent| agent.is_seen_by(Some(user))).cloned();
        let view = Arc::new(View::of(seen));
        self.of_users.insert(user.to_string(), Arc::clone(&view));
        view
    }
}

fn files(workspace: &Workspace) -> Files {
    let folder = workspace.root.join(Path::new(".cleo/agents"));
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Files::new();
    };
    let described = entries.flatten().filter_map(|entry| {
        let data = std::fs::metadata(entry.path()).ok()?;
        Some((entry.file_name(), data.len(), data.modified().ok()))
    });
    let mut files: Files = described.collect();
    files.sort();
    files
}
