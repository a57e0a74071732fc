//! Whether a database has the schema that its version says, and nothing that acts by itself beside it.
//! One that another build made under the same number would fail somewhere in the middle of things; a
//! trigger of somebody else would change whatever is written.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;

use super::faults::{self, Faults};
use super::place::foreign;
use crate::error::Result;

/// All parts of a schema, without the indexes that SQLite makes for itself.
const PARTS: &str = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name, sql";

/// A part of a schema: its name and the statement that makes it.
type Part = (String, String);

/// Refuses a database that has another schema than `schema`. Only where it is not exactly that one is it
/// compared part by part: others may have added tables of their own, and comments change nothing.
pub(super) fn check(connection: &Connection, path: &Path, schema: &str) -> Result<()> {
    match is_exact(connection, schema).at(path)? {
        true => Ok(()),
        false => compare(connection, path, schema),
    }
}

/// Returns true when a database was made by the statements of a schema, in their order, and holds nothing
/// else but plain tables. The kind and the name that a row claims for itself are not looked at: SQLite goes
/// by the statement alone.
pub(super) fn is_exact(connection: &Connection, schema: &str) -> rusqlite::Result<bool> {
    let mut statement =
        connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")?;
    let mut rows = statement.query(())?;
    let mut rest = schema;
    while let Some(row) = rows.next()? {
        let sql: String = row.get(0)?;
        match rest.split_once(sql.as_str()) {
            Some((before, after)) if !before.contains("CREATE ") && after.starts_with(';') => {
                rest = after;
            }
            _ if acts(&sql) => return Ok(false),
            _ => {}
        }
    }
    Ok(!rest.contains("CREATE "))
}

/// Compares a database with a schema, part by part.
fn compare(connection: &Connection, path: &Path, schema: &str) -> Result<()> {
    let model = Connection::open_in_memory().at(path)?;
    model.execute_batch(schema).at(path)?;
    let plain = |(name, sql): Part| (name, without_comments(&sql));
    let right: BTreeMap<String, String> = parts(&model).at(path)?.into_iter().map(plain).collect();
    let found: Vec<Part> = parts(connection).at(path)?.into_iter().map(plain).collect();
    let is_right = |(name, sql): &Part| right.get(name) == Some(sql);
    let is_there = |name: &str| found.iter().any(|part| part.0 == name && is_right(part));
    // Tables that hold the index of words belong to SQLite, whose versions write them differently.
    let mut ours = right.keys().filter(|name| !name.starts_with("task_text_"));
    if let Some(name) = ours.find(|name| !is_there(name)) {
        return Err(faults::other_version(path, Some(name)));
    }
    let Some((name, _)) = found.iter().find(|part| !is_right(part) && acts(&part.1)) else {
        return Ok(());
    };
    let message = format!(
        "{} holds `{name}`, which cleo did not make and which could change what is read and written; \
         of others it may hold plain tables only",
        path.display()
    );
    Err(foreign(message))
}

/// Says whether a part is more than a table that only holds rows.
fn acts(sql: &str) -> bool {
    let head = sql.get(.."CREATE TABLE ".len()).unwrap_or_default();
    !head.eq_ignore_ascii_case("CREATE TABLE ")
}

fn parts(connection: &Connection) -> rusqlite::Result<Vec<Part>> {
    let mut statement = connection.prepare(PARTS)?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    statement.query_map((), read)?.collect()
}

/// Writes a statement without comments, on one line.
fn without_comments(sql: &str) -> String {
    let lines = sql
        .lines()
        .map(|line| line.split("--").next().unwrap_or_default());
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    words.join(" ")
}
