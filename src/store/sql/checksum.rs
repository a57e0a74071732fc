//! Checksums of rows. SQLite has none of its own, so a letter that a disk changes would be another answer.

use rusqlite::types::{ToSqlOutput, ValueRef};

use crate::task::Task;

/// Bytes of most rows.
const CAPACITY: usize = 2_000;

/// Returns the checksum of a task whose columns get these values.
pub(in crate::store) fn sum_values(task: &Task, values: &[ToSqlOutput<'_>]) -> u32 {
    let mut checksum = Checksum::new(task);
    for value in values {
        match value {
            ToSqlOutput::Borrowed(value) => checksum.add(*value),
            ToSqlOutput::Owned(value) => checksum.add(value.into()),
            _ => {}
        }
    }
    checksum.sum()
}

/// The bytes that a checksum is computed of.
pub(in crate::store) struct Checksum(Vec<u8>);

impl Default for Checksum {
    fn default() -> Checksum {
        Checksum(Vec::with_capacity(CAPACITY))
    }
}

impl Checksum {
    /// Begins the checksum of a task with what other tables hold of it.
    pub(in crate::store) fn new(task: &Task) -> Checksum {
        let mut checksum = Checksum::default();
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

    pub(in crate::store) fn add(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => self.0.push(0),
            ValueRef::Integer(number) => self.0.extend_from_slice(&number.to_le_bytes()),
            // Zero loses its sign in the database.
            ValueRef::Real(number) => self.0.extend_from_slice(&(number + 0.0).to_le_bytes()),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                self.0.extend_from_slice(bytes);
                self.0.push(1);
            }
        }
    }

    pub(in crate::store) fn sum(&self) -> u32 {
        crc32fast::hash(&self.0)
    }
}
