//! The agents of a workspace, held ready to be chosen from.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use super::{load_with, no_agent};
use crate::agent::Agent;
use crate::error::Result;
use crate::route::Index;
use crate::store::Transaction;
use crate::workspace::Workspace;

#[derive(Debug)]
pub(crate) struct View {
    pub(crate) index: Index,
    /// Files of agents that could not be used.
    pub(crate) warnings: Vec<String>,
}

impl View {
    pub(crate) fn require(&self, id: &str) -> Result<&Arc<Agent>> {
        let agents = self.index.agents.iter();
        self.index
            .agent(id)
            .ok_or_else(|| no_agent(id, agents.map(|agent| agent.id.as_str())))
    }
}

/// Names, sizes and times of the files that agents stand in; no time where that cannot be told.
type Files = Vec<(OsString, u64, Option<SystemTime>)>;

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

/// The agents of a workspace, read again when the store or a file of agents has changed.
pub(crate) struct Roster {
    workspace: Workspace,
    held: Mutex<Option<Held>>,
}

impl Roster {
    pub(crate) fn new(workspace: Workspace) -> Roster {
        let held = Mutex::default();
        Roster { workspace, held }
    }

    /// Returns the agents of a user, or all, as a transaction sees them that has changed none.
    pub(crate) fn view(
        &self,
        transaction: &dyn Transaction,
        user: Option<&str>,
    ) -> Result<Arc<View>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let revision = transaction.agents_revision()?;
        // Looked at before they are read: what changes meanwhile is seen the next time.
        let files = find_files(&self.workspace);
        let current = held
            .take()
            .filter(|held| held.revision == revision && held.files == files);
        let current = match current {
            Some(current) => current,
            None => {
                let known = load_with(transaction, &self.workspace)?;
                Held {
                    revision,
                    files,
                    is_divided: known.agents.iter().any(Agent::is_private),
                    all: Arc::new(View {
                        index: Index::new(known.agents),
                        warnings: known.warnings,
                    }),
                    of_users: HashMap::new(),
                }
            }
        };
        Ok(held.insert(current).view(user))
    }
}

impl Held {
    fn view(&mut self, user: Option<&str>) -> Arc<View> {
        let Some(user) = user.filter(|_| self.is_divided) else {
            return Arc::clone(&self.all);
        };
        let all = &self.all;
        let view = self.of_users.entry(user.to_string()).or_insert_with(|| {
            let agents = all.index.agents.iter();
            let seen = agents.filter(|agent| agent.is_seen_by(Some(user))).cloned();
            Arc::new(View {
                index: Index::new(seen),
                warnings: all.warnings.clone(),
            })
        });
        Arc::clone(view)
    }
}

fn find_files(workspace: &Workspace) -> Files {
    let entries = fs::read_dir(workspace.root.join(".cleo/agents"));
    let described = entries.into_iter().flatten().flatten().map(|entry| {
        let data = fs::metadata(entry.path());
        let (size, time) = data.map_or((0, None), |data| (data.len(), data.modified().ok()));
        (entry.file_name(), size, time)
    });
    let mut files: Files = described.collect();
    files.sort_unstable();
    files
}
