//! Floor of a reading command: opens the same database, reads one row by its key, prints it.

use rusqlite::{Connection, OpenFlags};

#[expect(clippy::print_stdout, reason = "printing is part of what is measured")]
fn main() -> rusqlite::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_default();
    let number: u32 = arguments
        .next()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    let sql = "SELECT title FROM tasks WHERE number = ?1";
    let title: String = connection.query_row(sql, [number], |row| row.get(0))?;
    println!("{title}");
    Ok(())
}
