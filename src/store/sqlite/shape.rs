//! Whether a database has the schema that its version says. One that another build made under the
//! same number may not, and would fail somewhere in the middle of things.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;

use super::faults::{self, Faults};
use crate::error::{Code, Error, Result};

/// The parts of a schema that cleo has made, without those that SQLite makes for itself.
const PARTS: &str = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL
    AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'task_text_*'";

/// Returns how often the schema was changed since the file was made. It stands in the file's header,
/// so it can be asked for each time that a database is opened.
pub(super) fn changes(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA schema_version", (), |row| row.get(0))
}

/// Refuses a database whose schema is not that of the steps, which change it `expected` times. Only
/// where it was changed another number of times is it compared part by part: others may have added
/// parts of their own.
pub(super) fn check(
    connection: &Connection,
    path: &Path,
    expected: i64,
    steps: &[&str],
) -> Result<()> {
    if changes(connection).at(path)? == expected {
        return Ok(());
    }
    let right = Connection::open_in_memory().at(path)?;
    right.execute_batch(&steps.concat()).at(path)?;
    let (right, found) = (parts(&right).at(path)?, parts(connection).at(path)?);
    let wrong = right
        .iter()
        .find(|(name, sql)| found.get(*name) != Some(sql));
    wrong.map_or(Ok(()), |(name, _)| Err(other(path, name)))
}

/// Reads what a schema is made of, by name.
fn parts(connection: &Connection) -> rusqlite::Result<BTreeMap<String, String>> {
    let mut statement = connection.prepare(PARTS)?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, plain(&row.get::<_, String>(1)?)));
    statement.query_map((), read)?.collect()
}

/// Writes a statement without comments, on one line.
fn plain(sql: &str) -> String {
    let lines = sql
        .lines()
        .map(|line| line.split("--").next().unwrap_or_default());
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    words.join(" ")
}

fn other(path: &Path, part: &str) -> Error {
    let message = format!(
        "{} was made by another build of cleo: its `{part}` is not as in this one. What is in it can \
         be exported with that build",
        path.display()
    );
    let anew = faults::anew(path);
    let import = format!("{anew} && cleo import tasks.jsonl");
    Error::new(Code::StoreSchema, message).fix(anew).or(
        "take its tasks over, once that build has exported them",
        import,
    )
}
