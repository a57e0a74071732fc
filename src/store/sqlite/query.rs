//! Asking a database: statements are prepared once, faults are named with the file.

use std::path::Path;

use rusqlite::{Connection, Params, Row};

use super::faults::Faults;
use crate::error::Result;

/// Runs a query and reads every row.
pub(super) fn all<T>(
    connection: &Connection,
    path: &Path,
    sql: &str,
    parameters: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql).at(path)?;
    let rows = statement.query_map(parameters, read).at(path)?;
    rows.collect::<rusqlite::Result<Vec<T>>>().at(path)
}

/// Runs a query and reads its first row, if there is one.
pub(super) fn first<T>(
    connection: &Connection,
    path: &Path,
    sql: &str,
    parameters: impl Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>> {
    let mut statement = connection.prepare_cached(sql).at(path)?;
    let mut rows = statement.query(parameters).at(path)?;
    rows.next().at(path)?.map(read).transpose().at(path)
}

/// Runs a statement and returns how many rows it changed.
pub(super) fn run(
    connection: &Connection,
    path: &Path,
    sql: &str,
    parameters: impl Params,
) -> Result<usize> {
    connection
        .prepare_cached(sql)
        .at(path)?
        .execute(parameters)
        .at(path)
}
