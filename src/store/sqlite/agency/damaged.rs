//! Removing rows that cannot be read.

use rusqlite::Row;

use super::{SqliteAgency, conversations, runs, turns};
use crate::error::Result;
use crate::store::left_out::Damage;
use crate::store::sqlite::faults::{self, Faults};
use crate::store::sqlite::open::{Open, WHOLE, turn};

const UNCOUNT_RUN: &str = "UPDATE run_tallies AS t SET runs = t.runs - 1,
        timed = t.timed - (r.execution_time_ms IS NOT NULL),
        time_ms = t.time_ms - ifnull(r.execution_time_ms, 0)
    FROM runs AS r WHERE r.position = ?1 AND t.user_id = r.user_id AND t.kind = r.kind
        AND t.agent = ifnull(r.agent, '') AND t.status = r.status";

impl SqliteAgency {
    /// Removes the runs, events, conversations and messages that cannot be read: a run with its events and
    /// a conversation with its messages, which nobody could reach without it. Returns which they were.
    pub(crate) fn remove_damaged(&mut self) -> Result<Vec<Damage>> {
        let turn = turn(Some(&turns(&self.path)), &self.path)?;
        let mut open = Open::begin(&self.connection, &self.path, "BEGIN IMMEDIATE", WHOLE, turn)?;
        let mut removed = Vec::new();
        let sql = format!("SELECT {}, position FROM runs", runs::COLUMNS);
        for (position, damage) in find_damaged(&open, &sql, runs::read)? {
            let events = "DELETE FROM events WHERE run = (SELECT id FROM runs WHERE position = ?1)";
            open.execute(events, [position])?;
            open.execute(UNCOUNT_RUN, [position])?;
            open.execute("DELETE FROM runs WHERE position = ?1", [position])?;
            removed.push(damage);
        }
        let sql = format!("SELECT {}, cursor AS position FROM events", runs::EVENT);
        for (cursor, damage) in find_damaged(&open, &sql, runs::read_event)? {
            open.execute("DELETE FROM events WHERE cursor = ?1", [cursor])?;
            removed.push(damage);
        }
        let columns = conversations::COLUMNS;
        let sql = format!("SELECT {columns}, position FROM conversations");
        for (position, damage) in find_damaged(&open, &sql, conversations::read)? {
            let messages = "DELETE FROM messages
                WHERE conversation = (SELECT id FROM conversations WHERE position = ?1)";
            open.execute(messages, [position])?;
            open.execute("DELETE FROM conversations WHERE position = ?1", [position])?;
            removed.push(damage);
        }
        let columns = conversations::MESSAGE;
        let sql = format!("SELECT {columns}, position FROM messages");
        for (position, damage) in find_damaged(&open, &sql, conversations::read_message)? {
            open.execute("DELETE FROM messages WHERE position = ?1", [position])?;
            removed.push(damage);
        }
        open.commit()?;
        Ok(removed)
    }
}

/// Finds the rows of a table that cannot be read, by their `position`.
fn find_damaged<T>(
    open: &Open<'_>,
    sql: &str,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<(i64, Damage)>> {
    let mut statement = open.connection.prepare(sql).at(open.path)?;
    let mut rows = statement.query(()).at(open.path)?;
    let mut damaged = Vec::new();
    while let Some(row) = rows.next().at(open.path)? {
        let Err(fault) = read(row) else { continue };
        match faults::damage(row, sql, &fault) {
            Some(damage) => damaged.push((row.get("position").at(open.path)?, damage)),
            None => return Err(fault).at(open.path),
        }
    }
    Ok(damaged)
}
