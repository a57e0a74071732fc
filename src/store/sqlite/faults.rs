//! What SQLite reports, in cleo's codes.

use std::path::{Path, PathBuf};

use rusqlite::{ErrorCode, ffi};

use crate::error::{Code, Error, Result, quote};

/// Failures of the system that come where a file is written or made longer. SQLite does not say whether
/// there was no room: of all reasons it knows only the full disk.
const UNWRITTEN: [i32; 6] = [
    ffi::SQLITE_IOERR_WRITE,
    ffi::SQLITE_IOERR_FSYNC,
    ffi::SQLITE_IOERR_DIR_FSYNC,
    ffi::SQLITE_IOERR_TRUNCATE,
    ffi::SQLITE_IOERR_SHMOPEN,
    ffi::SQLITE_IOERR_SHMSIZE,
];

/// Turns results of SQLite into ours.
pub(super) trait Faults<T> {
    /// Names the file that the fault is about.
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
            Error::new(Code::DiskFull, message).fix(format!("df -h {}", folder(path)))
        }
        Some(ErrorCode::SystemIoFailure) if is_unwritten(&fault) => unwritten(&fault, path),
        Some(ErrorCode::ReadOnly | ErrorCode::SystemIoFailure) => {
            let message = format!("{place} cannot be written: {fault}");
            Error::new(Code::StoreReadOnly, message).fix(format!("ls -ld {}", folder(path)))
        }
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            let message = format!("{place} cannot be opened: {fault}");
            Error::new(Code::StoreReadOnly, message).fix(format!("ls -ld {}", folder(path)))
        }
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            corrupt(path, &fault.to_string())
        }
        Some(_) => Error::new(Code::Internal, format!("{place}: {fault}")),
        // A row that cannot be read as what it should be.
        None if is_foreign_row(&fault) => corrupt(path, &fault.to_string()),
        None => Error::new(Code::Internal, format!("{place}: {fault}")),
    };
    error.because(fault)
}

fn is_unwritten(fault: &rusqlite::Error) -> bool {
    let code = fault.sqlite_error().map(|error| error.extended_code);
    code.is_some_and(|code| UNWRITTEN.contains(&code))
}

/// The error for a write that the system refused, mostly for want of room.
fn unwritten(fault: &rusqlite::Error, path: &Path) -> Error {
    let place = path.display();
    let message = format!(
        "{place} cannot be written: {fault}; there is no room on the disk, in the quota or below the \
         limit on the size of files, or the disk is faulty"
    );
    Error::new(Code::DiskFull, message)
        .fix(format!("df -h {}", folder(path)))
        .or("see the limit on the size of files", "ulimit -f")
}

/// The error for a database that others have held for too long.
pub(super) fn busy(path: &Path) -> Error {
    let place = path.display();
    let message = format!("another process has held {place} for more than 30 seconds");
    Error::new(Code::LockTimeout, message)
}

fn is_foreign_row(fault: &rusqlite::Error) -> bool {
    matches!(
        fault,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
    )
}

fn folder(path: &Path) -> String {
    quote(&path.parent().unwrap_or(path).to_string_lossy())
}

/// The error for a file that is no usable database.
pub(super) fn corrupt(path: &Path, why: &str) -> Error {
    let place = path.display();
    Error::new(Code::StoreCorrupt, format!("{place} cannot be read: {why}")).fix(anew(path))
}

/// Returns the command that moves a database away and makes a new one. Its log must go with it: a new
/// database in its place would take the log for its own.
pub(super) fn anew(path: &Path) -> String {
    let folder = path.parent().unwrap_or(path);
    let aside = quote(&unused(folder).to_string_lossy());
    let files = quote(&path.to_string_lossy());
    let root = folder.parent().unwrap_or(folder).to_string_lossy();
    let root = quote(&root);
    format!("mkdir {aside} && mv {files}* {aside} && cleo --root {root} init")
}

/// Names a folder that is not there yet, so that what was moved away before stays as it is.
fn unused(folder: &Path) -> PathBuf {
    let names = std::iter::once("broken".to_string());
    let mut names = names.chain((2_u32..).map(|number| format!("broken-{number}")));
    let free = names.find(|name| !folder.join(name).exists());
    folder.join(free.unwrap_or_else(|| "broken".to_string()))
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
