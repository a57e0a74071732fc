//! The database of a workspace: a file of its own, or one on a server.

use std::sync::Arc;

use super::postgres::PostgresStore;
use super::sql::SqlTransaction;
use super::sqlite::SqliteStore;
use super::{Stamp, Store, Transaction};
use crate::error::Result;
use crate::store::left_out::Damage;

pub(crate) enum Database {
    Sqlite(SqliteStore),
    Postgres(Box<PostgresStore>),
}

impl Database {
    pub(super) fn begin_read(&self) -> Result<SqlTransaction<'_>> {
        match self {
            Database::Sqlite(store) => store.begin_read(),
            Database::Postgres(store) => store.begin_read(),
        }
    }

    pub(super) fn begin_write(&self) -> Result<SqlTransaction<'_>> {
        match self {
            Database::Sqlite(store) => store.begin_write(None),
            Database::Postgres(store) => store.begin_write(None),
        }
    }

    /// Returns a number that changes soon after a commit of another process.
    pub(crate) fn watch(&self) -> Result<u64> {
        match self {
            Database::Sqlite(store) => store.version(),
            Database::Postgres(store) => store.watch(),
        }
    }

    /// Checks every page and index of a file. PostgreSQL checks its own.
    pub(crate) fn broken_pages(&self) -> Result<Vec<String>> {
        match self {
            Database::Sqlite(store) => store.broken_pages(),
            Database::Postgres(_) => Ok(Vec::new()),
        }
    }

    /// Lets row-level security restrict transactions to a user, or to none, and returns the one before. A file has none.
    pub(crate) fn act_for(&mut self, user: Option<Arc<str>>) -> Option<Arc<str>> {
        match self {
            Database::Sqlite(_) => None,
            Database::Postgres(store) => store.act_for(user),
        }
    }

    /// Runs `work` on the rows of all users.
    pub(crate) fn for_all<T>(&mut self, work: impl FnOnce(&mut Database) -> T) -> T {
        let user = self.act_for(None);
        let done = work(self);
        self.act_for(user);
        done
    }

    /// Returns true if the database is on a server that does not restrict transactions to a user.
    pub(crate) fn lacks_row_security(&self) -> Result<bool> {
        match self {
            Database::Sqlite(_) => Ok(false),
            Database::Postgres(store) => Ok(!store.can_restrict()?),
        }
    }

    /// Returns what is wrong with the roles of a server, and a command against it. A file has none.
    pub(crate) fn find_role_problem(&self) -> Result<Option<(String, String)>> {
        match self {
            Database::Sqlite(_) => Ok(None),
            Database::Postgres(store) => store.find_role_problem(),
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
