//! Creates, opens and checks database files, including their schema.

use std::cell::Cell;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::FromSql;
use rusqlite::{Connection, OpenFlags};

use super::place::{DatabaseFiles, check_place, create_private, foreign_store};
use super::{PATIENCE, SqliteStore, last};
use crate::error::{Code, Result};
use crate::file::unreadable;
use crate::score::normalize;
use crate::store::sql::checksum::Checksum;
use crate::store::sql::faults::{self, Faults};
use crate::store::sql::tasks::SCHEMA;

/// Version of the schema that this program reads and writes.
pub(super) const VERSION: i32 = 1;
/// Is added to the version once an agent was stored.
pub(super) const HOLDS_AGENTS: i32 = 1 << 8;
/// Marks the file as cleo's: "cleo" in ASCII.
const APPLICATION: i32 = 0x636c_656f;

impl SqliteStore {
    /// Makes a new database file with the schema. The file must not exist.
    pub(crate) fn create(path: &Path) -> Result<SqliteStore> {
        create_private(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let store = SqliteStore::connect(path, flags)?;
        let setup = format!(
            "PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; {SCHEMA}
             PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;"
        );
        store.connection.execute_batch(&setup).at(path)?;
        Ok(store.note_files())
    }

    /// Opens a database; none where there is no file. A log without its database is an error, because a new database
    /// would replay it.
    pub(crate) fn open_if_there(path: &Path) -> Result<Option<SqliteStore>> {
        SqliteStore::find(path, |path| SqliteStore::open(path).map(Some))
    }

    /// Opens a database in which agents were stored. Of another one only the header is read: with its first query
    /// SQLite reads the whole schema, which takes longer than to choose among the built-in agents.
    pub(crate) fn open_if_agents(path: &Path) -> Result<Option<SqliteStore>> {
        SqliteStore::find(path, |path| {
            let connected = SqliteStore::connect_own(path);
            match connected.as_ref().is_ok_and(SqliteStore::lacks_agents) {
                true => Ok(None),
                false => SqliteStore::check_connected(path, connected).map(Some),
            }
        })
    }

    /// Returns true if the header says that no agent was ever stored.
    fn lacks_agents(&self) -> bool {
        let number = |name| pragma(&self.connection, &self.path, name).ok();
        (number("application_id"), number("user_version")) == (Some(APPLICATION), Some(VERSION))
    }

    fn find(
        path: &Path,
        open: impl Fn(&Path) -> Result<Option<SqliteStore>>,
    ) -> Result<Option<SqliteStore>> {
        let other = path.with_file_name("agents.db");
        if other.exists() {
            return Err(faults::other_version(&other, None));
        }
        // The log is looked for first: one that another process makes meanwhile has a database.
        let has_log = log_of(path).exists();
        match fs::metadata(path) {
            // Opening a pipe or a device would wait for ever.
            Ok(there) if !there.is_file() => Err(faults::corrupt(path, "it is not a regular file")),
            Ok(_) => open(path),
            Err(cause) if cause.kind() != ErrorKind::NotFound => Err(unreadable(path, cause)),
            Err(_) if has_log => {
                let why = "it is gone, and only its log cleo.db-wal is left";
                Err(faults::corrupt(path, why))
            }
            // `init` would not make one in place of a link.
            Err(_) => check_place(path).map(|()| None),
        }
    }

    pub(super) fn open(path: &Path) -> Result<SqliteStore> {
        SqliteStore::check_connected(path, SqliteStore::connect_own(path))
    }

    fn connect_own(path: &Path) -> Result<SqliteStore> {
        check_place(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        SqliteStore::connect(path, flags)
    }

    fn check_connected(path: &Path, connected: Result<SqliteStore>) -> Result<SqliteStore> {
        match connected.and_then(SqliteStore::check_opened) {
            Err(error) if matches!(error.code, Code::StoreReadOnly | Code::DiskFull) => {
                SqliteStore::open_unchanging(path).map_err(|_| error)
            }
            opened => opened,
        }
    }

    /// Opens a database on a disk where SQLite cannot create its side files. Without a log the file is
    /// complete.
    fn open_unchanging(path: &Path) -> Result<SqliteStore> {
        if log_of(path).exists() {
            return Err(faults::corrupt(path, "its log cannot be read"));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let escaped = path.to_string_lossy().replace('%', "%25");
        let escaped = escaped.replace('?', "%3f").replace('#', "%23");
        let address = format!("file:{escaped}?immutable=1");
        let mut store = SqliteStore::connect(Path::new(&address), flags)?;
        store.path = path.to_path_buf();
        SqliteStore::check_opened(store)
    }

    fn check_opened(self) -> Result<SqliteStore> {
        self.check_version()?;
        last::report_lost_commits(&self.connection, &self.path);
        Ok(self.note_files())
    }

    /// Notes the files once SQLite has opened them: it opens the log when it first reads.
    fn note_files(mut self) -> SqliteStore {
        self.files = DatabaseFiles::new(&self.path);
        self
    }

    /// Moves everything from the log to the database file.
    pub(crate) fn checkpoint(self) -> Result<()> {
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let done = self.connection.query_row(checkpoint, (), |_| Ok(()));
        done.at(&self.path)
    }

    pub(super) fn connect(path: &Path, flags: OpenFlags) -> Result<SqliteStore> {
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
        configure(&connection).at(path)?;
        connection.set_prepared_statement_cache_capacity(128);
        Ok(SqliteStore {
            connection,
            path: path.to_path_buf(),
            files: DatabaseFiles::default(),
            commits: Cell::default(),
        })
    }

    fn check_version(&self) -> Result<()> {
        let number = |name| pragma::<i32>(&self.connection, &self.path, name);
        if number("application_id")? != APPLICATION {
            return Err(faults::corrupt(&self.path, "it is not a database of cleo"));
        }
        match number("user_version")? & !HOLDS_AGENTS {
            VERSION => check_schema(&self.connection, &self.path),
            found if found > 0 => Err(faults::other_version(&self.path, None)),
            _ => Err(faults::corrupt(&self.path, "it is not a database of cleo")),
        }
    }
}

/// Restricts what a schema can do: no functions with effects, no changes of the schema by hand. Adds
/// `normalized(text)`, in which queries search words, and `checksum`: statements that write a row store what it returns
/// for the values, and `unchanged!` compares it.
fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("normalized", 1, flags, |context| {
        let text = context.get::<Option<String>>(0)?;
        Ok(text.map(|text| normalize(&text)))
    })?;
    connection.create_scalar_function("checksum", -1, flags, |values| {
        let mut checksum = Checksum::default();
        (0..values.len()).for_each(|at| checksum.add(values.get_raw(at)));
        Ok(checksum.sum())
    })
}

/// Reads the number that a pragma holds.
pub(super) fn pragma<T: FromSql>(connection: &Connection, path: &Path, name: &str) -> Result<T> {
    let statement = connection.prepare_cached(&format!("PRAGMA {name}"));
    let read = statement.and_then(|mut it| it.query_row((), |row| row.get(0)));
    read.at(path)
}

pub(super) fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push("-wal");
    name.into()
}

/// Refuses a database that was not made by the statements of our schema. It may hold plain tables of others, and those
/// that SQLite keeps for the index of words. The kind and the name that a row claims for itself are not looked at: SQLite
/// goes by the statement alone.
fn check_schema(connection: &Connection, path: &Path) -> Result<()> {
    if is_exact(connection).at(path)? {
        return Ok(());
    }
    let statements = SCHEMA.split(";\n");
    let statements = statements.filter_map(|text| Some(&text[text.find("CREATE ")?..]));
    let (mut missing, mut other): (Vec<&str>, _) = (statements.collect(), None);
    let found = "SELECT sql, name FROM sqlite_schema WHERE sql IS NOT NULL";
    let mut found = connection.prepare(found).at(path)?;
    let mut rows = found.query(()).at(path)?;
    while let Some(row) = rows.next().at(path)? {
        let sql: String = row.get(0).at(path)?;
        match missing.iter().position(|own| *own == sql) {
            Some(at) => drop(missing.remove(at)),
            None if makes_table(&sql) => {}
            None => other = Some(row.get::<_, String>(1).at(path)?),
        }
    }
    if let Some(part) = missing.first() {
        let mut words = part.split([' ', '(']);
        let is_kind = |word: &str| word == "TABLE" || word == "INDEX";
        let name = words.position(is_kind).and_then(|_| words.next());
        return Err(faults::other_version(path, name));
    }
    let Some(name) = other else { return Ok(()) };
    let message = format!(
        "{} holds `{name}`, which cleo did not make and which could change what is read and written; \
         of others it may hold plain tables only",
        path.display()
    );
    Err(foreign_store(message))
}

/// Returns true if a database was made by the statements of our schema in their order, with nothing but plain tables
/// between them. Every command asks this first: to compare in any order takes five times as long.
fn is_exact(connection: &Connection) -> rusqlite::Result<bool> {
    let mut found = connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")?;
    let mut rows = found.query(())?;
    let mut rest = find_statement(SCHEMA);
    while let Some(row) = rows.next()? {
        let sql = row.get_ref(0)?.as_str()?;
        match rest.strip_prefix(sql) {
            Some(after) if after.starts_with(';') => rest = find_statement(after),
            _ if makes_table(sql) => {}
            _ => return Ok(false),
        }
    }
    Ok(rest.is_empty())
}

/// Returns the text from its first line on that begins a statement: a search for a word takes five times as long.
fn find_statement(mut text: &str) -> &str {
    while !text.starts_with("CREATE ") && !text.is_empty() {
        text = text.split_once('\n').map_or("", |(_, after)| after);
    }
    text
}

fn makes_table(sql: &str) -> bool {
    let head = sql.get(.."CREATE TABLE ".len()).unwrap_or_default();
    head.eq_ignore_ascii_case("CREATE TABLE ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn another_version_foreign_and_broken_file_differ() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cleo.db");
        SqliteStore::create(&path).unwrap().checkpoint().unwrap();
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let store = SqliteStore::connect(&path, flags).unwrap();
        let changed = store.connection.execute_batch("PRAGMA user_version = 9");
        changed.unwrap();
        drop(store);
        assert_eq!(
            SqliteStore::open(&path).err().map(|e| e.code),
            Some(Code::StoreSchema)
        );

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

    #[test]
    fn store_of_agents_is_found_by_its_header() {
        let folder = tempfile::tempdir().unwrap();
        let [path, saved] = ["cleo.db", "saved.db"].map(|name| folder.path().join(name));
        let mut store = SqliteStore::create(&path).unwrap();
        let is_found = |path| SqliteStore::open_if_agents(path).unwrap().is_some();
        assert!(!is_found(&path));
        let mut transaction = store.write_records().unwrap();
        let agent = crate::agent::builtin::agents().pop().unwrap();
        transaction.put_agent(&agent).unwrap();
        assert!(!is_found(&path));
        transaction.commit().unwrap();
        assert!(is_found(&path));
        SqliteStore::open(&path)
            .unwrap()
            .save_readable(&saved)
            .unwrap();
        assert!(is_found(&saved));
    }

    #[test]
    fn only_plain_tables_of_others_are_accepted() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        for (sql, is_accepted) in [
            ("CREATE TABLE theirs (a)", true),
            ("CREATE INDEX theirs_by_a ON theirs (a)", false),
        ] {
            connection.execute_batch(sql).unwrap();
            assert_eq!(
                check_schema(&connection, Path::new("x")).is_ok(),
                is_accepted
            );
        }
    }
}
