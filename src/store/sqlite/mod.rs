//! The store in one SQLite file. Transactions are here, the SQL of each resource in its own file.

mod agents;
mod chains;
mod chat;
mod checksum;
mod columns;
mod conversations;
mod damaged;
mod faults;
mod graph;
mod health;
mod kept;
mod last;
mod list;
mod log;
mod nodes;
mod opening;
mod overview;
mod place;
mod queries;
mod records;
mod repair;
mod runs;
mod tasks;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use super::{Stamp, Store, Transaction};
use crate::error::Result;
use crate::file::lock_in_turn;
use faults::Faults;
use nodes::Unwritten;
use opening::{log_of, pragma};
use place::DatabaseFiles;
pub(crate) use place::check_place;
use queries::Statements;

/// Timeout for other writers.
const PATIENCE: Duration = Duration::from_secs(30);

/// Begins a write transaction with 24 MiB of page cache, so that a long one seldom writes pages out in
/// between.
const BEGIN: &str = "PRAGMA cache_size = -24576; BEGIN IMMEDIATE";

/// Bytes of the write-ahead log before its pages go to the database file (64 pages). A process
/// that opens the store alone reads the whole log once, so it is kept short.
const LOG_BYTES: u64 = 64 * 4_120;
/// The same for a process that writes much (1,000 pages): moving pages costs more than writing them.
const LONG_LOG_BYTES: u64 = 1_000 * 4_120;
/// Maximum number of transactions of a command that writes little.
const FEW_COMMITS: u32 = 10;

pub(crate) struct SqliteStore {
    connection: Connection,
    path: PathBuf,
    /// The files as they were when they were opened.
    files: DatabaseFiles,
    commits: Cell<u32>,
}

impl SqliteStore {
    /// Begins a write transaction after a wait for the lock on the folder, by which writers take turns; SQLite itself
    /// excludes other writers. A store whose files were replaced meanwhile is refused: what is written there would be
    /// lost.
    fn begin_write(&self, stamp: Option<&Stamp>) -> Result<SqliteTransaction<'_>> {
        let folder = self.path.parent().map(File::open);
        let turn = match folder.and_then(|folder| lock_in_turn(folder.ok()?, PATIENCE).ok()) {
            Some(None) => return Err(faults::busy(&self.path)),
            // Where locking fails, the order is not fair.
            turn => turn.flatten(),
        };
        self.files.require_unchanged(&self.path)?;
        self.begin(BEGIN, stamp, turn)
    }

    fn begin(
        &self,
        how: &str,
        stamp: Option<&Stamp>,
        turn: Option<File>,
    ) -> Result<SqliteTransaction<'_>> {
        self.connection.execute_batch(how).at(&self.path)?;
        Ok(SqliteTransaction {
            connection: &self.connection,
            path: &self.path,
            is_open: true,
            statements: RefCell::default(),
            _turn: turn,
            commits: &self.commits,
            stamp: stamp.cloned(),
            operation: None,
            next_change: 0,
            unwritten: RefCell::default(),
            unread: RefCell::default(),
        })
    }
}

impl Drop for SqliteStore {
    /// Leaves a short log to later processes.
    fn drop(&mut self) {
        if self.commits.get() > FEW_COMMITS {
            shorten_log(&self.connection, &self.path, LOG_BYTES);
        }
    }
}

impl Store for SqliteStore {
    fn read(&mut self) -> Result<Box<dyn Transaction + '_>> {
        Ok(Box::new(self.begin("BEGIN DEFERRED", None, None)?))
    }

    fn write(&mut self, stamp: &Stamp) -> Result<Box<dyn Transaction + '_>> {
        Ok(Box::new(self.begin_write(Some(stamp))?))
    }

    fn write_records(&mut self) -> Result<Box<dyn Transaction + '_>> {
        Ok(Box::new(self.begin_write(None)?))
    }

    fn version(&self) -> Result<u64> {
        pragma(&self.connection, &self.path, "data_version").map(i64::unsigned_abs)
    }
}

/// An open transaction; dropped without commit, it is rolled back.
struct SqliteTransaction<'a> {
    connection: &'a Connection,
    path: &'a Path,
    is_open: bool,
    statements: Statements<'a>,
    /// The lock by which writers wait in turn.
    _turn: Option<File>,
    /// Number of transactions that its store has committed.
    commits: &'a Cell<u32>,
    stamp: Option<Stamp>,
    /// Number of the operation, once something has been recorded under it.
    operation: Option<i64>,
    next_change: i64,
    /// Changes of the graph that are not written yet.
    unwritten: RefCell<Unwritten>,
    /// Tasks that the index of words lacks.
    unread: RefCell<BTreeSet<u32>>,
}

impl Transaction for SqliteTransaction<'_> {
    fn commit(mut self: Box<Self>) -> Result<Option<u64>> {
        self.settle_chains()?;
        self.read_words()?;
        self.connection.execute_batch("COMMIT").at(self.path)?;
        self.is_open = false;
        self.commits.set(self.commits.get().saturating_add(1));
        let most = match self.commits.get() {
            ..=FEW_COMMITS => LOG_BYTES,
            _ => LONG_LOG_BYTES,
        };
        shorten_log(self.connection, self.path, most);
        last::note_commit(self.connection, self.path);
        Ok(self.operation.map(i64::unsigned_abs))
    }
}

impl Drop for SqliteTransaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // After a failed rollback the transaction ends with the connection.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }
}

/// Empties a long log, unless another process uses it. Commits are durable already, so this may fail. The automatic
/// checkpoint of SQLite is not enough: its progress is lost when the last process ends, and the log would only grow.
fn shorten_log(connection: &Connection, path: &Path, most: u64) {
    if fs::metadata(log_of(path)).is_ok_and(|log| log.len() > most) {
        last::forget_commit(path);
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let _ = connection.busy_timeout(Duration::ZERO);
        let _ = connection.query_row(checkpoint, (), |_| Ok(()));
        let _ = connection.busy_timeout(PATIENCE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conforms() {
        for rule in crate::store::conformance::RULES {
            let folder = tempfile::tempdir().unwrap();
            rule(&mut SqliteStore::create(&folder.path().join("cleo.db")).unwrap());
        }
    }

    #[test]
    fn log_is_short_after_many_commits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cleo.db");
        let mut store = SqliteStore::create(&path).unwrap();
        let detail =
            crate::run::Detail::from_iter([("text".to_string(), "x".repeat(9_000).into())]);
        for _ in 0..100 {
            let mut transaction = store.write_records().unwrap();
            transaction
                .add_event("r", "t", "k", detail.clone())
                .unwrap();
            transaction.commit().unwrap();
        }
        let length = || fs::metadata(log_of(&path)).unwrap().len();
        assert!((LOG_BYTES..2 * LONG_LOG_BYTES).contains(&length()));
        drop(store);
        assert_eq!(length(), 0);
    }

    #[test]
    fn replaced_database_is_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cleo.db");
        let mut store = SqliteStore::create(&path).unwrap();
        store.write_records().unwrap().commit().unwrap();
        fs::rename(&path, folder.path().join("old.db")).unwrap();
        drop(SqliteStore::create(&path).unwrap());
        let refused = store.write_records().err().unwrap();
        assert_eq!(refused.code, crate::error::Code::StoreCorrupt);
    }
}
