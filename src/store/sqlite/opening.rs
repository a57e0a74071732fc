//! Making, opening, upgrading and checking a database file.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::faults::{self, Faults};
use super::open::{PATIENCE, distrust};
use super::place::{check_place, create_private};
use super::{SqliteStore, chains, shape};
use crate::error::{Code, Error, Result};
use crate::file::unreadable;

/// The schema, step by step. A new database takes all steps, an older one those that it lacks.
const SCHEMA: &[&str] = &[
    include_str!("../schema/1-tasks.sql"),
    include_str!("../schema/2-orchestrator.sql"),
];
/// Version of the schema that this program writes.
const VERSION: i32 = SCHEMA.len() as i32;
/// Digest of the schema; see [`shape::digest`]. A test tells it.
const DIGEST: &str = "sha256:9ac63861061cc730038c1754ec695370e218b9be9008f14257167fea45bb74e7";
/// Marks the file as cleo's: "cleo" in ASCII.
const APPLICATION: i32 = 0x636c_656f;
/// How every SQLite file begins.
const MAGIC: &[u8] = b"SQLite format 3\0";

impl SqliteStore {
    /// Makes a new database file with the schema. The file must not exist.
    pub fn create(path: &Path) -> Result<SqliteStore> {
        create_private(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let store = SqliteStore::connect(path, flags)?;
        let steps = SCHEMA.concat();
        let setup = format!(
            "PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; {steps}
             PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;"
        );
        store.connection.execute_batch(&setup).at(path)?;
        Ok(store)
    }

    /// Opens an existing database file and checks that it is one that this program can read.
    pub fn open(path: &Path) -> Result<SqliteStore> {
        check_place(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = SqliteStore::connect(path, flags).and_then(SqliteStore::checked);
        match opened {
            Err(error) if matches!(error.code, Code::StoreReadOnly | Code::DiskFull) => {
                SqliteStore::open_unchanging(path).map_err(|_| error)
            }
            opened => opened,
        }
    }

    /// Opens a database file on a disk where SQLite cannot put the files that it keeps beside it.
    /// Without a log, all that there is to read is in the file.
    fn open_unchanging(path: &Path) -> Result<SqliteStore> {
        if log_of(path).exists() {
            return Err(faults::corrupt(path, "its log cannot be read"));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let escaped = path.to_string_lossy().replace('%', "%25");
        let escaped = escaped.replace('?', "%3f").replace('#', "%23");
        let connection = Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags);
        let path = path.to_path_buf();
        SqliteStore::checked(SqliteStore {
            connection: connection.at(&path)?,
            path,
            together: None,
        })
    }

    fn checked(self) -> Result<SqliteStore> {
        self.check_version()?;
        Ok(self)
    }

    /// Moves everything from the log into the database file, which can then be copied or moved.
    pub fn settle(self) -> Result<()> {
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        self.connection
            .query_row(checkpoint, (), |_| Ok(()))
            .at(&self.path)?;
        let path = self.path.clone();
        self.connection
            .close()
            .map_err(|(_, fault)| fault)
            .at(&path)
    }

    /// The error for a database file that is gone while its log is there. A new database in its
    /// place would take the old log for its own.
    pub fn orphaned(path: &Path) -> Error {
        faults::corrupt(path, "it is gone, and only its log cleo.db-wal is left")
    }

    /// Checks that a file is a database of cleo, and not of a newer one, without changing it.
    pub fn check_file(path: &Path) -> Result<()> {
        let mut head = [0; 100];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
        // Format of SQLite: the name first, the version at byte 60, the application id at byte 68.
        match read {
            Ok(()) if head.starts_with(MAGIC) && head[68..72] == APPLICATION.to_be_bytes() => {
                match version_of(path, &head) {
                    found if found > VERSION => Err(newer(path, found)),
                    _ => Ok(()),
                }
            }
            Err(cause) if cause.kind() != ErrorKind::UnexpectedEof => Err(unreadable(path, cause)),
            _ => Err(faults::corrupt(path, "it is no database of cleo")),
        }
    }

    /// The error for something in the place of the database that is no file.
    pub fn no_file(path: &Path) -> Error {
        faults::corrupt(path, "it is no regular file")
    }

    fn connect(path: &Path, flags: OpenFlags) -> Result<SqliteStore> {
        let connection = Connection::open_with_flags(path, flags).at(path)?;
        connection.busy_timeout(PATIENCE).at(path)?;
        // The log outlives the process: a command neither waits for a checkpoint nor causes one.
        connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
            .at(path)?;
        // A plan never depends on the values asked for, so that a question asked a thousand times is
        // planned once.
        connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
            .at(path)?;
        distrust(&connection).at(path)?;
        connection.set_prepared_statement_cache_capacity(128);
        Ok(SqliteStore {
            connection,
            path: path.to_path_buf(),
            together: None,
        })
    }

    fn check_version(&self) -> Result<()> {
        let number = |pragma: &str| -> Result<i32> {
            let read = self.connection.query_row(pragma, (), |row| row.get(0));
            read.at(&self.path)
        };
        if number("PRAGMA application_id")? != APPLICATION {
            return Err(faults::corrupt(&self.path, "it is no database of cleo"));
        }
        match number("PRAGMA user_version")? {
            VERSION => self.check_shape(),
            found if found > VERSION => Err(newer(&self.path, found)),
            older if older > 0 => self.upgrade().and_then(|()| self.check_shape()),
            _ => Err(faults::corrupt(&self.path, "it is no database of cleo")),
        }
    }

    fn check_shape(&self) -> Result<()> {
        shape::check(&self.connection, &self.path, DIGEST, SCHEMA)
    }

    /// Takes the steps of the schema that an older database lacks, all or none. Another process
    /// may have taken them meanwhile.
    fn upgrade(&self) -> Result<()> {
        self.connection
            .execute_batch("BEGIN IMMEDIATE")
            .at(&self.path)?;
        let version = self
            .connection
            .query_row("PRAGMA user_version", (), |row| row.get(0));
        let done: i32 = version.at(&self.path)?;
        let done = done.unsigned_abs() as usize;
        let missing = SCHEMA.get(done..).unwrap_or(&[]);
        let steps = missing.concat();
        let known = SCHEMA.get(..done).unwrap_or(&[]);
        if let Err(error) = shape::compare(&self.connection, &self.path, known) {
            let _ = self.connection.execute_batch("ROLLBACK");
            return Err(error);
        }
        let upgrade = || -> rusqlite::Result<()> {
            self.connection.execute_batch(&steps)?;
            chains::settle_all(&self.connection)?;
            let end = format!("PRAGMA user_version = {VERSION}; COMMIT;");
            self.connection.execute_batch(&end)
        };
        let upgraded = upgrade().at(&self.path);
        if upgraded.is_err() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        upgraded
    }
}

/// The error for a database whose schema this program does not know yet.
fn newer(path: &Path, found: i32) -> Error {
    let path = path.display();
    let message =
        format!("{path} has schema version {found}; this cleo knows versions up to {VERSION}");
    Error::new(Code::StoreNewer, message).fix("cleo --version")
}

/// Reads the version of a database from its head; where there is a log, which may know of a later one, from
/// that. A log that cannot be read is left to whoever needs what is in it.
fn version_of(path: &Path, head: &[u8; 100]) -> i32 {
    let in_head = i32::from_be_bytes([head[60], head[61], head[62], head[63]]);
    let logged = || -> Option<i32> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let store = SqliteStore::connect(path, flags).ok()?;
        let read = store
            .connection
            .query_row("PRAGMA user_version", (), |row| row.get(0));
        read.ok()
    };
    let found = log_of(path).exists().then(logged).flatten();
    found.unwrap_or(in_head)
}

/// Returns where SQLite keeps the write-ahead log of a database file.
pub fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push("-wal");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_a_foreign_and_a_broken_file_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cleo.db");
        SqliteStore::create(&path).unwrap().settle().unwrap();
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let store = SqliteStore::connect(&path, flags).unwrap();
        let changed = store.connection.execute_batch("PRAGMA user_version = 9");
        changed.unwrap();
        drop(store);
        assert_eq!(
            SqliteStore::open(&path).err().map(|e| e.code),
            Some(Code::StoreNewer)
        );

        // At first the log alone knows, then the head of the file.
        let checked = SqliteStore::check_file(&path).unwrap_err();
        assert_eq!(checked.code, Code::StoreNewer);
        let store = SqliteStore::connect(&path, flags).unwrap();
        store.settle().unwrap();
        std::fs::remove_file(log_of(&path)).unwrap();
        let checked = SqliteStore::check_file(&path).unwrap_err();
        assert_eq!(checked.code, Code::StoreNewer);

        let foreign = folder.path().join("foreign.db");
        Connection::open(&foreign)
            .unwrap()
            .execute_batch("CREATE TABLE x (y)")
            .unwrap();
        assert_eq!(
            SqliteStore::open(&foreign).err().map(|e| e.code),
            Some(Code::StoreCorrupt)
        );

        let other = folder.path().join("other.db");
        let store = SqliteStore::create(&other).unwrap();
        let renamed = "ALTER TABLE claims RENAME COLUMN since TO began; CREATE TABLE mine (x);";
        store.connection.execute_batch(renamed).unwrap();
        let error = SqliteStore::open(&other).err().unwrap();
        assert_eq!(error.code, Code::StoreSchema);
        assert!(error.message.contains("its `claims`"), "{}", error.message);
        let back = "ALTER TABLE claims RENAME COLUMN began TO since";
        store.connection.execute_batch(back).unwrap();
        SqliteStore::open(&other).unwrap();

        let broken = folder.path().join("broken.db");
        std::fs::write(
            &broken,
            "no database, but long enough to have a header of one".repeat(9),
        )
        .unwrap();
        assert_eq!(
            SqliteStore::open(&broken).err().map(|e| e.code),
            Some(Code::StoreCorrupt)
        );
    }
}

#[cfg(test)]
mod upgrades {
    use super::*;

    #[test]
    fn schema_has_the_digest_that_is_expected() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(&SCHEMA.concat()).unwrap();
        assert_eq!(shape::digest(&connection).unwrap(), DIGEST);
    }

    #[test]
    fn an_older_database_is_upgraded_when_it_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cleo.db");
        let old = format!(
            "{} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = 1;
             INSERT INTO tasks (number, title, description, type, status, priority, files,
                 acceptance, deliverables, notes, extra, created_at, updated_at)
             VALUES (1, 'a', '', 'task', 'done', 'low', '[]', '[]', '[]', '[]', '{{}}', '', ''),
                    (2, 'b', '', 'task', 'pending', 'high', '[]', '[]', '[]', '[]', '{{}}', '', ''),
                    (3, 'c', '', 'task', 'pending', 'high', '[]', '[]', '[]', '[]', '{{}}', '', '');
             INSERT INTO task_depends VALUES (2, 0, 1), (3, 0, 2);",
            SCHEMA[0]
        );
        Connection::open(&path)
            .unwrap()
            .execute_batch(&old)
            .unwrap();
        let store = SqliteStore::open(&path).unwrap();
        let open_needs = "SELECT group_concat(number || ':' || open_needs) FROM nodes";
        let found: String = store
            .connection
            .query_row(open_needs, (), |row| row.get(0))
            .unwrap();
        assert_eq!(found, "1:0,2:0,3:1");
        let below = "SELECT group_concat(number || ':' || below) FROM nodes";
        let found: String = store
            .connection
            .query_row(below, (), |row| row.get(0))
            .unwrap();
        assert_eq!(found, "1:2,2:1,3:0");
        let ready = "SELECT value FROM counters WHERE name = 'ready'";
        let found: i64 = store
            .connection
            .query_row(ready, (), |row| row.get(0))
            .unwrap();
        assert_eq!(found, 1);
        drop(store);
        SqliteStore::open(&path).unwrap();
    }
}
