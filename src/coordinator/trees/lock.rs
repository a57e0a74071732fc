//! Serializes changes to the files of a repository: of all processes with runs in it, one at a time makes
//! worktrees, merges and copies reports. The turn is a file lock, so it ends with its process.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Trees;
use crate::error::{Code, Error, Result};
use crate::file::{lock_in_turn, open_to_write, unwritable};

/// How long a turn is waited for: its holder may run the commands of criteria meanwhile.
pub(in crate::coordinator) const LOCK_TIMEOUT: Duration = Duration::from_secs(20 * 60);
/// How long a lock is waited for when nothing else can be done meanwhile.
const SHORT_LOCK_TIMEOUT: Duration = Duration::from_secs(60);
const LOCK_FILE: &str = "cleo.lock";

impl Trees {
    /// Waits for the lock of the repository, and recovers first from a crash of the process that had it before.
    pub(in crate::coordinator) fn lock(&self) -> Result<File> {
        let locked = lock_in_turn(self.open_lock_file()?, SHORT_LOCK_TIMEOUT);
        let lock = locked.map_err(|cause| unwritable(&self.lock_file, cause))?;
        let lock = lock.ok_or_else(|| self.refuse_lock())?;
        self.recover().map(|()| lock)
    }

    /// As [`Trees::lock`], and `None` while another run has the lock.
    pub(in crate::coordinator) fn try_lock(&self) -> Result<Option<File>> {
        let lock = self.open_lock_file()?;
        match lock.try_lock() {
            Ok(()) => self.recover().map(|()| Some(lock)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(cause)) => Err(unwritable(&self.lock_file, cause)),
        }
    }

    pub(in crate::coordinator) fn refuse_lock(&self) -> Error {
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
