//! SQL of the log: one operation for each transaction that changes something.

use super::SqlTransaction;
use super::columns::{
    NUMBER_MAX, from_json, json, next, refuse_deep, require_unchanged, to_signed, to_unsigned,
};
use super::row::Row;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::store::log::{ADDED, CLAIMS, UNDOABLE};
use crate::store::{Change, Log, Operation, OperationFilter, Recorded, Stamp};

/// The query of changes, in the order in which [`read`] takes its columns.
pub(in crate::store) const CHANGES: &str =
    "SELECT c.sequence, c.operation, o.at, o.by, o.command, c.kind, c.task, c.detail,
        c.sum = checksum(c.operation, c.kind, c.task, c.detail)
            AND o.sum = checksum(o.at, o.by, o.command, o.first, o.undoes, o.undone_by) AS checksum
    FROM changes c JOIN operations o ON o.number = c.operation";

pub(in crate::store) const OPERATION_SUM: &str =
    "sum = checksum(at, by, command, first, undoes, undone_by)";
pub(in crate::store) const CHANGE_SUM: &str = "sum = checksum(operation, kind, task, detail)";

/// The condition that a change is one of an operation: from its first up to that of the next operation.
macro_rules! within {
    () => {
        "c.operation = o.number AND c.sequence >= o.first AND c.sequence < coalesce(
            (SELECT first FROM operations WHERE number = o.number + 1), 9223372036854775807)"
    };
}

/// The number comes first, so that a damaged row has a name.
const OPERATION: &str = concat!(
    "SELECT o.number, o.at, o.by, o.command, o.undoes, o.undone_by,
        (SELECT count(*) FROM changes c WHERE ",
    within!(),
    "),
        o.sum = checksum(o.at, o.by, o.command, o.first, o.undoes, o.undone_by) AS checksum
    FROM operations o"
);

const FITTING: &str = "(CAST(:since AS TEXT) IS NULL OR o.at >= :since)
    AND (CAST(:before AS BIGINT) IS NULL OR o.number < :before)";

impl Log for SqlTransaction<'_> {
    fn record(&mut self, change: &Change) -> Result<()> {
        self.insert_change(&change.kind, change.task, &json(&change.detail))
    }

    fn begin_operation(&mut self, stamp: &Stamp) -> Result<u64> {
        self.stamp = Some(stamp.clone());
        let Some(last) = self.operation.take() else {
            return self.current_operation().map(i64::unsigned_abs);
        };
        // No other writer numbers operations meanwhile.
        let number = last + 1;
        let sql = "INSERT INTO operations
            VALUES (?1, ?2, ?3, ?4, ?5, NULL, NULL, checksum(?2, ?3, ?4, ?5, NULL, NULL))";
        let row = (
            number,
            &stamp.at,
            &stamp.by,
            stamp.command,
            self.next_change,
        );
        self.execute(sql, row)?;
        self.operation = Some(number);
        Ok(number.unsigned_abs())
    }

    fn note_undone(&mut self, operation: u64) -> Result<u64> {
        let own = self.current_operation()?;
        self.execute(
            "UPDATE operations SET undoes = ?2, sum = checksum(at, by, command, first, ?2, undone_by)
             WHERE number = ?1",
            (own, to_signed(operation)),
        )?;
        // An operation whose undo is undone holds again, and so on down the chain.
        let (mut undo, mut undone) = (Some(own), Some(to_signed(operation)));
        while let Some(number) = undone {
            let sql = "UPDATE operations SET undone_by = ?2,
                           sum = checksum(at, by, command, first, undoes, ?2)
                       WHERE number = ?1 RETURNING undoes";
            let next = self.first(sql, (number, undo), |row| row.get::<Option<i64>>(0))?;
            undo = undo.is_none().then_some(number);
            // In a damaged log it may go round in a circle.
            undone = next.flatten().filter(|next| *next < number);
        }
        Ok(own.unsigned_abs())
    }

    fn changes(&self, cursor: u64, task: Option<TaskId>, limit: u32) -> Result<Vec<Recorded>> {
        let place = match task {
            Some(_) => "c.task = ?3 AND c.sequence > ?1",
            None => "c.sequence > ?1 AND CAST(?3 AS BIGINT) IS NULL",
        };
        let sql = format!("{CHANGES} WHERE {place} ORDER BY c.sequence LIMIT ?2");
        let task = task.map(|id| id.0);
        self.all(&sql, (to_signed(cursor), limit, task), read)
    }

    fn changes_of(&self, operation: u64, limit: u32) -> Result<Vec<Recorded>> {
        let within = within!();
        let sql =
            format!("{CHANGES} WHERE o.number = ?1 AND {within} ORDER BY c.sequence LIMIT ?2");
        self.all(&sql, (to_signed(operation), limit), read)
    }

    fn last_cursor(&self) -> Result<u64> {
        self.count("SELECT max(sequence) FROM changes", ())
    }

    fn operations(&self, filter: &OperationFilter) -> Result<(Vec<Operation>, u64)> {
        let from = match filter.task {
            Some(_) => {
                "operations o WHERE o.number IN (SELECT operation FROM changes WHERE task = :task)"
            }
            None => "operations o WHERE CAST(:task AS BIGINT) IS NULL",
        };
        let (task, before) = (filter.task.map(|id| id.0), filter.before.map(to_signed));
        let fitting = (task, &filter.since, before);
        let limit = filter.limit.map_or(i64::MAX, i64::from);
        let numbers = format!(
            "SELECT o.number FROM {from} AND {FITTING} ORDER BY o.number DESC LIMIT {limit}"
        );
        let sql = format!("{OPERATION} WHERE o.number IN ({numbers}) ORDER BY o.number DESC");
        let operations = self.all(&sql, fitting, read_operation)?;
        let sql = format!("SELECT count(*) FROM {from} AND {FITTING}");
        Ok((operations, self.count(&sql, fitting)?))
    }

    fn operation(&self, number: u64) -> Result<Option<Operation>> {
        let sql = format!("{OPERATION} WHERE o.number = ?1");
        self.first(&sql, [to_signed(number)], read_operation)
    }

    fn latest_undoable(&self, by: &str) -> Result<Option<Operation>> {
        let of_kinds = |kinds: &[&str]| {
            let (within, kinds) = (within!(), kinds.join("', '"));
            format!("EXISTS (SELECT 1 FROM changes c WHERE {within} AND c.kind IN ('{kinds}'))")
        };
        let (of_tasks, of_claims, within) = (of_kinds(&UNDOABLE), of_kinds(&CLAIMS), within!());
        let sql = format!(
            "{OPERATION} WHERE o.by = ?1 AND o.number < 1 << 53 AND o.undoes IS NULL
                 AND o.undone_by IS NULL AND {of_tasks} AND NOT {of_claims}
                 AND NOT EXISTS (SELECT 1 FROM changes c WHERE {within} AND c.kind = '{ADDED}'
                     AND (c.task IN (SELECT task FROM spawns) OR c.task IN (SELECT task FROM gates)))
             ORDER BY o.number DESC LIMIT 1"
        );
        self.first(&sql, [by], read_operation)
    }

    fn latest_change(&self, task: TaskId, after: u64) -> Result<Option<Operation>> {
        let kinds = UNDOABLE.join("', '");
        let sql = format!(
            "{OPERATION} JOIN changes c ON c.operation = o.number
             WHERE c.task = ?1 AND o.number > ?2 AND o.number < 1 << 53 AND c.kind IN ('{kinds}')
                 AND o.undone_by IS NULL AND (o.undoes IS NULL OR o.undoes < ?2)
             ORDER BY c.sequence DESC LIMIT 1"
        );
        self.first(&sql, (task.0, to_signed(after)), read_operation)
    }
}

impl SqlTransaction<'_> {
    pub(in crate::store) fn insert_change(
        &mut self,
        kind: &str,
        task: Option<TaskId>,
        detail: &str,
    ) -> Result<()> {
        refuse_deep(detail)?;
        let operation = self.current_operation()?;
        let sql = "INSERT INTO changes VALUES (?5, ?1, ?2, ?3, ?4, checksum(?1, ?2, ?3, ?4))";
        let row = (
            operation,
            kind,
            task.map(|id| id.0),
            detail,
            self.next_change,
        );
        self.execute(sql, row)?;
        self.next_change += 1;
        Ok(())
    }

    /// Returns the number of the operation of this transaction; the first change begins it.
    fn current_operation(&mut self) -> Result<i64> {
        if let Some(number) = self.operation {
            return Ok(number);
        }
        let stamp = self.stamp.as_ref().ok_or_else(|| {
            Error::new(
                Code::Internal,
                "a transaction without a stamp cannot change tasks",
            )
        })?;
        let next = concat!("SELECT ", next!("changes", "sequence"));
        let first = to_signed(self.count(next, ())?);
        let sql = concat!(
            "INSERT INTO operations VALUES (",
            next!("operations", "number"),
            ", ?1, ?2, ?3, ?4, NULL, NULL, checksum(?1, ?2, ?3, ?4, NULL, NULL))"
        );
        let number = self.insert_numbered(sql, (&stamp.at, &stamp.by, stamp.command, first))?;
        (self.operation, self.next_change) = (Some(number), first);
        Ok(number)
    }
}

fn read_operation(row: &Row<'_>) -> rusqlite::Result<Operation> {
    require_unchanged(row, 7)?;
    let number = to_unsigned(row, 0)?;
    if number >= NUMBER_MAX {
        return Err(rusqlite::Error::IntegralValueOutOfRange(
            0,
            to_signed(number),
        ));
    }
    Ok(Operation {
        number,
        at: row.get(1)?,
        by: row.get(2)?,
        command: row.get(3)?,
        undoes: row.get::<Option<i64>>(4)?.map(i64::unsigned_abs),
        undone_by: row.get::<Option<i64>>(5)?.map(i64::unsigned_abs),
        changes: to_unsigned(row, 6)?,
    })
}

pub(in crate::store) fn read(row: &Row<'_>) -> rusqlite::Result<Recorded> {
    require_unchanged(row, 8)?;
    Ok(Recorded {
        cursor: to_unsigned(row, 0)?,
        operation: to_unsigned(row, 1)?,
        at: row.get(2)?,
        by: row.get(3)?,
        command: row.get(4)?,
        change: Change {
            kind: row.get(5)?,
            task: row.get::<Option<u32>>(6)?.map(TaskId),
            detail: from_json(row, 7)?,
        },
    })
}
