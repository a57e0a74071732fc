//! Removes damaged rows that nothing else removes.

use rusqlite::Row;
use rusqlite::types::Value;

use super::faults::{self, Faults};
use super::{SqliteStore, SqliteTransaction, chat, conversations, last, runs};
use crate::error::Result;
use crate::store::Transaction;
use crate::store::left_out::Damage;

/// Where a row is, by which it can be deleted, and what is wrong with it.
type Damaged = (Value, Damage);

impl SqliteStore {
    /// Removes unreadable runs, events, conversations, messages and records, with the events of such runs and the
    /// messages of such conversations, and the note of lost commits. Returns them.
    pub(crate) fn remove_damaged(&mut self) -> Result<Vec<Damage>> {
        let open = Box::new(self.begin_write(None)?);
        let mut removed = Vec::new();
        let mut remove = |sql: &str, damaged: Result<Vec<Damaged>>| -> Result<()> {
            for (place, damage) in damaged? {
                for statement in sql.split(';') {
                    let done = open.connection.execute(statement, [&place]);
                    done.at(open.path)?;
                }
                removed.push(damage);
            }
            Ok(())
        };
        remove(
            "DELETE FROM events WHERE run = (SELECT id FROM runs WHERE position = ?1);
             DELETE FROM runs WHERE position = ?1",
            find_damaged(&open, "position", "runs", runs::COLUMNS, runs::read),
        )?;
        remove(
            "DELETE FROM events WHERE cursor = ?1",
            find_damaged(&open, "cursor", "events", runs::EVENT, runs::read_event),
        )?;
        let read = conversations::read;
        remove(
            "DELETE FROM messages WHERE conversation = (SELECT id FROM conversations WHERE position = ?1);
             DELETE FROM conversations WHERE position = ?1",
            find_damaged(&open, "position", "conversations", conversations::COLUMNS, read),
        )?;
        let read = conversations::read_message;
        remove(
            "DELETE FROM messages WHERE position = ?1",
            find_damaged(&open, "position", "messages", conversations::MESSAGE, read),
        )?;
        remove(
            &format!("DELETE FROM records WHERE {} = ?1", chat::NAME),
            find_damaged(&open, chat::NAME, "records", &chat::columns(), chat::read),
        )?;
        open.commit()?;
        removed.extend(last::forget_loss(&self.path));
        Ok(removed)
    }
}

/// Finds the rows of a table that cannot be read.
fn find_damaged<T>(
    open: &SqliteTransaction<'_>,
    place: &str,
    table: &str,
    columns: &str,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<Damaged>> {
    let sql = &format!("SELECT {columns}, {place} AS place FROM {table}");
    let mut statement = open.connection.prepare(sql).at(open.path)?;
    let mut rows = statement.query(()).at(open.path)?;
    let mut damaged = Vec::new();
    while let Some(row) = rows.next().at(open.path)? {
        let Err(fault) = read(row) else { continue };
        match faults::damage(row, sql, &fault) {
            Some(damage) => damaged.push((row.get("place").at(open.path)?, damage)),
            None => return Err(fault).at(open.path),
        }
    }
    Ok(damaged)
}
