//! The store in one SQLite file. Transactions are here, the SQL of each resource in its own file.

mod agency;
mod chains;
mod columns;
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

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use super::{Stamp, Store, Transaction};
use crate::error::Result;
pub(crate) use agency::SqliteAgency;
use nodes::Unwritten;
use open::{Open, PATIENCE, turn};
pub(crate) use opening::log_of;
use opening::pragma;
pub(crate) use place::{DatabaseFiles, check_place, open_to_others};

/// Begins a write transaction with 24 MiB of page cache, so that a long one seldom writes pages out in
/// between.
const BEGIN: &str = "PRAGMA cache_size = -24576; BEGIN IMMEDIATE";

/// Bytes of the write-ahead log before its pages go to the database file (64 pages). A process
/// that opens the store alone reads the whole log once, so it is kept short.
const LOG_BYTES: u64 = 64 * 4_120;

pub(crate) struct SqliteStore {
    connection: Connection,
    path: PathBuf,
}

impl SqliteStore {
    fn begin(
        &mut self,
        how: &str,
        stamp: Option<&Stamp>,
        turn: Option<File>,
    ) -> Result<Box<dyn Transaction + '_>> {
        Ok(Box::new(SqliteTransaction {
            open: Open::begin(&self.connection, &self.path, how, turn)?,
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
        let turn = turn(self.path.parent(), &self.path)?;
        self.begin(BEGIN, Some(stamp), turn)
    }

    fn version(&self) -> Result<u64> {
        pragma(&self.connection, &self.path, "data_version").map(i64::unsigned_abs)
    }
}

struct SqliteTransaction<'a> {
    open: Open<'a>,
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
    fn commit(mut self: Box<Self>) -> Result<Option<u64>> {
        self.settle()?;
        self.read_words()?;
        self.open.commit()?;
        shorten_log(self.connection, self.path);
        Ok(self.operation.map(i64::unsigned_abs))
    }
}

/// Empties a log that has grown long, unless somebody else is at work. What was committed is
/// durable already, so nothing depends on this succeeding. The automatic checkpoint would not
/// do: how far it came is forgotten when the last process leaves, and the log would only grow.
fn shorten_log(connection: &Connection, path: &Path) {
    if fs::metadata(log_of(path)).is_ok_and(|log| log.len() > LOG_BYTES) {
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let _ = connection.busy_timeout(Duration::ZERO);
        let _ = connection.query_row(checkpoint, (), |_| Ok(()));
        let _ = connection.busy_timeout(PATIENCE);
    }
}

#[cfg(test)]
super::conformance::suite!(crate::store::conformance, |folder: &Path| {
    SqliteStore::create(&folder.join("cleo.db")).unwrap()
});
