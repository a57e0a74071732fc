//! Serializes changes to the files of a repository: of all processes with runs in it, one at a time makes
//! worktrees, merges and copies reports. The turn is a file lock, so it ends with its process.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use super::Trees;
use crate::error::{Code, Error, Result};
use crate::file::{lock_in_turn, open_to_write, unwritable};

/// How long a turn is waited for: whoever has it may run the commands of criteria meanwhile.
pub(in crate::coordinator) const PATIENCE: Duration = Duration::from_secs(20 * 60);
/// How long is waited where nothing goes on meanwhile.
const SHORT_PATIENCE: Duration = Duration::from_secs(60);
const MARK: &str = "cleo.lock";

pub(in crate::coordinator) struct Turn {
    _lock: File,
}

pub(in crate::coordinator) struct Asked {
    since: Instant,
    answer: Receiver<io::Result<Option<File>>>,
}

impl Trees {
    /// Takes the turn if nobody has it.
    pub(in crate::coordinator) fn turn_now(&self) -> Result<Option<Turn>> {
        let file = self.mark()?;
        match file.try_lock() {
            Ok(()) => self.begun(file).map(Some),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(cause)) => Err(unwritable(&self.mark, cause)),
        }
    }

    pub(in crate::coordinator) fn turn(&self) -> Result<Turn> {
        let locked = lock_in_turn(self.mark()?, SHORT_PATIENCE);
        self.taken(locked)
    }

    pub(in crate::coordinator) fn ask(&self) -> Result<Asked> {
        let file = self.mark()?;
        let (sender, answer) = mpsc::channel();
        // Who does not listen any more drops the lock with the message.
        let wait = move || drop(sender.send(lock_in_turn(file, PATIENCE)));
        let spawned = thread::Builder::new().spawn(wait);
        spawned.map_err(|cause| unwritable(&self.mark, cause))?;
        Ok(Asked {
            since: Instant::now(),
            answer,
        })
    }

    /// Returns the turn that was asked for, once it has come; an error when that takes too long.
    pub(in crate::coordinator) fn come(
        &self,
        asked: &Asked,
        patience: Duration,
    ) -> Result<Option<Turn>> {
        match asked.answer.try_recv() {
            Ok(locked) => self.taken(locked).map(Some),
            Err(TryRecvError::Empty) if asked.since.elapsed() < patience => Ok(None),
            Err(_) => Err(self.digest_file()),
        }
    }

    fn taken(&self, locked: io::Result<Option<File>>) -> Result<Turn> {
        let file = locked.map_err(|cause| unwritable(&self.mark, cause))?;
        file.map_or_else(|| Err(self.digest_file()), |lock| self.begun(lock))
    }

    /// Begins a turn, recovering first from a crash in the last one.
    fn begun(&self, lock: File) -> Result<Turn> {
        self.recover()?;
        Ok(Turn { _lock: lock })
    }

    fn digest_file(&self) -> Error {
        let place = self.top.display();
        let message =
            format!("another run has kept the files of the repository {place} for too long");
        Error::new(Code::LockTimeout, message).fix("cleo runs list --status running")
    }

    fn mark(&self) -> Result<File> {
        open_to_write(&self.mark).map_err(|cause| unwritable(&self.mark, cause))
    }

    pub(super) fn place_of_mark(&self) -> Result<PathBuf> {
        let plain = self.top.join(".git");
        if plain.is_dir() {
            return Ok(plain.join(MARK));
        }
        let folder = self.done("rev-parse --absolute-git-dir")?;
        Ok(Path::new(&folder).join(MARK))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn trees(top: &Path) -> Trees {
        Trees {
            top: top.to_path_buf(),
            inside: PathBuf::new(),
            folder: top.join("trees"),
            run: "run_1".to_string(),
            mark: top.join(MARK),
            base: None,
            dead_locks: RefCell::default(),
            warnings: RefCell::default(),
        }
    }

    #[test]
    fn one_at_a_time_has_the_turn_and_waiting_for_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let trees = trees(folder.path());
        let first = trees.turn_now().unwrap().unwrap();
        assert!(trees.turn_now().unwrap().is_none());
        let asked = trees.ask().unwrap();
        assert!(trees.come(&asked, PATIENCE).unwrap().is_none());
        let late = trees.come(&asked, Duration::ZERO).err().unwrap();
        assert_eq!(late.code, Code::LockTimeout);
        drop(first);
        let begun = Instant::now();
        while trees.come(&asked, PATIENCE).unwrap().is_none() {
            assert!(begun.elapsed() < Duration::from_secs(60));
            thread::yield_now();
        }
    }
}
