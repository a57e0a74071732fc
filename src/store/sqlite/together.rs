//! Transactions that become durable together, by one synchronization of the disk; and how long the
//! write-ahead log may grow.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::faults::Faults;
use super::open::{PATIENCE, turn};
use super::{BEGIN, SqliteStore, log_of};
use crate::error::Result;

/// Bytes of the write-ahead log before its pages go to the database file (64 pages). A process
/// that opens the store alone reads the whole log once, so it is kept short.
pub(super) const LOG_BYTES: u64 = 64 * 4_120;
/// The same while one process writes again and again (1,000 pages).
const LONG_LOG_BYTES: u64 = 1_000 * 4_120;

pub(super) struct Together {
    /// The lock by which writers wait in turn.
    _turn: Option<File>,
}

impl SqliteStore {
    /// Has all transactions up to [`SqliteStore::end_together`] be parts of one. A part that fails is
    /// undone alone. Nobody else writes meanwhile, so nothing may be waited for.
    pub(crate) fn begin_together(&mut self) -> Result<()> {
        let turn = turn(self.path.parent(), &self.path)?;
        // What a part would need to be undone is not worth a file.
        let begin = format!("PRAGMA temp_store = MEMORY; {BEGIN}");
        self.connection.execute_batch(&begin).at(&self.path)?;
        self.together = Some(Together { _turn: turn });
        Ok(())
    }

    /// Makes what the parts did durable, or undoes it all. The log may grow long; when the process does
    /// not write any more, [`SqliteStore::shorten_log`] makes it short again.
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

/// Empties a log that has grown long, unless somebody else is at work. What was committed is
/// durable already, so nothing depends on this succeeding. The automatic checkpoint would not
/// do: how far it came is forgotten when the last process leaves, and the log would only grow.
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
