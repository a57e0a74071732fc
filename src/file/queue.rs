//! Waiting for a lock on a file in turn. A process that asks again after a pause can be passed by all that
//! come later, and among many some would never get their turn; the kernel lets them queue.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Locks a file against all others that lock it; none when `patience` was not enough. The lock ends
/// with the file or the process.
pub(crate) fn lock_in_turn(file: File, patience: Duration) -> io::Result<Option<File>> {
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => queue(file, patience),
        Err(TryLockError::Error(cause)) => Err(cause),
    }
}

/// Waits in a thread of its own, because the kernel knows no limit of time. A lock that comes too
/// late is given back at once.
fn queue(file: File, patience: Duration) -> io::Result<Option<File>> {
    let (sender, receiver) = channel();
    let wait = move || {
        let locked = lock(&file);
        let _ = sender.send(locked.map(|()| file));
    };
    thread::Builder::new().spawn(wait)?;
    match receiver.recv_timeout(patience) {
        Ok(locked) => locked.map(Some),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(cause) => Err(io::Error::other(cause)),
    }
}

fn lock(file: &File) -> io::Result<()> {
    loop {
        match file.lock() {
            Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
            locked => return locked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_waited_for_and_patience_ends() {
        let folder = tempfile::tempdir().unwrap();
        let lock = |patience| lock_in_turn(File::open(folder.path()).unwrap(), patience).unwrap();
        let first = lock(Duration::ZERO);
        assert!(first.is_some());
        assert!(lock(Duration::from_millis(1)).is_none());
        thread::scope(|scope| {
            let second = scope.spawn(|| lock(Duration::from_secs(60)));
            drop(first);
            assert!(second.join().unwrap().is_some());
        });
    }
}
