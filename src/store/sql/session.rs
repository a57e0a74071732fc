//! A connection to PostgreSQL, with the statements that it has prepared.

use std::cell::RefCell;
use std::collections::HashMap;
use std::error::Error as StdError;
use std::io::Write;
use std::path::{Path, PathBuf};

use postgres::error::SqlState;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::private::BytesMut;
use postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, Row, SimpleQueryMessage, Statement};
use rusqlite::types::{Value, ValueRef};
use tokio::task::block_in_place;

use super::translate::translate;
use crate::error::{Code, Error, Result};

type Outcome<T> = std::result::Result<T, postgres::Error>;

/// Maximum number of prepared statements; those of lists are as many as there are combinations of filters.
const STATEMENTS_MAX: usize = 200;

pub(in crate::store) struct Session {
    /// There until the session ends.
    client: RefCell<Option<Client>>,
    statements: RefCell<HashMap<String, Statement>>,
    /// The address without a password.
    place: PathBuf,
}

impl Session {
    pub(in crate::store) fn new(client: Client, place: &str) -> Session {
        Session {
            client: RefCell::new(Some(client)),
            statements: RefCell::default(),
            place: place.into(),
        }
    }

    pub(in crate::store) fn place(&self) -> &Path {
        &self.place
    }

    /// Replaces the connection and forgets its statements.
    pub(in crate::store) fn replace(&self, client: Client) {
        self.statements.take();
        let before = self.client.replace(Some(client));
        block_in_place(|| drop(before));
    }

    pub(in crate::store) fn query(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>> {
        self.run(sql, values, |client, statement, values| {
            client.query(statement, values)
        })
    }

    pub(in crate::store) fn execute(&self, sql: &str, values: &[Value]) -> Result<usize> {
        let n_rows = self.run(sql, values, |client, statement, values| {
            client.execute(statement, values)
        })?;
        Ok(usize::try_from(n_rows).unwrap_or(usize::MAX))
    }

    /// Runs a query and gives each row to `take` as it comes. Nothing else may use the session meanwhile.
    pub(in crate::store) fn each(
        &self,
        sql: &str,
        mut take: impl FnMut(&Row) -> Result<()>,
    ) -> Result<()> {
        let statement = self.prepare(sql)?;
        let mut taken = Ok(());
        self.call(|client| {
            let mut rows = client.query_raw(&statement, &[] as &[i64])?;
            while taken.is_ok()
                && let Some(row) = rows.next()?
            {
                taken = take(&row);
            }
            Ok(())
        })?;
        taken
    }

    /// Adds rows to a table: lines in the text form of `COPY`.
    pub(in crate::store) fn load(&self, table: &str, lines: &str) -> Result<()> {
        let written = self.call(|client| {
            let mut copy = client.copy_in(&format!("COPY {table} FROM STDIN"))?;
            let written = copy.write_all(lines.as_bytes());
            copy.finish().map(|_| written)
        })?;
        written.map_err(|cause| Error::new(Code::StoreUnavailable, cause.to_string()))
    }

    /// Returns whether the server has told of commits since the last look. It waits for nothing.
    pub(in crate::store) fn has_notices(&self) -> Result<bool> {
        self.call(|client| Ok(client.notifications().iter().count()? > 0))
    }

    /// Runs statements of PostgreSQL without parameters, and returns the first column of the last row.
    pub(in crate::store) fn run_batch(&self, sql: &str) -> Result<Option<String>> {
        let messages = self.call(|client| client.simple_query(sql))?;
        Ok(messages.iter().rev().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(String::from),
            _ => None,
        }))
    }

    fn run<T>(
        &self,
        sql: &str,
        values: &[Value],
        work: impl FnOnce(&mut Client, &Statement, &[&(dyn ToSql + Sync)]) -> Outcome<T>,
    ) -> Result<T> {
        let statement = self.prepare(sql)?;
        for (value, kind) in values.iter().zip(statement.params()) {
            if let Value::Text(text) = value {
                refuse_nul(text, *kind == Type::JSON)?;
            }
        }
        let values: Vec<Bound<'_>> = values.iter().map(Bound).collect();
        let values = values.iter().map(|value| value as &(dyn ToSql + Sync));
        let values: Vec<_> = values.collect();
        self.call(|client| work(client, &statement, &values))
    }

    fn prepare(&self, sql: &str) -> Result<Statement> {
        if let Some(statement) = self.statements.borrow().get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.call(|client| client.prepare(&translate(sql)))?;
        let mut statements = self.statements.borrow_mut();
        if statements.len() >= STATEMENTS_MAX {
            statements.clear();
        }
        statements.insert(sql.to_string(), statement.clone());
        Ok(statement)
    }

    /// Calls the client, which waits in a runtime of its own: a thread of the server leaves its runtime meanwhile.
    fn call<T>(&self, work: impl FnOnce(&mut Client) -> Outcome<T>) -> Result<T> {
        let done = block_in_place(|| self.client.borrow_mut().as_mut().map(work));
        let place = self.place.to_string_lossy();
        match done {
            Some(done) => done.map_err(|fault| explain(fault, &place)),
            None => Err(Error::new(
                Code::StoreUnavailable,
                "the connection is closed",
            )),
        }
    }
}

impl Drop for Session {
    /// Closes the connection, for which the client waits as well.
    fn drop(&mut self) {
        block_in_place(|| drop(self.client.take()));
    }
}

/// Translates an error of PostgreSQL to that of cleo. `place` is the address without a password.
pub(in crate::store) fn explain(fault: postgres::Error, place: &str) -> Error {
    let mut what = fault.to_string();
    if let Some(cause) = fault.source() {
        what = format!("{what}: {cause}");
    }
    let code = match fault.code() {
        Some(&SqlState::LOCK_NOT_AVAILABLE) => {
            let message = format!("another process has held {place} for more than 30 seconds");
            return Error::new(Code::LockTimeout, message).because(fault);
        }
        Some(&SqlState::DISK_FULL) => Code::DiskFull,
        // Checks of cleo come first, so that this is a defect of theirs.
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) if what.contains("row-level security") => {
            Code::Internal
        }
        Some(&SqlState::READ_ONLY_SQL_TRANSACTION | &SqlState::INSUFFICIENT_PRIVILEGE) => {
            Code::StoreReadOnly
        }
        Some(&SqlState::UNDEFINED_TABLE) => Code::StoreSchema,
        Some(code) if is_passing(code.code()) => Code::StoreUnavailable,
        Some(_) => Code::Internal,
        None if fault.is_closed() || is_of_network(&fault) => Code::StoreUnavailable,
        None => Code::Internal,
    };
    Error::new(code, format!("{place}: {what}")).because(fault)
}

/// Returns true for states that pass: lost connections (08), conflicts of transactions (40), no resources (53),
/// shutdown and failover (57P), and what a system reports of its disks (58).
fn is_passing(state: &str) -> bool {
    ["08", "40", "53", "57P", "58"]
        .iter()
        .any(|class| state.starts_with(class))
}

fn is_of_network(fault: &postgres::Error) -> bool {
    let mut cause = fault.source();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<std::io::Error>() {
            // A certificate that is refused stays so.
            return error.kind() != std::io::ErrorKind::InvalidData;
        }
        cause = error.source();
    }
    // Where the time is over there is no cause.
    let message = fault.to_string();
    message.contains("connect") || message.contains("timeout")
}

pub(in crate::store) fn refuse_nul(text: &str, is_json: bool) -> Result<()> {
    if text.contains('\0') || is_json && has_escaped_nul(text) {
        let message = "a text contains the character NUL (U+0000), which PostgreSQL cannot store";
        return Err(Error::new(Code::TextControl, message));
    }
    Ok(())
}

/// Returns true if a JSON text has the escape of NUL.
fn has_escaped_nul(json: &str) -> bool {
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        if rest[at + 1..].starts_with("u0000") {
            return true;
        }
        // The next character is escaped, and may be a backslash.
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    false
}

/// A value of a parameter.
#[derive(Debug)]
struct Bound<'a>(&'a Value);

impl ToSql for Bound<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> std::result::Result<IsNull, Box<dyn StdError + Sync + Send>> {
        match (self.0, kind) {
            (Value::Null, _) => Ok(IsNull::Yes),
            (Value::Integer(number), &Type::INT4) => i32::try_from(*number)?.to_sql(kind, out),
            (Value::Integer(number), &Type::BOOL) => (*number != 0).to_sql(kind, out),
            (Value::Integer(number), _) => number.to_sql(kind, out),
            (Value::Real(number), _) => number.to_sql(kind, out),
            (Value::Text(text), _) => text.as_str().to_sql(kind, out),
            (Value::Blob(bytes), _) => bytes.as_slice().to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A value of a column.
struct Read<'a>(ValueRef<'a>);

impl<'a> FromSql<'a> for Read<'a> {
    fn from_sql(
        kind: &Type,
        raw: &'a [u8],
    ) -> std::result::Result<Read<'a>, Box<dyn StdError + Sync + Send>> {
        Ok(Read(match *kind {
            Type::BOOL => ValueRef::Integer(bool::from_sql(kind, raw)?.into()),
            Type::INT4 => ValueRef::Integer(i32::from_sql(kind, raw)?.into()),
            Type::INT8 => ValueRef::Integer(i64::from_sql(kind, raw)?),
            Type::FLOAT8 => ValueRef::Real(f64::from_sql(kind, raw)?),
            _ => ValueRef::Text(raw),
        }))
    }

    fn from_sql_null(_: &Type) -> std::result::Result<Read<'a>, Box<dyn StdError + Sync + Send>> {
        Ok(Read(ValueRef::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Reads a column in the value types of rusqlite.
pub(super) fn read(row: &Row, column: usize) -> rusqlite::Result<ValueRef<'_>> {
    let read = row.try_get(column);
    read.map(|Read(value)| value)
        .map_err(|_| rusqlite::Error::InvalidColumnIndex(column))
}
