//! Queries and statements of a transaction.

use std::cell::RefCell;

use rusqlite::{CachedStatement, Params, Row};

use super::SqlTransaction;
use super::faults::{self, Faults};
use crate::error::Result;
use crate::store::left_out;

/// Prepared statements in use. Finding one in the cache of the connection costs as much as running it.
pub(in crate::store) type Statements<'a> = RefCell<Vec<(&'static str, CachedStatement<'a>)>>;

impl<'a> SqlTransaction<'a> {
    /// Runs a query and reads all rows. Damaged rows are left out and noted in [`left_out`].
    pub(in crate::store) fn all<T>(
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
    pub(in crate::store) fn first<T>(
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

    /// Runs a query for one number; 0 where there is none.
    pub(in crate::store) fn count(&self, sql: &str, parameters: impl Params) -> Result<u64> {
        let number = self.first(sql, parameters, |row| row.get::<_, Option<i64>>(0))?;
        Ok(number.flatten().map_or(0, i64::unsigned_abs))
    }

    pub(in crate::store) fn execute(
        &self,
        sql: &'static str,
        parameters: impl Params,
    ) -> Result<usize> {
        self.with_statement(sql, |statement| statement.execute(parameters))
    }

    /// Runs a statement with each of these parameters; without any it is not even prepared.
    pub(in crate::store) fn execute_each<P: Params>(
        &self,
        sql: &'static str,
        mut rows: impl Iterator<Item = P>,
    ) -> Result<()> {
        let Some(first) = rows.next() else {
            return Ok(());
        };
        self.with_statement(sql, |statement| {
            statement.execute(first)?;
            rows.try_for_each(|row| statement.execute(row).map(drop))
        })
    }

    fn with_statement<T>(
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
