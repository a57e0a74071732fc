//! Translates errors of SQLite to those of cleo.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{ErrorCode, ffi};

use super::row::Row;
use crate::error::{Code, Error, Result, quote};
use crate::store::left_out::{CLAIM_OF, Damage, GATES_OF, PROMPT_OF};

/// Tables whose rows have a name that people know, by what a query of them holds.
const KINDS: [(&str, &str); 17] = [
    ("FROM counters", "counter"),
    ("FROM tasks", "T"),
    ("FROM nodes", "T"),
    ("FROM spawns", PROMPT_OF),
    ("FROM links", "a link of task"),
    ("FROM gates", GATES),
    ("FROM claims", CLAIM_OF),
    ("FROM operations o", "operation"),
    ("FROM changes", "change"),
    ("FROM sessions", "session"),
    ("FROM phases", "phase"),
    ("FROM runs", "run"),
    ("FROM events", "event"),
    ("FROM agents", "agent"),
    ("FROM conversations", "conversation"),
    ("FROM messages", "message"),
    ("FROM records", "record"),
];
const GATES: &str = "the gate record of a task,";
/// How much of the name of a damaged row is shown, in bytes.
const NAME_MAX: usize = 80;

/// I/O errors while a file is written or extended. SQLite reports only a full disk as such, no quota or size
/// limit.
const UNWRITTEN: [i32; 6] = [
    ffi::SQLITE_IOERR_WRITE,
    ffi::SQLITE_IOERR_FSYNC,
    ffi::SQLITE_IOERR_DIR_FSYNC,
    ffi::SQLITE_IOERR_TRUNCATE,
    ffi::SQLITE_IOERR_SHMOPEN,
    ffi::SQLITE_IOERR_SHMSIZE,
];

pub(in crate::store) trait Faults<T> {
    fn at(self, path: &Path) -> Result<T>;
}

impl<T> Faults<T> for rusqlite::Result<T> {
    fn at(self, path: &Path) -> Result<T> {
        self.map_err(|fault| translate(fault, path))
    }
}

fn translate(fault: rusqlite::Error, path: &Path) -> Error {
    let place = path.display();
    let error = match fault.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => busy(path),
        Some(ErrorCode::DiskFull) => {
            let message = format!("{place} cannot be written: {fault}");
            Error::new(Code::DiskFull, message).fix(format!("df -h {}", quoted_folder(path)))
        }
        Some(ErrorCode::SystemIoFailure)
            if fault
                .sqlite_error()
                .is_some_and(|error| UNWRITTEN.contains(&error.extended_code)) =>
        {
            disk_full(&fault, path)
        }
        Some(ErrorCode::ReadOnly | ErrorCode::SystemIoFailure) => {
            let message = format!("{place} cannot be written: {fault}");
            Error::new(Code::StoreReadOnly, message).fix(format!("ls -ld {}", quoted_folder(path)))
        }
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            let message = format!("{place} cannot be opened: {fault}");
            Error::new(Code::StoreReadOnly, message).fix(format!("ls -ld {}", quoted_folder(path)))
        }
        Some(ErrorCode::NotADatabase) => corrupt(path, &fault.to_string()),
        _ if is_damage(&fault) => {
            corrupt(path, &fault.to_string()).or("save what can be read", "cleo doctor --fix")
        }
        Some(_) => Error::new(Code::Internal, format!("{place}: {fault}")),
        None => Error::new(Code::Internal, format!("{place}: {fault}")),
    };
    error.because(fault)
}

/// Returns whether pages, or values that SQLite itself writes, are damaged.
fn is_damage(fault: &rusqlite::Error) -> bool {
    use rusqlite::Error::{InvalidColumnType, Utf8Error};
    fault.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt)
        || matches!(fault, InvalidColumnType(..) | Utf8Error(..))
}

fn disk_full(fault: &rusqlite::Error, path: &Path) -> Error {
    let place = path.display();
    let message = format!(
        "{place} cannot be written: {fault}; there is no room on the disk, in the quota or below the \
         limit on the size of files, or the disk is faulty"
    );
    Error::new(Code::DiskFull, message)
        .fix(format!("df -h {}", quoted_folder(path)))
        .or("see the limit on the size of files", "ulimit -f")
}

pub(in crate::store) fn busy(path: &Path) -> Error {
    let place = path.display();
    let message = format!("another process has held {place} for more than 30 seconds");
    Error::new(Code::LockTimeout, message)
}

fn quoted_folder(path: &Path) -> String {
    quote(&path.parent().unwrap_or(path).to_string_lossy())
}

pub(in crate::store) fn corrupt(path: &Path, why: &str) -> Error {
    let place = path.display();
    let message = format!(
        "{place} cannot be read: {why}. cleo leaves it as it is; restore a copy of `cleo backup`"
    );
    Error::new(Code::StoreCorrupt, message)
}

pub(in crate::store) fn damage(
    row: &Row<'_>,
    sql: &str,
    fault: &rusqlite::Error,
) -> Option<Damage> {
    let (column, cause) = match fault {
        rusqlite::Error::FromSqlConversionFailure(column, _, cause) => (column, cause.to_string()),
        rusqlite::Error::InvalidColumnType(column, _, kind) => (column, format!("it is {kind}")),
        rusqlite::Error::IntegralValueOutOfRange(column, number) => {
            (column, format!("{number} is out of range"))
        }
        rusqlite::Error::Utf8Error(column, cause) => (column, cause.to_string()),
        _ => return None,
    };
    let name = row.column_name(*column).unwrap_or_default();
    // Lists of other tables are read by a query of their own.
    let part = if name.contains('(') { "a list" } else { name };
    let place = |known: &&(&str, &str)| sql.contains(known.0);
    let (_, kind) = KINDS.iter().find(place).unwrap_or(&("", "a row"));
    let first = match row.get_ref(0) {
        // An unreadable value is not a name, except an id of the wrong form.
        _ if *column == 0 && !matches!(name, "id" | "slug") => {
            (*kind).trim_end_matches(',').to_string()
        }
        Ok(ValueRef::Integer(number)) if *kind == "T" => format!("T{number}"),
        Ok(ValueRef::Integer(task)) if *kind == GATES => format!("{GATES_OF}T{task}"),
        Ok(ValueRef::Integer(number)) => format!("{kind} {number}"),
        Ok(ValueRef::Text(text)) => {
            let text = String::from_utf8_lossy(&text[..text.len().min(NAME_MAX)]).into_owned();
            format!("{kind} `{text}`")
        }
        _ => (*kind).to_string(),
    };
    Some(Damage {
        row: first,
        what: format!("{}: {cause}", part.trim_start_matches("t.")),
    })
}

/// Returns the error for a database of another version of cleo. `part` is a table or index that differs.
pub(in crate::store) fn other_version(path: &Path, part: Option<&str>) -> Error {
    let place = path.display();
    let differs = part.map_or(String::new(), |part| format!(" (its `{part}` differs)"));
    let message = format!(
        "{place} was written by another version of cleo{differs}; export it with the program that wrote it"
    );
    Error::new(Code::StoreSchema, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_nothing_can_be_written_there_may_be_no_room() {
        let path = Path::new("/w/.cleo/cleo.db");
        let error = |code: i32| {
            let fault = ffi::Error::new(code);
            let message = Some("disk I/O error".to_string());
            translate(rusqlite::Error::SqliteFailure(fault, message), path)
        };
        for code in UNWRITTEN.into_iter().chain([ffi::SQLITE_FULL]) {
            let error = error(code);
            assert_eq!(error.code, Code::DiskFull, "{code}");
            assert_eq!(error.fix.as_deref(), Some("df -h /w/.cleo"), "{code}");
        }
        for code in [
            ffi::SQLITE_IOERR,
            ffi::SQLITE_IOERR_READ,
            ffi::SQLITE_READONLY,
        ] {
            assert_eq!(error(code).code, Code::StoreReadOnly, "{code}");
        }
    }
}
