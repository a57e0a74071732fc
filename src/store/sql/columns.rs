//! Columns of rows: JSON, ids and words, written and read.

use rusqlite::types::{ToSqlOutput, Value as SqlValue, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::row::Row;
use crate::document;
use crate::error::{Code, Error, Result};
use crate::id::{self, TaskId};
use crate::task::{Priority, Size, Status, TaskType};

/// How deep the JSON of a column may be nested: readers stop at 128 levels.
const STORED_NESTING_MAX: usize = 100;

pub(in crate::store) fn refuse_deep(json: &str) -> Result<()> {
    if document::json_depth(json) <= STORED_NESTING_MAX {
        return Ok(());
    }
    let message = format!(
        "a value is nested more than {STORED_NESTING_MAX} levels deep, so it could not be read again"
    );
    Err(Error::new(Code::InputInvalid, message))
}

/// Joins the conditions that have a value, for which each has a `?`.
pub(in crate::store) fn all_of<const N: usize>(
    conditions: [(&str, Option<String>); N],
) -> (String, Vec<rusqlite::types::Value>) {
    let given = conditions
        .into_iter()
        .filter_map(|(sql, value)| Some((sql, value?.into())));
    let (parts, values): (Vec<&str>, _) = given.unzip();
    match parts.is_empty() {
        true => ("TRUE".to_string(), values),
        false => (parts.join(" AND "), values),
    }
}

pub(in crate::store) fn json(value: &impl serde::Serialize) -> String {
    crate::document::to_json(value).unwrap_or_else(|_| "null".to_string())
}

/// Numbers of the database have a sign; ours stay far below its limit.
pub(in crate::store) fn to_signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(in crate::store) fn to_unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<i64>(column).map(i64::unsigned_abs)
}

pub(in crate::store) fn read_id(row: &Row<'_>) -> rusqlite::Result<TaskId> {
    row.get(0).map(TaskId)
}

pub(in crate::store) fn ignore_damage<T: Default>(read: Result<T>) -> Result<T> {
    match read {
        Err(error) if error.code == Code::RowDamaged => Ok(T::default()),
        read => read,
    }
}

/// Reads a word of a closed set; an unknown word is a damaged row.
pub(in crate::store) fn word<T: std::str::FromStr<Err = String>>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<T> {
    parse_word(row.get_ref(column)?, column)
}

fn parse_word<T: std::str::FromStr<Err = String>>(
    value: ValueRef<'_>,
    column: usize,
) -> rusqlite::Result<T> {
    let word = value.as_str()?.parse();
    word.map_err(|message: String| conversion_error(column, message.into()))
}

/// Reads a column that holds an id; a text of any other form could be a path or a command.
pub(in crate::store) fn plain_id(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    read_checked_id(row, column, id::is_plain)
}

/// Reads a column that holds an id of the form that `has_form` knows.
pub(in crate::store) fn read_checked_id(
    row: &Row<'_>,
    column: usize,
    has_form: impl Fn(&str) -> bool,
) -> rusqlite::Result<String> {
    let text: String = row.get(column)?;
    match has_form(&text) {
        true => Ok(text),
        false => Err(conversion_error(
            column,
            "it has not the form of an id".into(),
        )),
    }
}

pub(in crate::store) fn from_json<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<T> {
    parse(row.get_ref(column)?.as_str()?, column)
}

fn parse<T: DeserializeOwned>(text: &str, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|cause| conversion_error(column, cause.into()))
}

fn conversion_error(
    column: usize,
    cause: Box<dyn std::error::Error + Send + Sync>,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, cause)
}

/// Lists columns to read, and after them whether the row is as it was written.
macro_rules! unchanged {
    ($read:literal) => {
        unchanged!($read, $read)
    };
    ($read:literal, $all:literal) => {
        concat!($read, ", sum = checksum(", $all, ") AS checksum")
    };
}
pub(in crate::store) use unchanged;

/// Refuses a row that the column says is not as it was written.
pub(in crate::store) fn require_unchanged(row: &Row<'_>, column: usize) -> rusqlite::Result<()> {
    match row.get(column)? {
        true => Ok(()),
        false => Err(conversion_error(column, "it does not match".into())),
    }
}

/// Numbers from here on are damaged or foreign: SQLite gives random ones after the highest that it has.
pub(in crate::store) const NUMBER_MAX: u64 = 1 << 53;

/// The number of a new row: the next after the others. Only damage gives a row the last number; the number is then
/// the next after those far below.
macro_rules! next {
    ($table:literal, $key:literal) => {
        concat!(
            "(SELECT coalesce(max(",
            $key,
            "), 0) + 1 FROM ",
            $table,
            " WHERE ",
            $key,
            " < CASE WHEN (SELECT max(",
            $key,
            ") FROM ",
            $table,
            " WHERE ",
            $key,
            " < 1 << 53) + 1 = 1 << 53 THEN (1 << 53) - (1 << 32) ELSE 1 << 53 END)"
        )
    };
}
pub(in crate::store) use next;

/// A field of a task as a column.
pub(in crate::store) trait Column: Sized {
    fn write(&self) -> ToSqlOutput<'_>;
    /// Reads a value, which is that of a column. The column is read again to say what is wrong with it.
    fn read(value: ValueRef<'_>, row: &Row<'_>, column: usize) -> rusqlite::Result<Self>;
}

macro_rules! columns {
    ($($kind:ty: |$own:ident| $write:expr, |$value:pat_param, $row:pat_param, $column:ident| $read:expr;)+) => {
        $(impl Column for $kind {
            fn write(&self) -> ToSqlOutput<'_> {
                let $own = self;
                $write.into()
            }

            fn read($value: ValueRef<'_>, $row: &Row<'_>, $column: usize) -> rusqlite::Result<$kind> {
                $read
            }
        })+
    };
}

columns! {
    Status: |status| status.word(), |value, _, column| parse_word(value, column);
    Priority: |priority| priority.word(), |value, _, column| parse_word(value, column);
    Size: |size| size.word(), |value, _, column| parse_word(value, column);
    TaskType: |kind| kind.as_str(), |value, _, column| parse_word(value, column);
    TaskId: |id| id.0, |_, row, column| row.get(column).map(TaskId);
    f64: |number| *number, |_, row, column| row.get(column);
    u32: |number| *number, |_, row, column| row.get(column);
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
