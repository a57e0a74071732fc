//! Columns of rows: JSON, ids and words, written and read.

use rusqlite::Row;
use rusqlite::types::{ToSqlOutput, Value as SqlValue, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::checksum::Checksum;
use crate::document;
use crate::error::{Code, Error, Result};
use crate::id::{self, TaskId};
use crate::task::{Priority, Size, Status, Task, TaskType};

/// How deep the JSON of a column may be nested: readers stop at 128 levels.
const STORED_NESTING_MAX: usize = 100;

pub(super) fn refuse_deep(json: &str) -> Result<()> {
    if document::nesting(json) <= STORED_NESTING_MAX {
        return Ok(());
    }
    let message = format!(
        "a value is nested more than {STORED_NESTING_MAX} levels deep, so it could not be read again"
    );
    Err(Error::new(Code::InputInvalid, message))
}

/// Joins the conditions that have a value, for which each has a `?`.
pub(super) fn all_of<const N: usize>(
    conditions: [(&str, Option<String>); N],
) -> (String, Vec<rusqlite::types::Value>) {
    let given = conditions
        .into_iter()
        .filter_map(|(sql, value)| Some((sql, value?.into())));
    let (parts, values): (Vec<&str>, _) = given.unzip();
    match parts.is_empty() {
        true => ("1".to_string(), values),
        false => (parts.join(" AND "), values),
    }
}

pub(super) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_string())
}

/// Numbers of the database have a sign; ours stay far below its limit.
pub(super) fn to_signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn to_unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::unsigned_abs)
}

pub(super) fn read_id(row: &Row<'_>) -> rusqlite::Result<TaskId> {
    row.get(0).map(TaskId)
}

pub(super) fn ignore_damage<T: Default>(read: Result<T>) -> Result<T> {
    match read {
        Err(error) if error.code == Code::RowDamaged => Ok(T::default()),
        read => read,
    }
}

/// Reads a word of a closed set; an unknown word is a damaged row.
pub(super) fn word<T: std::str::FromStr<Err = String>>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    text.parse()
        .map_err(|message: String| foreign(column, message.into()))
}

/// Reads a column that holds an id; a text of any other form could be a path or a command.
pub(super) fn plain_id(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    read_checked_id(row, column, id::is_plain)
}

/// Reads a column that holds an id of the form that `has_form` knows.
pub(super) fn read_checked_id(
    row: &Row<'_>,
    column: usize,
    has_form: impl Fn(&str) -> bool,
) -> rusqlite::Result<String> {
    let text: String = row.get(column)?;
    match has_form(&text) {
        true => Ok(text),
        false => Err(foreign(column, "it has not the form of an id".into())),
    }
}

pub(super) fn from_json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    parse(row.get_ref(column)?.as_str()?, column)
}

fn parse<T: DeserializeOwned>(text: &str, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|cause| foreign(column, cause.into()))
}

fn foreign(column: usize, cause: Box<dyn std::error::Error + Send + Sync>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, cause)
}

/// A field of a task as a column.
pub(super) trait Column: Sized {
    fn write(&self) -> ToSqlOutput<'_>;
    /// Reads a value, which is that of a column. The column is read again to say what is wrong with it.
    fn read(value: ValueRef<'_>, row: &Row<'_>, column: usize) -> rusqlite::Result<Self>;
}

macro_rules! columns {
    ($($kind:ty: |$value:ident| $write:expr, |$row:ident, $column:ident| $read:expr;)+) => {
        $(impl Column for $kind {
            fn write(&self) -> ToSqlOutput<'_> {
                let $value = self;
                $write.into()
            }

            fn read(_: ValueRef<'_>, $row: &Row<'_>, $column: usize) -> rusqlite::Result<$kind> {
                $read
            }
        })+
    };
}

columns! {
    Status: |status| status.word(), |row, column| word(row, column);
    Priority: |priority| priority.word(), |row, column| word(row, column);
    Size: |size| size.word(), |row, column| word(row, column);
    TaskType: |kind| kind.as_str(), |row, column| word(row, column);
    TaskId: |id| id.0, |row, column| row.get(column).map(TaskId);
    f64: |number| *number, |row, column| row.get(column);
    u32: |number| *number, |row, column| row.get(column);
}

impl Column for String {
    fn write(&self) -> ToSqlOutput<'_> {
        self.as_str().into()
    }

    fn read(value: ValueRef<'_>, row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
        value
            .as_str()
            .map_or_else(|_| row.get(column), |text| Ok(text.to_string()))
    }
}

/// Optional columns.
impl<T: Column> Column for Option<T> {
    fn write(&self) -> ToSqlOutput<'_> {
        let written = self.as_ref().map(T::write);
        written.unwrap_or(ToSqlOutput::Owned(SqlValue::Null))
    }

    fn read(value: ValueRef<'_>, row: &Row<'_>, column: usize) -> rusqlite::Result<Option<T>> {
        match value {
            ValueRef::Null => Ok(None),
            _ => T::read(value, row, column).map(Some),
        }
    }
}

/// Lists are JSON; most are empty.
impl<T: Serialize + DeserializeOwned> Column for Vec<T> {
    fn write(&self) -> ToSqlOutput<'_> {
        match self.is_empty() {
            true => "[]".into(),
            false => json(self).into(),
        }
    }

    fn read(value: ValueRef<'_>, _: &Row<'_>, column: usize) -> rusqlite::Result<Vec<T>> {
        match value.as_str()? {
            "[]" => Ok(Vec::new()),
            text => parse(text, column),
        }
    }
}

impl Column for Map<String, Value> {
    fn write(&self) -> ToSqlOutput<'_> {
        match self.is_empty() {
            true => "{}".into(),
            false => json(self).into(),
        }
    }

    fn read(value: ValueRef<'_>, _: &Row<'_>, column: usize) -> rusqlite::Result<Self> {
        match value.as_str()? {
            "{}" => Ok(Map::new()),
            text => parse(text, column),
        }
    }
}

/// Declares the columns of a task besides its number, its ULID and what other tables hold of it: the field, and the
/// name and the kind of the column.
macro_rules! task_columns {
    ($($field:ident: $name:literal $kind:literal,)+) => {
        /// The statements that make the database.
        pub(super) const SCHEMA: &str = concat!(
            "CREATE TABLE tasks (\n    number INTEGER PRIMARY KEY,\n    uid TEXT NOT NULL",
            $(",\n    ", $name, " ", $kind,)+
            ",\n    checksum INTEGER NOT NULL\n) STRICT;\n\n",
            include_str!("../schema.sql"),
        );

        /// The columns that [`read_columns`] reads.
        pub(super) const COLUMNS: &str = concat!(
            "t.number, t.uid,
            (SELECT json_group_array(needs) FROM
                (SELECT needs FROM task_depends WHERE task = t.number ORDER BY position)),
            (SELECT json_group_array(label) FROM
                (SELECT label FROM task_labels WHERE task = t.number ORDER BY position))",
            $(", t.", $name,)+ ", t.checksum"
        );

        pub(super) const INSERT: &str =
            concat!("INSERT INTO tasks VALUES (?1, ?2", $(", :", $name,)+ ", :checksum)");

        pub(super) const UPDATE: &str = concat!(
            "UPDATE tasks SET uid = ?2", $(", ", $name, " = :", $name,)+
            ", checksum = :checksum WHERE number = ?1"
        );

        pub(super) fn write_columns(task: &Task) -> impl Iterator<Item = ToSqlOutput<'_>> {
            [$(task.$field.write()),+].into_iter()
        }

        /// Reads a task, and whether it has its checksum. `fail` decides whether an unreadable column is an error or has its default.
        pub(super) fn read_columns(
            row: &Row<'_>,
            fail: impl Fn(rusqlite::Error) -> rusqlite::Result<()>,
        ) -> rusqlite::Result<(Task, bool)> {
            let mut task = Task { id: read_id(row)?, ..Task::default() };
            match read_checked_id(row, 1, id::is_uid) {
                Ok(uid) => task.uid = uid,
                Err(fault) => fail(fault)?,
            }
            match Vec::<u32>::read(row.get_ref(2)?, row, 2) {
                Ok(depends) => task.depends = depends.into_iter().map(TaskId).collect(),
                Err(fault) => fail(fault)?,
            }
            let mut column = 3;
            match Column::read(row.get_ref(column)?, row, column) {
                Ok(labels) => task.labels = labels,
                Err(fault) => fail(fault)?,
            }
            let mut checksum = Checksum::new(&task);
            $(
                column += 1;
                let value = row.get_ref(column)?;
                checksum.add(value);
                match Column::read(value, row, column) {
                    Ok(value) => task.$field = value,
                    Err(fault) => fail(fault)?,
                }
            )+
            let sum = row.get_ref(column + 1)?.as_i64();
            Ok((task, sum == Ok(checksum.sum().into())))
        }
    };
}

task_columns! {
    title: "title" "TEXT NOT NULL",
    description: "description" "TEXT NOT NULL",
    kind: "type" "TEXT NOT NULL",
    status: "status" "TEXT NOT NULL",
    parent: "parent" "INTEGER REFERENCES tasks (number) DEFERRABLE INITIALLY DEFERRED",
    priority: "priority" "TEXT NOT NULL",
    phase: "phase" "TEXT",
    size: "size" "TEXT",
    files: "files" "TEXT NOT NULL",
    acceptance: "acceptance" "TEXT NOT NULL",
    deliverables: "deliverables" "TEXT NOT NULL",
    notes: "notes" "TEXT NOT NULL",
    assigned_agent: "assigned_agent" "TEXT",
    due: "due" "TEXT",
    estimate: "estimate" "REAL",
    feature: "feature" "TEXT",
    key: "key" "TEXT",
    extra: "extra" "TEXT NOT NULL",
    created_at: "created_at" "TEXT NOT NULL",
    updated_at: "updated_at" "TEXT NOT NULL",
    started_at: "started_at" "TEXT",
    completed_at: "completed_at" "TEXT",
    cancelled_at: "cancelled_at" "TEXT",
    archived_at: "archived_at" "TEXT",
}
