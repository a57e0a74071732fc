//! A session of PostgreSQL: the statements that it has prepared, and those that are still to be sent.

use std::cell::RefCell;
use std::collections::HashMap;
use std::error::Error as StdError;
use std::future::{Future, poll_fn};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::Poll;

use bytes::{Bytes, BytesMut};
use futures_util::{SinkExt, StreamExt, TryStreamExt};
use rusqlite::types::{Value, ValueRef};
use tokio_postgres::error::{DbError, Severity, SqlState};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Row, SimpleQueryMessage, Statement};

use super::connection::{Connection, Outcome};
use super::translate::translate;
use crate::error::{Code, Error, Result};

/// Maximum number of prepared statements; those of lists are as many as there are combinations of filters.
const STATEMENTS_MAX: usize = 200;
/// Maximum number of statements that wait to be sent.
const UNSENT_MAX: usize = 200;

pub(in crate::store) struct Session {
    connection: RefCell<Connection>,
    statements: RefCell<HashMap<String, Statement>>,
    /// Statements whose results are not needed. They are sent together with the next one whose result counts: a way
    /// to the server and back costs more than most statements.
    unsent: RefCell<Vec<(Statement, Vec<Value>)>>,
    /// The address without a password.
    place: PathBuf,
}

impl Session {
    pub(in crate::store) fn new(connection: Connection, place: &str) -> Session {
        Session {
            connection: RefCell::new(connection),
            statements: RefCell::default(),
            unsent: RefCell::default(),
            place: place.into(),
        }
    }

    pub(in crate::store) fn place(&self) -> &Path {
        &self.place
    }

    /// Replaces the connection and forgets its statements.
    pub(in crate::store) fn replace(&self, connection: Connection) {
        self.forget_unsent();
        self.statements.take();
        self.connection.replace(connection);
    }

    pub(in crate::store) fn query(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>> {
        let statement = self.prepare(sql, values)?;
        self.call(async |client| {
            let rows = client.query_raw(&statement, values.iter().map(Bound));
            rows.await?.try_collect().await
        })
    }

    /// Runs a statement and returns how many rows it changed.
    pub(in crate::store) fn execute(&self, sql: &str, values: &[Value]) -> Result<usize> {
        let statement = self.prepare(sql, values)?;
        let values = values.iter().map(Bound);
        let n_rows = self.call(async |client| client.execute_raw(&statement, values).await)?;
        Ok(usize::try_from(n_rows).unwrap_or(usize::MAX))
    }

    /// Runs a statement before the next one whose result counts, which also gets its error.
    pub(in crate::store) fn execute_later(&self, sql: &str, values: Vec<Value>) -> Result<()> {
        let statement = self.prepare(sql, &values)?;
        let mut unsent = self.unsent.borrow_mut();
        unsent.push((statement, values));
        if unsent.len() < UNSENT_MAX {
            return Ok(());
        }
        drop(unsent);
        self.call(async |_| Ok(()))
    }

    pub(in crate::store) fn forget_unsent(&self) {
        self.unsent.take();
    }

    /// Runs a query and gives each row to `take` as it comes. Nothing else may use the session meanwhile.
    pub(in crate::store) fn each(
        &self,
        sql: &str,
        mut take: impl FnMut(&Row) -> Result<()>,
    ) -> Result<()> {
        let statement = self.prepare(sql, &[])?;
        let mut taken = Ok(());
        self.call(async |client| {
            let mut rows = pin!(client.query_raw(&statement, &[] as &[i64]).await?);
            while taken.is_ok()
                && let Some(row) = rows.next().await
            {
                taken = take(&row?);
            }
            Ok(())
        })?;
        taken
    }

    /// Adds rows to a table: lines in the text form of `COPY`.
    pub(in crate::store) fn load(&self, table: &str, lines: &str) -> Result<()> {
        let sql = format!("COPY {table} FROM STDIN");
        let lines = Bytes::copy_from_slice(lines.as_bytes());
        self.call(async |client| {
            let mut copy = pin!(client.copy_in(&sql).await?);
            copy.send(lines).await?;
            copy.finish().await.map(drop)
        })
    }

    /// Returns whether the server has told of commits since the last look. It waits for nothing.
    pub(in crate::store) fn has_notices(&self) -> bool {
        self.connection.borrow().has_notices()
    }

    /// Runs statements of PostgreSQL without parameters, and returns the first column of the last row.
    pub(in crate::store) fn run_batch(&self, sql: &str) -> Result<Option<String>> {
        let messages = self.call(async |client| client.simple_query(sql).await)?;
        Ok(messages.iter().rev().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(String::from),
            _ => None,
        }))
    }

    /// Prepares a statement, once, and checks that the values can be stored.
    fn prepare(&self, sql: &str, values: &[Value]) -> Result<Statement> {
        let known = self.statements.borrow().get(sql).cloned();
        let statement = match known {
            Some(statement) => statement,
            None => {
                let text = translate(sql);
                let statement = self.call(async |client| client.prepare(&text).await)?;
                let mut statements = self.statements.borrow_mut();
                if statements.len() >= STATEMENTS_MAX {
                    statements.clear();
                }
                statements.insert(sql.to_string(), statement.clone());
                statement
            }
        };
        for (value, kind) in values.iter().zip(statement.params()) {
            if let Value::Text(text) = value {
                refuse_nul(text, *kind == Type::JSON)?;
            }
        }
        Ok(statement)
    }

    /// Sends what is unsent and what `work` sends, and only then waits for the answers.
    fn call<T>(&self, work: impl AsyncFnOnce(&Client) -> Outcome<T>) -> Result<T> {
        let (unsent, connection) = (self.unsent.take(), self.connection.borrow());
        let client = connection.client();
        let done = connection.wait(async {
            let mut sent = Vec::with_capacity(unsent.len());
            for (statement, values) in &unsent {
                let answer = client.execute_raw(statement, values.iter().map(Bound));
                sent.push((Box::pin(answer), Poll::Pending));
            }
            let mut last = pin!(work(client));
            // The first poll sends a statement.
            let answer = poll_fn(|context| {
                for (answer, state) in &mut sent {
                    *state = answer.as_mut().poll(context);
                }
                Poll::Ready(last.as_mut().poll(context))
            });
            let answer = answer.await;
            for (answer, state) in sent {
                match state {
                    Poll::Ready(done) => done?,
                    Poll::Pending => answer.await?,
                };
            }
            match answer {
                Poll::Ready(done) => done,
                Poll::Pending => last.await,
            }
        });
        done.map_err(|fault| explain(fault, &self.place.to_string_lossy()))
    }
}

/// Translates an error of PostgreSQL to that of cleo. `place` is the address without a password.
pub(in crate::store) fn explain(fault: tokio_postgres::Error, place: &str) -> Error {
    let mut what = fault.to_string();
    if let Some(cause) = fault.source() {
        what = format!("{what}: {cause}");
    }
    let code = match fault.code() {
        Some(&SqlState::LOCK_NOT_AVAILABLE) => {
            let message = format!("another process has held {place} for more than 30 seconds");
            return Error::new(Code::LockTimeout, message).because(fault);
        }
        // The server ends, for whatever reason, and the transaction may be committed.
        _ if has_panicked(&fault) => Code::StoreUnavailable,
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

fn has_panicked(fault: &tokio_postgres::Error) -> bool {
    let severity = fault.as_db_error().and_then(DbError::parsed_severity);
    severity == Some(Severity::Panic)
}

/// Returns true for states that pass: lost connections (08), conflicts of transactions (40), no resources (53),
/// shutdown and failover (57P), and what a system reports of its disks (58).
fn is_passing(state: &str) -> bool {
    ["08", "40", "53", "57P", "58"]
        .iter()
        .any(|class| state.starts_with(class))
}

fn is_of_network(fault: &tokio_postgres::Error) -> bool {
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
