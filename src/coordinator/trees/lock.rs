//! Serializes changes to the files of a repository: of all processes with runs in it, one at a time makes
//! worktrees, merges and copies reports. The turn is a file lock, so it ends with its process.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::time::{Duration, Instant};
use std::{io, thread};

use super::Trees;
use crate::error::{Code, Error, Result};
use crate::file::{lock_in_turn, open_to_write, unwritable};

/// How long a turn is waited for: its holder may run the commands of criteria meanwhile.
pub(in crate::coordinator) const LOCK_TIMEOUT: Duration = Duration::from_secs(20 * 60);
/// How long a lock is waited for when nothing else can be done meanwhile.
const SHORT_LOCK_TIMEOUT: Duration = Duration::from_secs(60);
const LOCK_FILE: &str = "cleo.lock";

pub(in crate::coordinator) struct LockRequest {
    since: Instant,
    answer: Receiver<io::Result<Option<File>>>,
}

impl Trees {
    pub(in crate::coordinator) fn lock(&self) -> Result<File> {
        let locked = lock_in_turn(self.open_lock_file()?, SHORT_LOCK_TIMEOUT);
        self.accept_lock(locked)
    }

    /// Returns the lock once it has come, for which `request` stands meanwhile; an error when that takes too long.
    pub(in crate::coordinator) fn poll_lock(
        &self,
        request: &mut Option<LockRequest>,
        timeout: Duration,
    ) -> Result<Option<File>> {
        let asked = match request.take() {
            Some(asked) => asked,
            None => {
                let file = self.open_lock_file()?;
                if file.try_lock().is_ok() {
                    return self.accept_lock(Ok(Some(file))).map(Some);
                }
                self.request_lock(file)?
            }
        };
        match asked.answer.try_recv() {
            Ok(locked) => self.accept_lock(locked).map(Some),
            Err(TryRecvError::Empty) if asked.since.elapsed() < timeout => {
                *request = Some(asked);
                Ok(None)
            }
            Err(_) => Err(self.refuse_lock()),
        }
    }

    fn request_lock(&self, file: File) -> Result<LockRequest> {
        let (sender, answer) = mpsc::channel();
        // Without a receiver the lock is dropped with the message.
        let wait = move || drop(sender.send(lock_in_turn(file, LOCK_TIMEOUT)));
        let spawned = thread::Builder::new().spawn(wait);
        spawned.map_err(|cause| unwritable(&self.lock_file, cause))?;
        let since = Instant::now();
        Ok(LockRequest { since, answer })
    }

    /// Takes a lock over, and recovers first from a crash of the process that had it before.
    fn accept_lock(&self, locked: io::Result<Option<File>>) -> Result<File> {
        let lock = locked.map_err(|cause| unwritable(&self.lock_file, cause))?;
        let lock = lock.ok_or_else(|| self.refuse_lock())?;
        self.recover().map(|()| lock)
    }

    fn refuse_lock(&self) -> Error {
        let place = self.top.display();
        let message = format!(
            "timed out waiting for another run to release the lock of the repository {place}"
        );
        Error::new(Code::LockTimeout, message).fix("cleo runs list --status running")
    }

    fn open_lock_file(&self) -> Result<File> {
        open_to_write(&self.lock_file).map_err(|cause| unwritable(&self.lock_file, cause))
    }

    pub(super) fn find_lock_file(&self) -> Result<PathBuf> {
        let plain = self.top.join(".git");
        if plain.is_dir() {
            return Ok(plain.join(LOCK_FILE));
        }
        let folder = self.run("rev-parse --absolute-git-dir")?;
        Ok(Path::new(&folder).join(LOCK_FILE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;

    #[test]
    fn lock_is_waited_for_and_patience_ends() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        std::fs::write(folder.path().join(".git/HEAD"), "").unwrap();
        let workspace = Workspace::from(folder.path().to_path_buf());
        let trees = Trees::open(&workspace, folder.path(), "run_1", None).unwrap();
        let first = trees.lock().unwrap();
        let mut request = None;
        let late = trees.poll_lock(&mut request, Duration::ZERO).err().unwrap();
        assert_eq!((late.code, request.is_some()), (Code::LockTimeout, false));
        assert!(
            trees
                .poll_lock(&mut request, LOCK_TIMEOUT)
                .unwrap()
                .is_none()
        );
        drop(first);
        let begun = Instant::now();
        while trees
            .poll_lock(&mut request, LOCK_TIMEOUT)
            .unwrap()
            .is_none()
        {
            assert!(begun.elapsed() < Duration::from_secs(60));
            thread::yield_now();
        }
    }
}
