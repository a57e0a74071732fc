//! The checksum of the row of a task. SQLite has none of its own, so a letter that a disk changes would be another answer.

use std::ops::Range;

use rusqlite::Row;
use rusqlite::types::{ToSqlOutput, ValueRef};

use crate::task::Task;

/// Returns the checksum of a task whose columns get these values.
pub(super) fn sum_values(task: &Task, values: &[ToSqlOutput<'_>]) -> u32 {
    let mut checksum = Checksum::new(task);
    for value in values {
        match value {
            ToSqlOutput::Borrowed(value) => checksum.add(*value),
            ToSqlOutput::Owned(value) => checksum.add(value.into()),
            _ => {}
        }
    }
    checksum.0.finalize()
}

/// Returns the checksum of a task that was read from a row with these columns.
pub(super) fn sum_row(task: &Task, row: &Row<'_>, columns: Range<usize>) -> rusqlite::Result<u32> {
    let mut checksum = Checksum::new(task);
    for column in columns {
        checksum.add(row.get_ref(column)?);
    }
    Ok(checksum.0.finalize())
}

/// The checksum of a task and of what other tables hold of it.
struct Checksum(crc32fast::Hasher);

impl Checksum {
    fn new(task: &Task) -> Checksum {
        let mut checksum = Checksum(crc32fast::Hasher::new());
        checksum.add(ValueRef::Integer(task.id.0.into()));
        checksum.add(task.uid.as_str().into());
        for need in &task.depends {
            checksum.add(ValueRef::Integer(need.0.into()));
        }
        for label in &task.labels {
            checksum.add(label.as_str().into());
        }
        checksum
    }

    fn add(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => self.0.update(&[0]),
            ValueRef::Integer(number) => self.0.update(&number.to_le_bytes()),
            // Zero loses its sign in the database.
            ValueRef::Real(number) => self.0.update(&(number + 0.0).to_le_bytes()),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                self.0.update(bytes);
                self.0.update(&[1]);
            }
        }
    }
}
