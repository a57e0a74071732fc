//! Whose turn it is to write. SQLite lets a writer who waits ask again after longer and longer
//! pauses: whoever comes late is often first, and among many some never get their turn. The kernel
//! lets them queue for a lock, here on the folder of the database. Nothing but the order depends
//! on it; that one writes at a time is still SQLite's business.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Holds the turn; dropping it lets the next one write.
pub(super) struct Turn(#[expect(dead_code, reason = "the lock lives as long as the file")] File);

/// Waits for the turn. `Ok(None)` where the folder cannot be locked; an error when `patience` was
/// not enough.
pub(super) fn take(database: &Path, patience: Duration) -> Result<Option<Turn>, RecvTimeoutError> {
    let folder = database.parent().and_then(|folder| File::open(folder).ok());
    let Some(folder) = folder else {
        return Ok(None);
    };
    match folder.try_lock() {
        Ok(()) => Ok(Some(Turn(folder))),
        Err(TryLockError::WouldBlock) => queue(folder, patience),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Waits in a thread of its own, because the kernel knows no limit of time. One that comes too late
/// gives the turn back at once.
fn queue(folder: File, patience: Duration) -> Result<Option<Turn>, RecvTimeoutError> {
    let (sender, receiver) = channel();
    let wait = move || {
        let is_locked = lock(&folder);
        let _ = sender.send(is_locked.then_some(Turn(folder)));
    };
    match thread::Builder::new().spawn(wait) {
        Ok(_) => receiver.recv_timeout(patience),
        Err(_) => Ok(None),
    }
}

fn lock(folder: &File) -> bool {
    loop {
        match folder.lock() {
            Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
            locked => return locked.is_ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_waited_for_and_patience_ends() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("cleo.db");
        let first = take(&database, Duration::ZERO).unwrap();
        assert!(first.is_some());
        assert!(take(&database, Duration::from_millis(1)).is_err());
        drop(first);
        assert!(take(&database, Duration::from_secs(60)).unwrap().is_some());
    }

    #[test]
    fn where_nothing_can_be_locked_sqlite_decides() {
        let gone = Path::new("/no/such/folder/cleo.db");
        assert!(take(gone, Duration::ZERO).unwrap().is_none());
    }
}
