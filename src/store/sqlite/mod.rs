//! The store in one SQLite file. Transactions are here, the SQL of each resource in its own file.

mod agency;
mod chains;
mod faults;
mod graph;
mod health;
mod kept;
mod list;
mod log;
mod nodes;
mod open;
mod opening;
mod overview;
mod place;
mod records;
mod tasks;
mod together;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::File;
use std::ops::Deref;
use std::path::PathBuf;

use rusqlite::Connection;

use super::{Stamp, Store, Transaction};
use crate::error::Result;
pub(crate) use agency::SqliteAgency;
use faults::Faults;
pub(crate) use health::HeldClaim;
use nodes::Unwritten;
use open::{NOTHING, Open, PART, WHOLE, turn};
pub(crate) use opening::log_of;
pub(crate) use place::{check_place, open_to_others};
use together::Together;

/// Begins a write transaction with 24 MiB of page cache, so that a long one seldom writes pages out in
/// between.
const BEGIN: &str = "PRAGMA cache_size = -24576; BEGIN IMMEDIATE";

pub(crate) struct SqliteStore {
    connection: Connection,
    path: PathBuf,
    /// What transactions are parts of at this moment.
    together: Option<Together>,
}

impl SqliteStore {
    fn begin(
        &mut self,
        how: &str,
        stamp: Option<&Stamp>,
        turn: Option<File>,
    ) -> Result<Box<dyn Transaction + '_>> {
        let (how, ends) = match (&self.together, stamp) {
            (Some(_), Some(_)) => ("SAVEPOINT part", PART),
            (Some(_), None) => ("", NOTHING),
            (None, _) => (how, WHOLE),
        };
        Ok(Box::new(SqliteTransaction {
            open: Open::begin(&self.connection, &self.path, how, ends, turn)?,
            is_part: self.together.is_some(),
            stamp: stamp.cloned(),
            operation: None,
            unwritten: RefCell::default(),
            unread: RefCell::default(),
        }))
    }
}

impl Store for SqliteStore {
    fn read(&mut self) -> Result<Box<dyn Transaction + '_>> {
        self.begin("BEGIN DEFERRED", None, None)
    }

    fn write(&mut self, stamp: &Stamp) -> Result<Box<dyn Transaction + '_>> {
        let turn = match self.together {
            Some(_) => None,
            None => turn(self.path.parent(), &self.path)?,
        };
        self.begin(BEGIN, Some(stamp), turn)
    }

    fn version(&self) -> Result<u64> {
        let mut statement = self
            .connection
            .prepare_cached("PRAGMA data_version")
            .at(&self.path)?;
        let version = statement.query_row((), |row| row.get::<_, i64>(0));
        version.at(&self.path).map(i64::unsigned_abs)
    }
}

struct SqliteTransaction<'a> {
    open: Open<'a>,
    is_part: bool,
    stamp: Option<Stamp>,
    /// Number of the operation, once something has been recorded under it.
    operation: Option<i64>,
    /// What it has changed of the graph and not written yet.
    unwritten: RefCell<Unwritten>,
    /// Tasks that the index of words lacks.
    unread: RefCell<BTreeSet<u32>>,
}

impl<'a> Deref for SqliteTransaction<'a> {
    type Target = Open<'a>;

    fn deref(&self) -> &Open<'a> {
        &self.open
    }
}

impl Transaction for SqliteTransaction<'_> {
    fn commit(mut self: Box<Self>) -> Result<()> {
        self.settle()?;
        self.read_words()?;
        self.open.commit()?;
        if !self.is_part {
            together::shorten_log(self.connection, self.path, together::LOG_BYTES);
        }
        Ok(())
    }
}

#[cfg(test)]
super::conformance::suite!(crate::store::conformance, |folder: &std::path::Path| {
    SqliteStore::create(&folder.join("cleo.db")).unwrap()
});
