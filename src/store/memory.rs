//! A store in memory, for tests of rules that need a store but no file. The conformance suite
//! keeps it equal to the real one.

mod claims;
mod filter;
mod graph;
mod log;
mod overview;
mod phases;
mod records;
mod sessions;
mod suggestions;
mod tasks;

use super::{Link, Recorded, SpawnRecord, Stamp, Store, Transaction};
use crate::claim::Claim;
use crate::error::Result;
use crate::gate::Gates;
use crate::id::TaskId;
use crate::phase::Phase;
use crate::session::{Session, SessionId};
use crate::task::Task;
use std::collections::BTreeMap;

/// Everything that is kept.
#[derive(Clone, Debug, Default)]
struct State {
    tasks: BTreeMap<TaskId, Task>,
    handed_out: u32,
    spawns: Vec<SpawnRecord>,
    links: Vec<Link>,
    gates: BTreeMap<TaskId, Gates>,
    claims: BTreeMap<TaskId, Claim>,
    sessions: BTreeMap<SessionId, Session>,
    phases: BTreeMap<String, Phase>,
    log: Vec<Recorded>,
    /// Operations that take back another, with that one.
    undoes: BTreeMap<u64, u64>,
}

/// A store in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: State,
}

impl Store for MemoryStore {
    fn read(&mut self) -> Result<Box<dyn Transaction + '_>> {
        self.begin(None)
    }

    fn write(&mut self, stamp: &Stamp) -> Result<Box<dyn Transaction + '_>> {
        self.begin(Some(stamp.clone()))
    }

    fn version(&self) -> Result<u64> {
        // Nobody else has this store.
        Ok(0)
    }
}

impl MemoryStore {
    fn begin(&mut self, stamp: Option<Stamp>) -> Result<Box<dyn Transaction + '_>> {
        let state = self.state.clone();
        Ok(Box::new(MemoryTransaction {
            state,
            target: &mut self.state,
            stamp,
        }))
    }
}

/// A copy of the state that replaces it when committed.
struct MemoryTransaction<'a> {
    state: State,
    target: &'a mut State,
    stamp: Option<Stamp>,
}

impl Transaction for MemoryTransaction<'_> {
    fn commit(self: Box<Self>) -> Result<()> {
        *self.target = self.state;
        Ok(())
    }
}

#[cfg(test)]
super::conformance::suite!(crate::store::conformance, |_folder: &std::path::Path| {
    MemoryStore::default()
});
