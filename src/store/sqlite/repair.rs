//! Repairs a damaged database: what is derived is made anew in place, and what can be read beside broken pages is
//! copied into a new file.

use std::fs;
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Params, Statement};

use super::SqliteStore;
use super::health::texts;
use super::opening::log_of;
use super::place::check_place;
use crate::error::Result;
use crate::file::unreadable;
use crate::id::TaskId;
use crate::store::sql::faults::Faults;
use crate::store::sql::row::Row;
use crate::store::sql::{Backend, SqlTransaction};
use crate::store::sql::{agents, chat, conversations, log, phases, records, runs};
use crate::store::{Tasks, Transaction};

/// Maximum number of failed attempts to copy a part of a table; what is left then counts as lost.
const FAILURES_MAX: i64 = 1 << 20;
/// The tables that hold more than what is derived from others.
const TABLES: &str = "SELECT name FROM saved.sqlite_schema WHERE type = 'table'
    AND sql LIKE 'CREATE TABLE %' AND name NOT LIKE 'task_text%' AND name <> 'counters'";
/// Removes a reference, or the row that cannot be without it: two statements for each column that refers to a table.
const REFERENCES: &str = "SELECT m.name, iif(i.\"notnull\" OR i.pk, 'DELETE FROM ' || m.name,
        'UPDATE ' || m.name || ' SET ' || i.name || ' = NULL')
        || ' WHERE ' || i.name || ' NOT IN (SELECT ' || f.\"to\" || ' FROM ' || f.\"table\" || ')'
    FROM sqlite_schema m, pragma_foreign_key_list(m.name) f, pragma_table_info(m.name) i
    WHERE m.type = 'table' AND i.name = f.\"from\"";

/// The tables with checksums of rows, but for tasks, and the expressions that compare these.
const SUMMED: [(&str, &str); 14] = [
    ("spawns", records::SPAWN_COLUMNS),
    ("links", records::LINK_COLUMNS),
    ("gates", records::GATE_COLUMNS),
    ("claims", records::CLAIM_COLUMNS),
    ("sessions", records::SESSION_COLUMNS),
    ("phases", phases::PHASE_COLUMNS),
    ("operations", log::OPERATION_SUM),
    ("changes", log::CHANGE_SUM),
    ("agents", agents::COLUMNS),
    ("runs", runs::COLUMNS),
    ("events", runs::EVENT),
    ("conversations", conversations::COLUMNS),
    ("messages", conversations::MESSAGE),
    ("records", chat::COLUMNS),
];

impl SqliteStore {
    /// Makes indexes, graph, counts and words anew, and removes references that lead nowhere. Returns what was removed;
    /// none, and nothing is changed, where other pages are broken too.
    pub(crate) fn rebuild_derived(&self) -> Result<Option<Vec<String>>> {
        let open = Box::new(self.begin_write(None)?);
        open.execute("REINDEX", ())?;
        let lost = self.derive(&open, 1)?;
        match self.broken_pages()?.is_empty() {
            true => open.commit().map(|_| Some(lost)),
            false => Ok(None),
        }
    }

    /// Opens a copy of a database whose schema cannot be read, with the statements of a new one in their places.
    pub(crate) fn open_damaged(path: &Path, copy: &Path) -> Result<SqliteStore> {
        check_place(path)?;
        for (from, to) in [(path, copy), (&*log_of(path), &*log_of(copy))] {
            if from.exists() {
                fs::copy(from, to).map_err(|cause| unreadable(from, cause))?;
            }
        }
        let connect = || {
            let store = SqliteStore::connect(copy, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            let old = &store.connection;
            old.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)
                .at(path)?;
            // SQLite then leaves out what it cannot read of the schema.
            old.execute_batch("PRAGMA writable_schema = ON").at(path)?;
            Ok(store)
        };
        let new = SqliteStore::create(&copy.with_extension("new"))?;
        let sql = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL";
        let mut read = new.connection.prepare(sql).at(path)?;
        let read = read.query_map((), |row| Ok((row.get(0)?, row.get(1)?)));
        let statements: rusqlite::Result<Vec<(String, String)>> = read.at(path)?.collect();
        let old = &connect()?.connection;
        for (name, sql) in statements.at(path)? {
            // A page of the schema that cannot be read costs the tables in it.
            let _ = old.execute(
                "UPDATE sqlite_schema SET sql = ?2 WHERE name = ?1",
                [name, sql],
            );
        }
        connect()
    }

    /// Copies every readable row into a new database, and returns what was lost. The file must not exist.
    pub(crate) fn save_readable(self, file: &Path) -> Result<Vec<String>> {
        SqliteStore::create(file)?.checkpoint()?;
        let old = &self.connection;
        old.execute_batch("PRAGMA foreign_keys = OFF").at(file)?;
        let name = file.to_string_lossy();
        old.execute("ATTACH ?1 AS saved", [&name]).at(file)?;
        // Each statement is a transaction: a failed one would end a longer one.
        old.execute_batch("PRAGMA saved.synchronous = OFF")
            .at(file)?;
        let mut lost = Vec::new();
        for table in texts(old, TABLES).at(file)? {
            let parts = match copy_table(old, &table) {
                // The damaged schema has no such table.
                Err(fault)
                    if fault == rusqlite::Error::QueryReturnedNoRows
                        || fault.sqlite_error_code() == Some(ErrorCode::Unknown) =>
                {
                    vec!["all rows".to_string()]
                }
                parts => parts.at(file)?,
            };
            lost.extend(parts.into_iter().map(|part| format!("{table}: {part}")));
        }
        let next =
            "SELECT value FROM counters WHERE name = 'next_task' AND sum = checksum(name, value)";
        let next = old.query_row(next, (), |row| row.get(0)).unwrap_or(1);
        old.execute_batch("DETACH saved").at(file)?;
        let new = SqliteStore::open(file)?;
        let open = Box::new(new.begin_write(None)?);
        lost.extend(new.derive(&open, next)?);
        open.commit()?;
        new.checkpoint()?;
        Ok(lost)
    }

    /// Gives the rows of a copy what only a file has: checksums, and what is derived. Numbers below `next` are not given
    /// again.
    pub(in crate::store) fn complete_copy(
        &self,
        open: &SqlTransaction<'_>,
        next: TaskId,
    ) -> Result<()> {
        for (table, columns) in SUMMED {
            let (_, sum) = columns.split_once("sum = ").unwrap_or_default();
            let sum = sum.trim_end_matches(" AS checksum");
            let sql = format!("UPDATE {table} SET sum = {sum}");
            self.connection.execute(&sql, ()).at(&self.path)?;
        }
        self.derive(open, next.0)?;
        let numbers = open.all("SELECT number FROM tasks", (), |row| row.get(0).map(TaskId))?;
        numbers.into_iter().try_for_each(|number| {
            let task = open.salvage(number)?;
            task.map_or(Ok(()), |task| open.write(Some(&task), &task))
        })
    }

    /// Computes what is kept beside the tasks, and returns which references were removed because they led nowhere. Numbers
    /// below `next` are not given again.
    fn derive(&self, open: &SqlTransaction<'_>, next: u32) -> Result<Vec<String>> {
        let mut lost = Vec::new();
        let read = |row: &Row<'_>| Ok((row.get::<String>(0)?, row.get::<String>(1)?));
        for (table, statement) in open.all(REFERENCES, (), read)? {
            let n_rows = self.connection.execute(&statement, ()).at(&self.path)?;
            lost.extend(
                (n_rows > 0).then(|| format!("{table}: references that lead nowhere, {n_rows}")),
            );
        }
        if open.count("SELECT EXISTS (SELECT 1 FROM agents)", ())? > 0 {
            self.note_agents()?;
        }
        let sql = "SELECT number FROM tasks ORDER BY number";
        let numbers = open.all(sql, (), |row| row.get(0).map(TaskId))?;
        // The status of a damaged task is read from the graph.
        let tasks = numbers.into_iter().map(|number| open.salvage(number));
        let tasks = tasks.collect::<Result<Vec<_>>>()?;
        open.execute("DELETE FROM nodes", ())?;
        open.reset_counters(next)?;
        let mut tasks = tasks.iter().flatten();
        tasks.try_for_each(|task| open.note_new(task))?;
        open.read_all_words().map(|()| lost)
    }
}

/// Copies the rows of a table, as large a part at once as can be read, and returns the parts that cannot. Of a table
/// whose key is a text, those after the first broken page and before the last cannot.
fn copy_table(old: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let key = format!("SELECT name, type FROM pragma_table_info('{table}') WHERE pk = 1");
    let key = old.query_row(&key, (), |row| Ok((row.get(0)?, row.get(1)?)));
    let (key, kind): (String, String) = key?;
    let copy =
        format!("INSERT OR IGNORE INTO saved.{table} SELECT * FROM main.{table} NOT INDEXED");
    if kind != "INTEGER" {
        let mut n_read = 0_i64;
        for order in ["ASC", "DESC"] {
            let copy = &mut old.prepare(&format!("{copy} ORDER BY {key} {order} LIMIT ?1"))?;
            let mut read = 0;
            for step in (0..40).map(|bit| 1 << (39 - bit)) {
                read += step * i64::from(try_copy(copy, [read + step])?);
            }
            n_read += read;
        }
        // Each step succeeds where all rows can be read.
        let part = format!("all rows but {n_read}");
        return Ok(Vec::from_iter((n_read < 1 << 40).then_some(part)));
    }
    let last = old.query_row(&format!("SELECT max({key}) FROM {table}"), (), |row| {
        row.get::<_, Option<i64>>(0)
    });
    let last = last.map_or(FAILURES_MAX, Option::unwrap_or_default);
    let copy = &mut old.prepare(&format!("{copy} WHERE {key} BETWEEN ?1 AND ?2"))?;
    let (mut parts, mut lost, mut failures) = (vec![(0, last)], Vec::<(i64, i64)>::new(), 0);
    while let Some((from, to)) = parts.pop() {
        if try_copy(copy, [from, to])? {
            continue;
        }
        failures += 1;
        if from < to && failures < FAILURES_MAX {
            let middle = from + (to - from) / 2;
            parts.extend([(middle + 1, to), (from, middle)]);
        } else if let Some((_, end)) = lost.last_mut().filter(|(_, end)| *end + 1 == from) {
            *end = to;
        } else {
            lost.push((from, to));
        }
    }
    let lost = lost
        .iter()
        .map(|(from, to)| format!("{key} {from} to {to}"));
    Ok(lost.collect())
}

/// Returns false if the rows cannot be read.
fn try_copy(copy: &mut Statement<'_>, range: impl Params) -> rusqlite::Result<bool> {
    use ErrorCode::{ConstraintViolation, DatabaseCorrupt, SystemIoFailure};
    match copy
        .execute(range)
        .map_err(|fault| (fault.sqlite_error_code(), fault))
    {
        Ok(_) => Ok(true),
        Err((Some(DatabaseCorrupt | ConstraintViolation | SystemIoFailure), _)) => Ok(false),
        Err((_, fault)) => Err(fault),
    }
}
