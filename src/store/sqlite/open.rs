//! An open transaction of either store: queries, statements, commit and rollback.

use std::cell::RefCell;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::{CachedStatement, Connection, Params, Row};

use super::faults::{self, Faults};
use crate::error::Result;
use crate::file::lock_in_turn;
use crate::score::normalize;
use crate::store::left_out;

pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// Has SQLite believe nothing that stands in the schema of a database beyond what cleo needs: no function
/// with effects, no change of the schema by hand. Queries get `normalized(text)`, in which words are looked for.
pub(super) fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("normalized", 1, flags, |context| {
        let text = context.get::<Option<String>>(0)?;
        Ok(text.map(|text| normalize(&text)))
    })
}

/// An open transaction; dropped without commit, it is rolled back.
pub(super) struct Open<'a> {
    pub(super) connection: &'a Connection,
    pub(super) path: &'a Path,
    is_open: bool,
    /// Prepared statements in use. Finding one in the connection's cache costs as much as running it.
    statements: RefCell<Vec<(&'static str, CachedStatement<'a>)>>,
    /// The lock by which writers wait in turn, given back when all is over.
    _turn: Option<File>,
}

impl<'a> Open<'a> {
    pub(super) fn begin(
        connection: &'a Connection,
        path: &'a Path,
        how: &str,
        turn: Option<File>,
    ) -> Result<Open<'a>> {
        connection.execute_batch(how).at(path)?;
        Ok(Open {
            connection,
            path,
            is_open: true,
            statements: RefCell::default(),
            _turn: turn,
        })
    }

    /// Makes the changes visible and durable.
    pub(super) fn commit(&mut self) -> Result<()> {
        self.connection.execute_batch("COMMIT").at(self.path)?;
        self.is_open = false;
        Ok(())
    }

    /// Runs a query and reads all rows. Damaged rows are left out and noted in [`left_out`].
    pub(super) fn all<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut statement = self.connection.prepare_cached(sql).at(self.path)?;
        let mut rows = statement.query(parameters).at(self.path)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().at(self.path)? {
            match read(row) {
                Ok(value) => found.push(value),
                Err(fault) => match faults::damage(row, sql, &fault) {
                    Some(damage) => left_out::note(damage),
                    None => return Err(fault).at(self.path),
                },
            }
        }
        Ok(found)
    }

    /// Runs a query and reads its first row, if there is one. A damaged one is an error.
    pub(super) fn first<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let mut statement = self.connection.prepare_cached(sql).at(self.path)?;
        let mut rows = statement.query(parameters).at(self.path)?;
        let Some(row) = rows.next().at(self.path)? else {
            return Ok(None);
        };
        match read(row) {
            Ok(value) => Ok(Some(value)),
            Err(fault) => match faults::damage(row, sql, &fault) {
                Some(damage) => Err(damage.error()),
                None => Err(fault).at(self.path),
            },
        }
    }

    pub(super) fn execute(&self, sql: &'static str, parameters: impl Params) -> Result<usize> {
        self.changing(sql, |statement| statement.execute(parameters))
    }

    /// Runs a statement with each of these parameters; without any it is not even prepared.
    pub(super) fn execute_each<P: Params>(
        &self,
        sql: &'static str,
        mut rows: impl Iterator<Item = P>,
    ) -> Result<()> {
        let Some(first) = rows.next() else {
            return Ok(());
        };
        self.changing(sql, |statement| {
            statement.execute(first)?;
            rows.try_for_each(|row| statement.execute(row).map(drop))
        })
    }

    fn changing<T>(
        &self,
        sql: &'static str,
        work: impl FnOnce(&mut CachedStatement<'a>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let mut statements = self.statements.borrow_mut();
        let known = |(text, _): &(&'static str, _)| std::ptr::eq(*text, sql);
        let at = match statements.iter().position(known) {
            Some(at) => at,
            None => {
                let statement = self.connection.prepare_cached(sql).at(self.path)?;
                statements.push((sql, statement));
                statements.len() - 1
            }
        };
        work(&mut statements[at].1).at(self.path)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // A failed rollback leaves nothing behind either: the connection ends with the process.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }
}

/// Waits for the writers' lock on a folder; `None` where locking fails. It only makes the order fair, so that
/// no writer waits forever: SQLite itself excludes other writers.
pub(super) fn turn(folder: Option<&Path>, path: &Path) -> Result<Option<File>> {
    let Some(Ok(folder)) = folder.map(File::open) else {
        return Ok(None);
    };
    match lock_in_turn(folder, PATIENCE) {
        Ok(None) => Err(faults::busy(path)),
        Ok(turn) => Ok(turn),
        Err(_) => Ok(None),
    }
}
