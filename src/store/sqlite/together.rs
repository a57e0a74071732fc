//! Groups transactions into one disk synchronization, and bounds the write-ahead log.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::faults::Faults;
use super::open::{PATIENCE, turn};
use super::{BEGIN, SqliteStore, log_of};
use crate::error::Result;

/// Size of the write-ahead log in bytes after which it is moved to the database file (64 pages). A process
/// that opens the store alone reads the whole log, so it is kept short.
pub(super) const LOG_BYTES: u64 = 64 * 4_120;
/// The same while one process writes again and again (1,000 pages).
const LONG_LOG_BYTES: u64 = 1_000 * 4_120;

pub(super) struct Together {
    /// The lock by which writers wait in turn.
    _turn: Option<File>,
}

impl SqliteStore {
    /// Makes all transactions up to [`SqliteStore::end_together`] parts of one. A failed part is rolled back
    /// alone. The lock is held meanwhile, so the caller must not wait for anything.
    pub(crate) fn begin_together(&mut self) -> Result<()> {
        let turn = turn(self.path.parent(), &self.path)?;
        // What a part would need to be undone is not worth a file.
        let begin = format!("PRAGMA temp_store = MEMORY; {BEGIN}");
        self.connection.execute_batch(&begin).at(&self.path)?;
        self.together = Some(Together { _turn: turn });
        Ok(())
    }

    /// Commits the parts, or rolls all back. The log may grow long; [`SqliteStore::shorten_log`] shortens it.
    pub(crate) fn end_together(&mut self, keep: bool) -> Result<()> {
        let turn = self.together.take();
        let kept = match keep {
            true => self.connection.execute_batch("COMMIT").at(&self.path),
            false => Ok(()),
        };
        if !keep || kept.is_err() {
            // A failed rollback leaves nothing behind either: the connection ends with the process.
            let _ = self.connection.execute_batch("ROLLBACK");
            return kept;
        }
        shorten_log(&self.connection, &self.path, LONG_LOG_BYTES);
        drop(turn);
        Ok(())
    }

    /// Makes the log short for who opens the store next, unless somebody else is at work.
    pub(crate) fn shorten_log(&self) {
        shorten_log(&self.connection, &self.path, LOG_BYTES);
    }
}

/// Checkpoints and truncates a long log unless others use it. Failure is harmless: commits are durable
/// already. The automatic checkpoint does not do, because its progress is forgotten when the last process
/// exits, and the log would only grow.
pub(super) fn shorten_log(connection: &Connection, path: &Path, limit: u64) {
    if fs::metadata(log_of(path)).is_ok_and(|log| log.len() > limit) {
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let _ = connection.busy_timeout(Duration::ZERO);
        let _ = connection.query_row(checkpoint, (), |_| Ok(()));
        let _ = connection.busy_timeout(PATIENCE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::TaskId;
    use crate::store::{Stamp, Store};
    use crate::task::Task;

    fn stamp() -> Stamp {
        Stamp {
            command: "test",
            at: "2026-01-26T09:00:00.000Z".to_string(),
            by: "tester".to_string(),
        }
    }

    fn add(store: &mut SqliteStore, keep: bool) {
        let mut transaction = store.write(&stamp()).unwrap();
        let id = transaction.next_id().unwrap();
        let task = Task::new(id, "A task", "2026-01-26T09:00:00.000Z");
        transaction.put(&task).unwrap();
        if keep {
            transaction.commit().unwrap();
        }
    }

    fn tasks(store: &mut SqliteStore) -> usize {
        let transaction = store.read().unwrap();
        transaction.tasks_after(TaskId(0), 100).unwrap().len()
    }

    #[test]
    fn parts_count_together_and_a_part_that_fails_is_undone_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cleo.db");
        let mut store = SqliteStore::create(&path).unwrap();
        let mut other = SqliteStore::open(&path).unwrap();
        for (keep, expected) in [(true, 2), (false, 2), (true, 4)] {
            let before = tasks(&mut other);
            store.begin_together().unwrap();
            add(&mut store, true);
            add(&mut store, false);
            add(&mut store, true);
            assert_eq!(tasks(&mut store), before + 2);
            assert_eq!(tasks(&mut other), before, "nobody sees a part");
            store.end_together(keep).unwrap();
            assert_eq!(tasks(&mut other), expected);
        }
        add(&mut store, true);
        assert_eq!(tasks(&mut other), 5);
    }

    #[test]
    fn a_log_that_grew_long_is_made_short_in_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cleo.db");
        let mut store = SqliteStore::create(&path).unwrap();
        for _ in 0..50 {
            store.begin_together().unwrap();
            add(&mut store, true);
            store.end_together(true).unwrap();
        }
        let length = || fs::metadata(log_of(&path)).unwrap().len();
        assert!(length() > LOG_BYTES);
        store.shorten_log();
        assert_eq!(length(), 0);
    }
}
