//! Copies everything from one database into another that is empty, row by row.

use std::fmt::Write;

use rusqlite::params_from_iter;
use rusqlite::types::{Value, ValueRef};

use super::sql::SqlTransaction;
use super::sql::faults::Faults;
use super::sql::queries::Link;
use super::sql::row::Row;
use super::sql::session::{Session, refuse_nul};
use super::sql::tasks::SCHEMA;
use super::{Database, Tasks, Transaction, left_out};
use crate::error::{Code, Error, Result};

/// Bytes of rows that are sent to PostgreSQL at once.
const PIECE: usize = 1 << 20;

/// Copies all rows, and returns how many. A damaged row is an error, because the copy would have a right checksum.
pub(crate) fn copy(mut from: Database, to: &Database) -> Result<usize> {
    left_out::take();
    from.read_every_row()?;
    if let Some(damage) = left_out::take().into_iter().next() {
        return Err(damage.error());
    }
    let (from, new) = (from.begin_read()?, Box::new(to.begin_write()?));
    new.execute("DELETE FROM counters", ())?;
    let mut n_rows = 0;
    for table in SCHEMA.split("CREATE TABLE ").skip(1) {
        let (name, columns) = table.split_once(" (\n").unwrap_or_default();
        if new.count(&format!("SELECT count(*) FROM {name}"), ())? > 0 {
            let message = format!(
                "there are rows already (table {name}); only an empty database takes a copy"
            );
            return Err(Error::new(Code::Exists, message));
        }
        n_rows += match to {
            // A file derives them from the others.
            Database::Sqlite(_) if ["counters", "nodes"].contains(&name) => 0,
            _ => copy_table(&from, &new, name, &list_columns(columns))?,
        };
    }
    if let Database::Sqlite(store) = to {
        store.complete_copy(&new, from.first_unused_id()?)?;
    }
    if let Link::Postgres(session) = new.link() {
        // Its planner counts rows by itself only after a while.
        session.run_batch("ANALYZE")?;
    }
    new.settle_chains()?;
    if let Some(problem) = new.disagreements()?.first() {
        let message = format!("the copy would differ, so it was not made: {problem}");
        return Err(Error::new(Code::StoreCorrupt, message).fix("cleo doctor"));
    }
    new.commit()?;
    Ok(n_rows)
}

/// Lists the columns that the text of our schema declares; a server may have more, which it sets by itself.
fn list_columns(table: &str) -> String {
    let lines = table.lines().take_while(|line| !line.starts_with(')'));
    let names = lines.filter_map(|line| line.split_whitespace().next());
    let names = names.filter(|name| name.starts_with(|letter: char| letter.is_ascii_lowercase()));
    names.collect::<Vec<_>>().join(", ")
}

fn copy_table(
    from: &SqlTransaction<'_>,
    to: &SqlTransaction<'_>,
    table: &str,
    columns: &str,
) -> Result<usize> {
    let (mut n_rows, mut lines) = (0, String::new());
    let place = &format!("{table} ({columns})");
    from.each(&format!("SELECT {columns} FROM {table}"), |row| {
        n_rows += 1;
        match to.link() {
            Link::Sqlite {
                connection, path, ..
            } => insert(connection, place, row).at(path),
            Link::Postgres(session) => {
                write_line(row, &mut lines, session)?;
                match lines.len() < PIECE {
                    true => Ok(()),
                    false => session.load(place, &std::mem::take(&mut lines)),
                }
            }
        }
    })?;
    if let Link::Postgres(session) = to.link() {
        session.load(place, &lines)?;
    }
    Ok(n_rows)
}

fn insert(to: &rusqlite::Connection, place: &str, row: &Row<'_>) -> rusqlite::Result<()> {
    let values = (0..row.columns()).map(|at| row.get(at));
    let values = values.collect::<rusqlite::Result<Vec<Value>>>()?;
    let holes = vec!["?"; values.len()].join(", ");
    let sql = format!("INSERT INTO {place} VALUES ({holes})");
    to.prepare_cached(&sql)?
        .execute(params_from_iter(values))
        .map(drop)
}

/// Writes a row in the text form of `COPY`.
fn write_line(row: &Row<'_>, lines: &mut String, to: &Session) -> Result<()> {
    for at in 0..row.columns() {
        if at > 0 {
            lines.push('\t');
        }
        let value = row.get_ref(at).at(to.place())?;
        let _ = match value {
            ValueRef::Null => write!(lines, "\\N"),
            // PostgreSQL has checksums of its own.
            ValueRef::Integer(_) if row.column_name(at) == Some("sum") => write!(lines, "0"),
            ValueRef::Integer(number) => write!(lines, "{number}"),
            ValueRef::Real(number) => write!(lines, "{number}"),
            ValueRef::Text(text) | ValueRef::Blob(text) => {
                let text = String::from_utf8_lossy(text);
                refuse_nul(&text, row.column_name(at) == Some("record"))?;
                let mut letters = text.chars();
                letters.try_for_each(|letter| match letter {
                    '\\' => lines.write_str("\\\\"),
                    '\n' => lines.write_str("\\n"),
                    '\r' => lines.write_str("\\r"),
                    '\t' => lines.write_str("\\t"),
                    letter => lines.write_char(letter),
                })
            }
        };
    }
    lines.push('\n');
    Ok(())
}
