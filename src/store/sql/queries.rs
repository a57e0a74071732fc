//! Queries and statements of a transaction.

use std::cell::RefCell;
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{CachedStatement, Connection};

use super::SqlTransaction;
use super::faults::{self, Faults};
use super::row::{Bound, Parameters, Row};
use super::session::Session;
use crate::error::Result;
use crate::store::left_out;

/// The connection that a transaction is open on.
pub(in crate::store) enum Link<'a> {
    Sqlite {
        connection: &'a Connection,
        path: &'a Path,
        /// Statements in use. Finding one in the cache of the connection costs as much as running it.
        statements: RefCell<Vec<(&'static str, CachedStatement<'a>)>>,
    },
    Postgres(&'a Session),
}

impl<'a> SqlTransaction<'a> {
    pub(in crate::store) fn link(&self) -> &Link<'a> {
        &self.link
    }
}

impl SqlTransaction<'_> {
    pub(in crate::store) fn is_postgres(&self) -> bool {
        matches!(self.link, Link::Postgres(_))
    }

    /// Runs a query and reads all rows. Damaged rows are left out and noted in [`left_out`].
    pub(in crate::store) fn all<T>(
        &self,
        sql: &str,
        parameters: impl Parameters,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut found = Vec::new();
        self.query(sql, parameters, |row| {
            match read(row) {
                Ok(value) => found.push(value),
                Err(fault) => match faults::damage(row, sql, &fault) {
                    Some(damage) => left_out::note(damage),
                    None => return Err(fault).at(self.place()),
                },
            }
            Ok(true)
        })?;
        Ok(found)
    }

    /// Runs a query and reads its first row, if there is one. A damaged one is an error.
    pub(in crate::store) fn first<T>(
        &self,
        sql: &str,
        parameters: impl Parameters,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let (mut read, mut found) = (Some(read), None);
        self.query(sql, parameters, |row| {
            let Some(read) = read.take() else {
                return Ok(false);
            };
            match read(row) {
                Ok(value) => found = Some(value),
                Err(fault) => match faults::damage(row, sql, &fault) {
                    Some(damage) => return Err(damage.error()),
                    None => return Err(fault).at(self.place()),
                },
            }
            Ok(false)
        })?;
        Ok(found)
    }

    /// Runs a query and gives each row to `take` until that returns false.
    fn query(
        &self,
        sql: &str,
        parameters: impl Parameters,
        mut take: impl FnMut(&Row<'_>) -> Result<bool>,
    ) -> Result<()> {
        match &self.link {
            Link::Sqlite {
                connection, path, ..
            } => {
                let mut statement = connection.prepare_cached(sql).at(path)?;
                let statement = Bound::bind_all(&mut statement, &parameters).at(path)?;
                let mut rows = statement.raw_query();
                while let Some(row) = rows.next().at(path)? {
                    if !take(&Row::Sqlite(row))? {
                        break;
                    }
                }
            }
            Link::Postgres(session) => {
                for row in session.query(sql, &self.values(parameters)?)? {
                    if !take(&Row::Postgres(&row))? {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Runs a query and gives each row to `take`, while the others are still to be read.
    pub(in crate::store) fn each(
        &self,
        sql: &str,
        mut take: impl FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        match &self.link {
            Link::Sqlite { .. } => self.query(sql, (), |row| take(row).map(|()| true)),
            Link::Postgres(session) => session.each(sql, |row| take(&Row::Postgres(row))),
        }
    }

    /// Runs a query for one number; 0 where there is none.
    pub(in crate::store) fn count(&self, sql: &str, parameters: impl Parameters) -> Result<u64> {
        let number = self.first(sql, parameters, |row| row.get::<Option<i64>>(0))?;
        Ok(number.flatten().map_or(0, i64::unsigned_abs))
    }

    /// Runs a statement. A server may report its error only for the next one, or when the transaction is committed.
    pub(in crate::store) fn execute(
        &self,
        sql: &'static str,
        parameters: impl Parameters,
    ) -> Result<()> {
        match &self.link {
            Link::Sqlite { .. } => self.execute_counting(sql, parameters).map(drop),
            Link::Postgres(session) => session.execute_later(sql, self.values(parameters)?),
        }
    }

    /// Runs a statement and returns how many rows it changed.
    pub(in crate::store) fn execute_counting(
        &self,
        sql: &'static str,
        parameters: impl Parameters,
    ) -> Result<usize> {
        match &self.link {
            Link::Sqlite { .. } => self.with_statement(sql, |statement| {
                Bound::bind_all(statement, &parameters)?.raw_execute()
            }),
            Link::Postgres(session) => session.execute(sql, &self.values(parameters)?),
        }
    }

    /// Inserts a row into a table whose first column is its number, and returns that.
    pub(in crate::store) fn insert_numbered(
        &self,
        sql: &'static str,
        parameters: impl Parameters,
    ) -> Result<i64> {
        match &self.link {
            Link::Sqlite { connection, .. } => {
                self.execute(sql, parameters)?;
                Ok(connection.last_insert_rowid())
            }
            Link::Postgres(_) => {
                let sql = format!("{sql} RETURNING *");
                let number = self.first(&sql, parameters, |row| row.get(0))?;
                Ok(number.unwrap_or_default())
            }
        }
    }

    /// Runs a statement with each of these parameters; without any it is not even prepared.
    pub(in crate::store) fn execute_each<P: Parameters>(
        &self,
        sql: &'static str,
        mut rows: impl Iterator<Item = P>,
    ) -> Result<()> {
        if self.is_postgres() {
            return rows.try_for_each(|row| self.execute(sql, row));
        }
        let Some(first) = rows.next() else {
            return Ok(());
        };
        self.with_statement(sql, |statement| {
            Bound::bind_all(statement, &first)?.raw_execute()?;
            rows.try_for_each(|row| Bound::bind_all(statement, &row)?.raw_execute().map(drop))
        })
    }

    fn with_statement<T>(
        &self,
        sql: &'static str,
        work: impl FnOnce(&mut CachedStatement<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let Link::Sqlite {
            connection,
            path,
            statements,
        } = &self.link
        else {
            return Err(error!(Internal, "only SQLite keeps statements in use"));
        };
        let mut statements = statements.borrow_mut();
        let known = |(text, _): &(&'static str, _)| std::ptr::eq(*text, sql);
        let at = match statements.iter().position(known) {
            Some(at) => at,
            None => {
                let statement = connection.prepare_cached(sql).at(path)?;
                statements.push((sql, statement));
                statements.len() - 1
            }
        };
        work(&mut statements[at].1).at(path)
    }

    fn values(&self, parameters: impl Parameters) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        parameters.bind(&mut values).at(self.place())?;
        Ok(values)
    }

    fn place(&self) -> &Path {
        match &self.link {
            Link::Sqlite { path, .. } => path,
            Link::Postgres(session) => session.place(),
        }
    }
}
