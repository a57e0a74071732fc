//! The store in one SQLite file. Transactions are here, the SQL of each resource in its own file.

mod agency;
mod bases;
mod claims;
mod faults;
mod gates;
mod graph;
mod health;
mod links;
mod list;
mod log;
mod opening;
mod overview;
mod phases;
mod query;
mod sessions;
mod spawns;
mod suggestions;
mod tasks;
mod verifications;
mod words;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, Row};

use super::{Stamp, Store, Transaction};
use crate::error::Result;
use crate::file::lock_in_turn;
pub use agency::SqliteAgency;
use faults::Faults;
pub use health::StaleClaim;
pub use opening::log_of;

/// How long a writer waits for another one.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes of the write-ahead log before its pages go to the database file (64 pages). A process
/// that opens the store alone reads the whole log once, so it is kept short.
const LOG_BYTES: u64 = 64 * 4_120;

/// How much of the database a writer holds in memory, in KiB. What a long transaction changes again
/// and again is then seldom written out in between; a short one never needs so much.
const CACHE_KIB: u32 = 24 * 1024;

/// A store in one SQLite file.
pub struct SqliteStore {
    connection: Connection,
    path: PathBuf,
}

impl SqliteStore {
    /// Waits until it is this writer's turn; none where that cannot be told. Only the order depends
    /// on it, so that none of many waits for ever: that one writes at a time is SQLite's business.
    fn turn(&self) -> Result<Option<File>> {
        let folder = self.path.parent().map(File::open);
        let Some(Ok(folder)) = folder else {
            return Ok(None);
        };
        match lock_in_turn(folder, PATIENCE) {
            Ok(None) => Err(faults::busy(&self.path)),
            Ok(turn) => Ok(turn),
            Err(_) => Ok(None),
        }
    }

    fn begin(
        &mut self,
        how: &str,
        stamp: Option<&Stamp>,
        turn: Option<File>,
    ) -> Result<Box<dyn Transaction + '_>> {
        self.connection.execute_batch(how).at(&self.path)?;
        Ok(Box::new(SqliteTransaction {
            connection: &self.connection,
            path: &self.path,
            open: true,
            stamp: stamp.cloned(),
            operation: None,
            _turn: turn,
            unsettled: RefCell::default(),
            unread: RefCell::default(),
        }))
    }
}

impl Store for SqliteStore {
    fn read(&mut self) -> Result<Box<dyn Transaction + '_>> {
        self.begin("BEGIN DEFERRED", None, None)
    }

    fn write(&mut self, stamp: &Stamp) -> Result<Box<dyn Transaction + '_>> {
        let turn = self.turn()?;
        let begin = format!("PRAGMA cache_size = -{CACHE_KIB}; BEGIN IMMEDIATE");
        self.begin(&begin, Some(stamp), turn)
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

/// An open transaction; dropped without commit, it is rolled back.
struct SqliteTransaction<'a> {
    connection: &'a Connection,
    path: &'a Path,
    open: bool,
    stamp: Option<Stamp>,
    /// Number of the operation, once something has been recorded under it.
    operation: Option<i64>,
    /// The lock by which writers wait in turn, given back when all is over.
    _turn: Option<File>,
    /// Tasks whose `below` may no longer be right.
    unsettled: RefCell<BTreeSet<u32>>,
    /// Tasks that the index of words lacks.
    unread: RefCell<BTreeSet<u32>>,
}

impl SqliteTransaction<'_> {
    /// Runs a query and reads every row.
    fn all<T>(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        query::all(self.connection, self.path, sql, parameters, read)
    }

    /// Runs a query and reads its first row, if there is one.
    fn first<T>(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        query::first(self.connection, self.path, sql, parameters, read)
    }

    /// Runs a statement and returns how many rows it changed.
    fn run(&self, sql: &str, parameters: impl rusqlite::Params) -> Result<usize> {
        query::run(self.connection, self.path, sql, parameters)
    }
}

impl Transaction for SqliteTransaction<'_> {
    fn commit(mut self: Box<Self>) -> Result<()> {
        self.settle()?;
        self.read_words()?;
        self.connection.execute_batch("COMMIT").at(self.path)?;
        self.open = false;
        self.shorten_log();
        Ok(())
    }
}

impl SqliteTransaction<'_> {
    /// Empties a log that has grown long, unless somebody else is at work. What was committed is
    /// durable already, so nothing depends on this succeeding. The automatic checkpoint would not
    /// do: how far it came is forgotten when the last process leaves, and the log would only grow.
    fn shorten_log(&self) {
        let mut log = self.path.as_os_str().to_os_string();
        log.push("-wal");
        if std::fs::metadata(log).is_ok_and(|log| log.len() > LOG_BYTES) {
            let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
            let _ = self.connection.busy_timeout(Duration::ZERO);
            let _ = self.connection.query_row(checkpoint, (), |_| Ok(()));
            let _ = self.connection.busy_timeout(PATIENCE);
        }
    }
}

impl Drop for SqliteTransaction<'_> {
    fn drop(&mut self) {
        if self.open {
            // A failed rollback leaves nothing behind either: the connection ends with the process.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }
}

#[cfg(test)]
super::conformance::suite!(|folder: &Path| SqliteStore::create(&folder.join("cleo.db")).unwrap());
