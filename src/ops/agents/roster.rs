//! The agents of a workspace, held ready to be chosen from, and looked at anew when they have changed:
//! for who chooses thousands of times a second.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::{Known, known_to};
use crate::agent::Agent;
use crate::error::Result;
use crate::route::{Index, Profile};
use crate::store::agency::AgencyTransaction;
use crate::workspace::Workspace;

/// How long files of agents count as unchanged without a look at them.
const LOOK: Duration = Duration::from_millis(100);

/// Agents that somebody can reach, ready to be chosen from.
#[derive(Debug)]
pub struct View {
    /// The agents in list order, which decides ties.
    pub agents: Vec<Agent>,
    /// The router's index of them.
    pub index: Index,
    places: HashMap<String, usize>,
}

impl View {
    /// Makes the index.
    pub fn of(agents: Vec<Agent>) -> View {
        View {
            index: Index::of(agents.iter().map(Profile::from)),
            places: agents
                .iter()
                .map(|agent| agent.id.clone())
                .zip(0..)
                .collect(),
            agents,
        }
    }

    /// Finds an agent.
    pub fn agent(&self, id: &str) -> Option<&Agent> {
        let place = self.places.get(id);
        place.and_then(|place| self.agents.get(*place))
    }

    /// Finds an agent that must be there.
    pub fn require(&self, id: &str) -> Result<&Agent> {
        let missing = || Known {
            agents: self.agents.clone(),
            ..Known::default()
        };
        self.agent(id).ok_or_else(|| missing().no_agent(id))
    }
}

/// What the agents were when they were last read.
struct Held {
    revision: u64,
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
pub struct Roster {
    workspace: Workspace,
    held: Mutex<Option<Held>>,
}

impl Roster {
    /// Begins without having looked.
    pub fn new(workspace: Workspace) -> Roster {
        Roster {
            workspace,
            held: Mutex::new(None),
        }
    }

    /// Returns the agents as a transaction sees them: those of one user, or all.
    pub fn view(
        &self,
        transaction: &dyn AgencyTransaction,
        user: Option<&str>,
    ) -> Result<Arc<View>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let revision = transaction.agents_revision()?;
        let current = held.take().filter(|held| held.revision == revision);
        let current = current.and_then(|held| held.looked_at(&self.workspace));
        let current = match current {
            Some(current) => current,
            None => Held::read(transaction, &self.workspace, revision)?,
        };
        Ok(held.insert(current).of(user))
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
            files,
            looked: Instant::now(),
            is_divided: agents.iter().any(|agent| agent.user_id.is_some()),
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
        let view = Arc::new(View::of(seen.collect()));
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
