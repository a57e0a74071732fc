//! The agents of a workspace as indexes for routing, kept until an agent changes.

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
    /// Warnings about invalid agent files.
    pub(crate) warnings: Vec<String>,
}

impl View {
    pub(crate) fn require(&self, id: &str) -> Result<&Arc<Agent>> {
        let ids = self.index.agents.iter().map(|agent| &*agent.id);
        self.index.agent(id).ok_or_else(|| no_agent(id, ids))
    }
}

/// Names, sizes and times of the files of agents; no time where the system does not tell it.
type Files = Vec<(OsString, u64, Option<SystemTime>)>;

struct Cache {
    revision: u64,
    files: Files,
    all: Arc<View>,
    has_private: bool,
    /// By user, if some agents are private.
    by_user: HashMap<String, Arc<View>>,
}

/// The agents of a workspace, read again when the store or a file of agents has changed.
pub(crate) struct Roster {
    workspace: Workspace,
    /// By the user whose rows the database showed, where it restricts them.
    caches: Mutex<HashMap<Option<String>, Cache>>,
}

impl Roster {
    pub(crate) fn new(workspace: Workspace) -> Roster {
        let caches = Mutex::default();
        Roster { workspace, caches }
    }

    /// Returns the agents of a user, or all, in a transaction that has changed none.
    pub(crate) fn view(
        &self,
        transaction: &dyn Transaction,
        user: Option<&str>,
    ) -> Result<Arc<View>> {
        let revision = transaction.agents_revision()?;
        // Listed before they are read: a change in between is noticed the next time.
        let files = list_files(&self.workspace);
        // Others do not wait for these reads.
        let mut caches = self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current = |it: &Cache| it.revision == revision && it.files == files;
        caches.retain(|_, cache| is_current(cache));
        let shown_to = transaction.restricted_to().map(String::from);
        let current = match caches.remove(&shown_to) {
            Some(current) => current,
            None => {
                let known = load_with(transaction, &self.workspace)?;
                Cache {
                    revision,
                    files,
                    has_private: known.agents.iter().any(Agent::is_private),
                    all: Arc::new(View {
                        index: Index::new(known.agents),
                        warnings: known.warnings,
                    }),
                    by_user: HashMap::new(),
                }
            }
        };
        Ok(caches.entry(shown_to).or_insert(current).view(user))
    }
}

impl Cache {
    fn view(&mut self, user: Option<&str>) -> Arc<View> {
        let all = &self.all;
        let Some(user) = user.filter(|_| self.has_private) else {
            return Arc::clone(all);
        };
        let view = self.by_user.entry(user.to_string()).or_insert_with(|| {
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

fn list_files(workspace: &Workspace) -> Files {
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
