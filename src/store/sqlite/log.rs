//! SQL of the log: one operation for each transaction that changes something.

use super::SqliteTransaction;
use super::tasks::from_json;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::store::{Change, Log, Recorded};

impl Log for SqliteTransaction<'_> {
    fn record(&mut self, change: &Change) -> Result<()> {
        let operation = self.operation()?;
        let sql = "INSERT INTO changes (operation, kind, task, detail) VALUES (?1, ?2, ?3, ?4)";
        let task = change.task.map(|id| id.0);
        self.run(
            sql,
            (operation, &change.kind, task, change.detail.to_string()),
        )?;
        Ok(())
    }

    fn changes(&self, cursor: u64, limit: u32) -> Result<Vec<Recorded>> {
        let sql = "SELECT c.sequence, c.operation, o.at, o.by, o.command, c.kind, c.task, c.detail
                   FROM changes c JOIN operations o ON o.number = c.operation
                   WHERE c.sequence > ?1 ORDER BY c.sequence LIMIT ?2";
        let cursor = i64::try_from(cursor).unwrap_or(i64::MAX);
        self.all(sql, (cursor, limit), |row| {
            Ok(Recorded {
                cursor: row.get::<_, i64>(0)?.unsigned_abs(),
                operation: row.get::<_, i64>(1)?.unsigned_abs(),
                at: row.get(2)?,
                by: row.get(3)?,
                command: row.get(4)?,
                change: Change {
                    kind: row.get(5)?,
                    task: row.get::<_, Option<u32>>(6)?.map(TaskId),
                    detail: from_json(row, 7)?,
                },
            })
        })
    }
}

impl SqliteTransaction<'_> {
    /// Returns the number of the operation of this transaction; the first change begins it.
    fn operation(&mut self) -> Result<i64> {
        if let Some(number) = self.operation {
            return Ok(number);
        }
        let stamp = self.stamp.as_ref().ok_or_else(|| {
            Error::new(
                Code::Internal,
                "a transaction that only reads wanted to write",
            )
        })?;
        let sql = "INSERT INTO operations (at, by, command) VALUES (?1, ?2, ?3)";
        self.run(sql, (&stamp.at, &stamp.by, stamp.command))?;
        let number = self.connection.last_insert_rowid();
        self.operation = Some(number);
        Ok(number)
    }
}
