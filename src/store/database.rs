//! The database of a workspace: a file of its own, or one on a server.

use super::postgres::PostgresStore;
use super::sqlite::SqliteStore;
use super::{Stamp, Store, Transaction};
use crate::error::{Code, Error, Result};
use crate::store::left_out::Damage;

pub(crate) enum Database {
    Sqlite(SqliteStore),
    Postgres(Box<PostgresStore>),
}

impl Database {
    /// Returns the file; the tools of the server save and restore what is on one.
    pub(crate) fn require_file(self) -> Result<SqliteStore> {
        match self {
            Database::Sqlite(store) => Ok(store),
            Database::Postgres(_) => {
                let message = "the database is on a server, where PostgreSQL saves and restores it";
                Err(Error::new(Code::InputInvalid, message).fix("pg_dump --help"))
            }
        }
    }

    /// Checks every page and index of a file. PostgreSQL checks its own.
    pub(crate) fn broken_pages(&self) -> Result<Vec<String>> {
        match self {
            Database::Sqlite(store) => store.broken_pages(),
            Database::Postgres(_) => Ok(Vec::new()),
        }
    }

    pub(crate) fn disagreements(&self) -> Result<Vec<String>> {
        match self {
            Database::Sqlite(store) => store.disagreements(),
            Database::Postgres(store) => store.disagreements(),
        }
    }

    /// Reads every row of a file. PostgreSQL finds damage by checksums of its own.
    pub(crate) fn read_every_row(&mut self) -> Result<()> {
        match self {
            Database::Sqlite(store) => store.read_every_row(),
            Database::Postgres(_) => Ok(()),
        }
    }

    pub(crate) fn remove_damaged(&mut self) -> Result<Vec<Damage>> {
        match self {
            Database::Sqlite(store) => store.remove_damaged(),
            Database::Postgres(_) => Ok(Vec::new()),
        }
    }
}

impl Store for Database {
    fn read(&mut self) -> Result<Box<dyn Transaction + '_>> {
        match self {
            Database::Sqlite(store) => store.read(),
            Database::Postgres(store) => store.read(),
        }
    }

    fn write(&mut self, stamp: &Stamp) -> Result<Box<dyn Transaction + '_>> {
        match self {
            Database::Sqlite(store) => store.write(stamp),
            Database::Postgres(store) => store.write(stamp),
        }
    }

    fn write_records(&mut self) -> Result<Box<dyn Transaction + '_>> {
        match self {
            Database::Sqlite(store) => store.write_records(),
            Database::Postgres(store) => store.write_records(),
        }
    }

    fn version(&self) -> Result<u64> {
        match self {
            Database::Sqlite(store) => store.version(),
            Database::Postgres(store) => store.version(),
        }
    }
}
