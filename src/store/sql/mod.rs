//! The statements of all backends, the SQL of each resource in its own file, and the transactions that run them.

pub(in crate::store) mod agents;
pub(in crate::store) mod agreement;
pub(in crate::store) mod chains;
pub(in crate::store) mod chat;
pub(in crate::store) mod checksum;
pub(in crate::store) mod columns;
pub(in crate::store) mod connection;
pub(in crate::store) mod conversations;
pub(in crate::store) mod faults;
pub(in crate::store) mod graph;
pub(in crate::store) mod kept;
pub(in crate::store) mod list;
pub(in crate::store) mod log;
pub(in crate::store) mod nodes;
pub(in crate::store) mod overview;
pub(in crate::store) mod phases;
pub(in crate::store) mod queries;
pub(in crate::store) mod records;
pub(in crate::store) mod row;
pub(in crate::store) mod runs;
pub(in crate::store) mod search;
pub(in crate::store) mod session;
pub(in crate::store) mod tasks;
pub(in crate::store) mod translate;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::File;

use super::{Stamp, Transaction};
use crate::error::Result;
use nodes::Unwritten;
use queries::Link;

/// How a database ends the transactions that it began.
pub(in crate::store) trait Backend {
    fn commit(&self) -> Result<()>;

    /// After a failed rollback the transaction ends with the connection.
    fn roll_back(&self);

    fn restricted_to(&self) -> Option<&str> {
        None
    }

    /// Records that there are agents, for a reader that asks for nothing else.
    fn note_agents(&self) -> Result<()> {
        Ok(())
    }
}

/// An open transaction; dropped without commit, it is rolled back.
pub(in crate::store) struct SqlTransaction<'a> {
    backend: &'a dyn Backend,
    link: Link<'a>,
    is_open: bool,
    /// The lock by which writers wait in turn.
    _turn: Option<File>,
    stamp: Option<Stamp>,
    /// Number of the operation, once something has been recorded under it.
    operation: Option<i64>,
    next_change: i64,
    /// Changes of the graph that are not written yet.
    unwritten: RefCell<Unwritten>,
    /// Tasks that the index of words lacks.
    unread: RefCell<BTreeSet<u32>>,
}

impl<'a> SqlTransaction<'a> {
    /// Returns a transaction that the backend has begun.
    pub(in crate::store) fn new(
        backend: &'a dyn Backend,
        link: Link<'a>,
        stamp: Option<&Stamp>,
        turn: Option<File>,
    ) -> SqlTransaction<'a> {
        SqlTransaction {
            backend,
            link,
            is_open: true,
            _turn: turn,
            stamp: stamp.cloned(),
            operation: None,
            next_change: 0,
            unwritten: RefCell::default(),
            unread: RefCell::default(),
        }
    }
}

impl Transaction for SqlTransaction<'_> {
    fn commit(mut self: Box<Self>) -> Result<Option<u64>> {
        self.settle_chains()?;
        self.read_words()?;
        self.backend.commit()?;
        self.is_open = false;
        Ok(self.operation.map(i64::unsigned_abs))
    }

    fn restricted_to(&self) -> Option<&str> {
        self.backend.restricted_to()
    }
}

impl Drop for SqlTransaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            self.backend.roll_back();
        }
    }
}
