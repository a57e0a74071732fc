//! The store of agents in one SQLite file, made when something is first written to it.

mod agents;
mod chat;
mod conversations;
mod runs;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, Row};

use super::faults::{self, Faults};
use super::open::{Open, PATIENCE, configure, turn};
use super::opening::pragma;
use super::place::{check_place, create_private};
use super::{health, opening};
use crate::error::{Error, Result};
use crate::file::unwritable;
use crate::store::agency::{Agency, AgencyTransaction};
use crate::store::left_out::Damage;

pub(super) const SCHEMA: &str = include_str!("../../schema/agents.sql");
/// Version of the schema that this program reads and writes.
const VERSION: i32 = 1;
/// Marks the file as cleo's store of agents: "clea" in ASCII.
const APPLICATION: i32 = 0x636c_6561;

pub(crate) struct SqliteAgency {
    connection: Connection,
    path: PathBuf,
}

impl SqliteAgency {
    pub(crate) fn open(path: &Path) -> Result<Option<SqliteAgency>> {
        check_place(path)?;
        if !path.exists() {
            return Ok(None);
        }
        let agency = SqliteAgency::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        match agency.version()? {
            // Another process is just making it: nothing is in it yet.
            0 => Ok(None),
            _ => agency.shaped().map(Some),
        }
    }

    pub(crate) fn open_or_create(path: &Path) -> Result<SqliteAgency> {
        check_place(path)?;
        create_private(path)?;
        let turns = turns(path);
        fs::create_dir_all(&turns).map_err(|cause| unwritable(&turns, cause))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let agency = SqliteAgency::connect(path, flags)?;
        match agency.version()? {
            0 => agency.fill()?.shaped(),
            _ => agency.shaped(),
        }
    }

    pub(crate) fn changes(&self) -> Result<u64> {
        pragma(&self.connection, &self.path, "data_version").map(i64::unsigned_abs)
    }

    /// Checks every page and index of the file. None is right.
    pub(crate) fn broken_pages(&self) -> Result<Vec<String>> {
        health::broken_pages(&self.connection).at(&self.path)
    }

    fn connect(path: &Path, flags: OpenFlags) -> Result<SqliteAgency> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).at(path)?;
        connection.busy_timeout(PATIENCE).at(path)?;
        configure(&connection).at(path)?;
        connection.set_prepared_statement_cache_capacity(128);
        Ok(SqliteAgency {
            connection,
            path: path.to_path_buf(),
        })
    }

    /// Returns the version of the schema; 0 while the file is empty.
    fn version(&self) -> Result<i32> {
        let number = |name| pragma(&self.connection, &self.path, name);
        let version = number("user_version")?;
        if version != 0 && number("application_id")? != APPLICATION {
            return Err(foreign(&self.path));
        }
        match version {
            0 | VERSION => Ok(version),
            _ => Err(faults::other_version(&self.path, None)),
        }
    }

    fn shaped(self) -> Result<SqliteAgency> {
        opening::check(&self.connection, &self.path, SCHEMA)?;
        Ok(self)
    }

    /// Makes the tables in an empty file, all or none. Another process may have made them meanwhile.
    fn fill(self) -> Result<SqliteAgency> {
        let turn = turn(Some(&turns(&self.path)), &self.path)?;
        let fill = || -> Result<()> {
            let begin = "PRAGMA journal_mode = WAL; BEGIN IMMEDIATE";
            self.connection.execute_batch(begin).at(&self.path)?;
            if self.version()? == VERSION {
                return self.connection.execute_batch("COMMIT").at(&self.path);
            }
            let sql = "SELECT count(*) FROM sqlite_master";
            let tables = self
                .connection
                .query_row(sql, (), |row| row.get::<_, i64>(0));
            if tables.at(&self.path)? > 0 {
                return Err(foreign(&self.path));
            }
            let end = format!(
                "{SCHEMA} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; \
                 COMMIT;"
            );
            self.connection.execute_batch(&end).at(&self.path)
        };
        let filled = fill();
        if filled.is_err() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        drop(turn);
        filled.map(|()| self)
    }

    fn begin(&mut self, how: &str, turn: Option<File>) -> Result<Box<dyn AgencyTransaction + '_>> {
        let open = Open::begin(&self.connection, &self.path, how, turn)?;
        Ok(Box::new(open))
    }
}

/// Returns the folder whose lock orders writers; not that of the tasks, so that one process can write both.
fn turns(path: &Path) -> PathBuf {
    path.with_extension("")
}

fn foreign(path: &Path) -> Error {
    faults::corrupt(path, "it is no store of agents")
}

impl Agency for SqliteAgency {
    fn read(&mut self) -> Result<Box<dyn AgencyTransaction + '_>> {
        self.begin("BEGIN DEFERRED", None)
    }

    fn write(&mut self) -> Result<Box<dyn AgencyTransaction + '_>> {
        let turn = turn(Some(&turns(&self.path)), &self.path)?;
        self.begin("BEGIN IMMEDIATE", turn)
    }
}

impl AgencyTransaction for Open<'_> {
    fn commit(mut self: Box<Self>) -> Result<()> {
        Open::commit(&mut self)
    }
}

#[cfg(test)]
crate::store::conformance::suite!(crate::store::agency::conformance, |folder: &Path| {
    SqliteAgency::open_or_create(&folder.join("agents.db")).unwrap()
});

impl SqliteAgency {
    /// Removes unreadable runs, events, conversations and messages, with the events of such runs and the
    /// messages of such conversations. Returns them.
    pub(crate) fn remove_damaged(&mut self) -> Result<Vec<Damage>> {
        let turn = turn(Some(&turns(&self.path)), &self.path)?;
        let mut open = Open::begin(&self.connection, &self.path, "BEGIN IMMEDIATE", turn)?;
        let mut removed = Vec::new();
        let mut remove = |sql: &str, damaged: Result<Vec<(i64, Damage)>>| -> Result<()> {
            for (position, damage) in damaged? {
                for statement in sql.split(';') {
                    let done = open.connection.execute(statement, [position]);
                    done.at(open.path)?;
                }
                removed.push(damage);
            }
            Ok(())
        };
        remove(
            "DELETE FROM events WHERE run = (SELECT id FROM runs WHERE position = ?1);
             DELETE FROM runs WHERE position = ?1",
            find_damaged(&open, "runs", runs::COLUMNS, runs::read),
        )?;
        remove(
            "DELETE FROM events WHERE cursor = ?1",
            find_damaged(&open, "events", runs::EVENT, runs::read_event),
        )?;
        remove(
            "DELETE FROM messages WHERE conversation = (SELECT id FROM conversations WHERE position = ?1);
             DELETE FROM conversations WHERE position = ?1",
            find_damaged(&open, "conversations", conversations::COLUMNS, conversations::read),
        )?;
        remove(
            "DELETE FROM messages WHERE position = ?1",
            find_damaged(
                &open,
                "messages",
                conversations::MESSAGE,
                conversations::read_message,
            ),
        )?;
        open.commit()?;
        Ok(removed)
    }
}

/// Finds the rows of a table that cannot be read, by their number.
fn find_damaged<T>(
    open: &Open<'_>,
    table: &str,
    columns: &str,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<(i64, Damage)>> {
    let sql = &format!("SELECT {columns}, rowid AS place FROM {table}");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    #[test]
    fn nothing_is_made_by_reading_and_foreign_files_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agents.db");
        assert!(SqliteAgency::open(&path).unwrap().is_none());
        assert!(!path.exists());
        Connection::open(&path)
            .unwrap()
            .execute_batch("CREATE TABLE x (y)")
            .unwrap();
        let error = SqliteAgency::open_or_create(&path).err().unwrap();
        assert_eq!(error.code, Code::StoreCorrupt);
        fs::write(
            &path,
            "no database, but long enough for a header ".repeat(9),
        )
        .unwrap();
        let error = SqliteAgency::open(&path).err().unwrap();
        assert_eq!(error.code, Code::StoreCorrupt);
    }

    #[test]
    fn a_store_of_another_build_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agents.db");
        let agency = SqliteAgency::open_or_create(&path).unwrap();
        let other = "ALTER TABLE runs ADD COLUMN other TEXT";
        agency.connection.execute_batch(other).unwrap();
        let error = SqliteAgency::open(&path).err().unwrap();
        assert_eq!(error.code, Code::StoreSchema);
        let error = SqliteAgency::open_or_create(&path).err().unwrap();
        assert!(error.message.contains("its `runs`"), "{}", error.message);
    }

    #[test]
    fn store_of_another_version_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agents.db");
        let agency = SqliteAgency::open_or_create(&path).unwrap();
        let newer = "PRAGMA user_version = 99";
        agency.connection.execute_batch(newer).unwrap();
        let error = SqliteAgency::open(&path).err().unwrap();
        assert_eq!(error.code, Code::StoreSchema);
    }
}
