//! Floor of a writing command: opens a database with the same settings and durably commits one
//! row of the size of a task.

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

fn main() -> rusqlite::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_default();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(std::time::Duration::from_secs(30))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;
         CREATE TABLE IF NOT EXISTS rows (number INTEGER PRIMARY KEY, text TEXT) STRICT;
         BEGIN IMMEDIATE;",
    )?;
    let text = "a task of the size of one that somebody types ".repeat(6);
    connection.execute("INSERT INTO rows (text) VALUES (?1)", [text])?;
    connection.execute_batch("COMMIT")
}
