//! The store in one SQLite file.

mod damaged;
mod health;
mod last;
mod opening;
mod place;
mod repair;

use std::cell::{Cell, RefCell};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use super::sql::faults::{self, Faults};
use super::sql::queries::Link;
use super::sql::{Backend, SqlTransaction};
use super::{Stamp, Store, Transaction};
use crate::error::Result;
use crate::file::lock_in_turn;
use opening::{HOLDS_AGENTS, VERSION, log_of, pragma};
use place::DatabaseFiles;
pub(crate) use place::check_place;

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
    pub(super) fn begin_write(&self, stamp: Option<&Stamp>) -> Result<SqlTransaction<'_>> {
        let folder = self.path.parent().map(File::open);
        let turn = match folder.and_then(|folder| lock_in_turn(folder.ok()?, PATIENCE).ok()) {
            Some(None) => return Err(faults::busy(&self.path)),
            // Where locking fails, the order is not fair.
            turn => turn.flatten(),
        };
        self.files.require_unchanged(&self.path)?;
        self.begin(BEGIN, stamp, turn)
    }

    pub(super) fn begin_read(&self) -> Result<SqlTransaction<'_>> {
        self.begin("BEGIN DEFERRED", None, None)
    }

    fn begin(
        &self,
        how: &str,
        stamp: Option<&Stamp>,
        turn: Option<File>,
    ) -> Result<SqlTransaction<'_>> {
        self.connection.execute_batch(how).at(&self.path)?;
        let link = Link::Sqlite {
            connection: &self.connection,
            path: &self.path,
            statements: RefCell::default(),
        };
        Ok(SqlTransaction::new(self, link, stamp, turn))
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
        Ok(Box::new(self.begin_read()?))
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

impl Backend for SqliteStore {
    fn commit(&self) -> Result<()> {
        self.connection.execute_batch("COMMIT").at(&self.path)?;
        self.commits.set(self.commits.get().saturating_add(1));
        let most = match self.commits.get() {
            ..=FEW_COMMITS => LOG_BYTES,
            _ => LONG_LOG_BYTES,
        };
        shorten_log(&self.connection, &self.path, most);
        last::note_commit(&self.connection, &self.path);
        Ok(())
    }

    fn roll_back(&self) {
        let _ = self.connection.execute_batch("ROLLBACK");
    }

    fn note_agents(&self) -> Result<()> {
        let sql = format!("PRAGMA user_version = {}", VERSION | HOLDS_AGENTS);
        self.connection.execute_batch(&sql).at(&self.path)
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
    fn nul_in_text_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = SqliteStore::create(&folder.path().join("cleo.db")).unwrap();
        let stamp = Stamp {
            command: "test",
            at: String::new(),
            by: String::new(),
        };
        let task = crate::store::conformance::task(1, "a\0b");
        let mut transaction = store.write(&stamp).unwrap();
        transaction.insert(&task).unwrap();
        transaction.commit().unwrap();
        let kept = store.read().unwrap().task(task.id).unwrap();
        assert_eq!(kept.unwrap().title, "a\0b");
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
