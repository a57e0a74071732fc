//! Finds damaged rows, and removes those that nothing else removes.

use rusqlite::types::Value;

use super::{SqliteStore, last};
use crate::error::Result;
use crate::id::TaskId;
use crate::store::left_out::Damage;
use crate::store::sql::faults::{self, Faults};
use crate::store::sql::row::Row;
use crate::store::sql::{chat, conversations, graph, log, nodes, records, runs, tasks};
use crate::store::{Claims, OperationFilter, Tasks, Transaction};

type Read = fn(&Row<'_>) -> rusqlite::Result<()>;

/// Tables whose damaged rows are removed: the key, the columns that are read and how, and what is deleted before a row.
const REMOVABLE: [(&str, &str, &str, Read, &str); 8] = [
    (
        "counters",
        "name",
        nodes::COUNTER,
        |row| nodes::read_counter(row).map(drop),
        "",
    ),
    (
        "runs",
        "position",
        runs::COLUMNS,
        |row| runs::read(row).map(drop),
        "DELETE FROM events WHERE run = (SELECT id FROM runs WHERE position = ?1);",
    ),
    (
        "events",
        "cursor",
        runs::EVENT,
        |row| runs::read_event(row).map(drop),
        "",
    ),
    (
        "conversations",
        "position",
        conversations::COLUMNS,
        |row| conversations::read(row).map(drop),
        "DELETE FROM messages WHERE conversation = (SELECT id FROM conversations WHERE position = ?1);",
    ),
    (
        "messages",
        "position",
        conversations::MESSAGE,
        |row| conversations::read_message(row).map(drop),
        "",
    ),
    ("records", chat::NAME, chat::COLUMNS, chat::read, ""),
    (
        "spawns",
        "sequence",
        records::SPAWN_COLUMNS,
        |row| records::read_spawn(row).map(drop),
        "",
    ),
    (
        "claims",
        "task",
        records::CLAIM_COLUMNS,
        |row| records::read_claim(row).map(drop),
        "",
    ),
];

impl SqliteStore {
    /// Reads every row. The damaged ones are noted in [`left_out`](crate::store::left_out).
    pub(crate) fn read_every_row(&mut self) -> Result<()> {
        let open = &self.begin_read()?;
        let all = |columns: &str, from: &str, read: Read| {
            open.all(&format!("SELECT {columns} FROM {from}"), (), read)
        };
        all(tasks::COLUMNS, "tasks t", |row| {
            tasks::read_task(row).map(drop)
        })?;
        all(records::GATE_COLUMNS, "gates", |row| {
            records::read_gates(row).map(drop)
        })?;
        all(records::LINK_COLUMNS, "links", |row| {
            records::read_link(row).map(drop)
        })?;
        open.all(log::CHANGES, (), |row| log::read(row).map(drop))?;
        for (table, _, columns, read, _) in REMOVABLE {
            all(columns, table, read)?;
        }
        graph::nodes(open, None)?;
        read_small_tables(open)
    }

    /// Removes unreadable runs, events, conversations, messages, records and receipts of earlier prompts, with the events
    /// of such runs and the messages of such conversations, counters, which are counted anew, and the note of lost commits;
    /// ends unreadable claims. Returns them.
    pub(crate) fn remove_damaged(&mut self) -> Result<Vec<Damage>> {
        let mut open = Box::new(self.begin_write(None)?);
        let mut removed = Vec::new();
        for (table, key, columns, read, before) in REMOVABLE {
            // The last prompt of a task demands a proof as long as no other one replaces it.
            let which = match table {
                "spawns" => {
                    "WHERE sequence < (SELECT max(sequence) FROM spawns later WHERE later.task = spawns.task)"
                }
                _ => "",
            };
            let sql = &format!("SELECT {columns}, {key} AS place FROM {table} {which}");
            let damaged = open.all(sql, (), |row| match read(row) {
                Ok(()) => Ok(None),
                Err(fault) => match faults::damage(row, sql, &fault) {
                    Some(damage) => Ok(Some((row.get::<Value>(row.columns() - 1)?, damage))),
                    None => Err(fault),
                },
            })?;
            for (place, damage) in damaged.into_iter().flatten() {
                removed.push(damage);
                let task = match (table, &place) {
                    ("claims", Value::Integer(task)) => u32::try_from(*task).ok().map(TaskId),
                    _ => None,
                };
                if let Some(task) = task
                    && open.status(task)?.is_some()
                {
                    let ended = open.make_ended_claim(task)?;
                    open.put_claim(&ended)?;
                    continue;
                }
                for statement in format!("{before}DELETE FROM {table} WHERE {key} = ?1").split(';')
                {
                    self.connection
                        .execute(statement, [&place])
                        .at(&self.path)?;
                }
            }
        }
        open.commit()?;
        removed.extend(last::forget_loss(&self.path));
        Ok(removed)
    }
}

fn read_small_tables(open: &dyn Transaction) -> Result<()> {
    open.sessions(None)?;
    open.phases()?;
    open.agents()?;
    open.operations(&OperationFilter::default()).map(drop)
}
