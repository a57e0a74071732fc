//! The agents of a workspace, held ready to be chosen from.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use super::{Known, known_to};
use crate::agent::Agent;
use crate::clock::Clock;
use crate::error::Result;
use crate::route::{Index, Profile};
use crate::store::agency::AgencyTransaction;
use crate::workspace::Workspace;

#[derive(Debug)]
pub(crate) struct View {
    /// The agents in list order, which decides ties.
    pub(crate) agents: Vec<Arc<Agent>>,
    pub(crate) index: Index,
    /// Files of agents that could not be used.
    pub(crate) warnings: Vec<String>,
    places: HashMap<String, usize>,
}

impl View {
    pub(crate) fn new(
        agents: impl IntoIterator<Item = impl Into<Arc<Agent>>>,
        warnings: Vec<String>,
    ) -> View {
        let agents: Vec<Arc<Agent>> = agents.into_iter().map(Into::into).collect();
        View {
            index: Index::new(agents.iter().map(|agent| Profile::from(&**agent))),
            places: agents
                .iter()
                .map(|agent| agent.id.clone())
                .zip(0..)
                .collect(),
            agents,
            warnings,
        }
    }

    pub(crate) fn agent(&self, id: &str) -> Option<&Arc<Agent>> {
        let place = self.places.get(id);
        place.and_then(|place| self.agents.get(*place))
    }

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
    files: Files,
    all: Arc<View>,
    /// Whether some agents are not everybody's.
    is_divided: bool,
    /// What single users see, where that is not all.
    of_users: HashMap<String, Arc<View>>,
}

/// The files that agents stand in.
#[derive(Default)]
struct Files {
    /// The folder that their names were read from: device, number, and when it was changed. None where it
    /// had just been changed: another change within the same tick of its clock would not show.
    folder: Option<(u64, u64, i64, i64)>,
    /// Their names, sizes and times; no time where that cannot be told.
    all: Vec<(OsString, u64, Option<SystemTime>)>,
}

/// The agents of a workspace, read again when the store or a file of agents has changed.
pub(crate) struct Roster {
    workspace: Workspace,
    held: Mutex<Option<Held>>,
}

impl Roster {
    pub(crate) fn new(workspace: Workspace) -> Roster {
        Roster {
            workspace,
            held: Mutex::default(),
        }
    }

    /// Returns the agents of a user, or all, as a transaction sees them that has changed none.
    pub(crate) fn view(
        &self,
        transaction: &dyn AgencyTransaction,
        user: Option<&str>,
    ) -> Result<Arc<View>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let revision = transaction.agents_revision()?;
        // Looked at before they are read: what changes meanwhile is seen the next time.
        let current = held.take();
        let files = files(&self.workspace, current.as_ref().map(|held| &held.files));
        let is_same = |held: &Held| held.revision == revision && held.files.all == files.all;
        let current = current.filter(is_same);
        let mut current = match current {
            Some(current) => Held { files, ..current },
            None => {
                let known = known_to(transaction, &self.workspace)?;
                Held {
                    revision,
                    files,
                    is_divided: known.agents.iter().any(Agent::is_private),
                    all: Arc::new(View::new(known.agents, known.warnings)),
                    of_users: HashMap::new(),
                }
            }
        };
        let view = current.view(user);
        *held = Some(current);
        Ok(view)
    }
}

impl Held {
    fn view(&mut self, user: Option<&str>) -> Arc<View> {
        let Some(user) = user.filter(|_| self.is_divided) else {
            return Arc::clone(&self.all);
        };
        if let Some(view) = self.of_users.get(user) {
            return Arc::clone(view);
        }
        let agents = self.all.agents.iter();
        let seen = agents.filter(|agent| agent.is_seen_by(Some(user))).cloned();
        let view = Arc::new(View::new(seen, self.all.warnings.clone()));
        self.of_users.insert(user.to_string(), Arc::clone(&view));
        view
    }
}

/// Looks at the files that agents stand in; the folder is read only if it is not as it was `before`.
fn files(workspace: &Workspace, before: Option<&Files>) -> Files {
    let place = workspace.root.join(".cleo/agents");
    let Ok(there) = fs::metadata(&place) else {
        return Files::default();
    };
    let is_old = Clock::System.now().timestamp() > there.ctime() + 1;
    let folder = (there.dev(), there.ino(), there.ctime(), there.ctime_nsec());
    let folder = is_old.then_some(folder);
    let names: Vec<OsString> = match before.filter(|before| is_old && before.folder == folder) {
        Some(before) => before.all.iter().map(|(name, ..)| name.clone()).collect(),
        None => {
            let entries = fs::read_dir(&place).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name()).collect()
        }
    };
    let described = names.into_iter().map(|name| {
        let data = fs::metadata(place.join(&name));
        let (size, time) = data.map_or((0, None), |data| (data.len(), data.modified().ok()));
        (name, size, time)
    });
    let mut all: Vec<_> = described.collect();
    all.sort_unstable();
    Files { folder, all }
}
