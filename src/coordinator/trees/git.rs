//! How git is called for worktrees and merges; which options every call has is said in `runner::git`.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::Trees;
use crate::error::{Code, Error, Result, quote};
use crate::runner::{self, orphans, process, signals};

const LIMIT: Duration = Duration::from_secs(300);
const ANSWER_MAX: usize = 1 << 20;
const LIST_MAX: usize = 256 << 20;

/// The output of git, or what it complains of when it fails.
pub(super) type Said = std::result::Result<String, String>;

pub(super) const DIFF: [&str; 8] = [
    "diff",
    "--name-only",
    "--no-ext-diff",
    "--no-relative",
    "--no-renames",
    "-O/dev/null",
    "--ignore-submodules=none",
    "-z",
];

pub(super) const STATUS: [&str; 6] = [
    "status",
    "--porcelain",
    "--untracked-files=all",
    "--ignore-submodules=none",
    "--no-renames",
    "-z",
];

pub(super) const IGNORED: [&str; 5] = [
    "ls-files",
    "--others",
    "--ignored",
    "--exclude-standard",
    "-z",
];

impl Trees {
    pub(super) fn done<W: AsRef<OsStr>>(
        &self,
        folder: &Path,
        words: impl IntoIterator<Item = W>,
    ) -> Result<String> {
        let said = self.git(folder, words)?;
        said.map_err(|said| failed(folder, &said))
    }

    pub(super) fn listed<W: AsRef<OsStr>>(
        &self,
        folder: &Path,
        words: impl IntoIterator<Item = W>,
    ) -> Result<String> {
        let said = self.asked(folder, words, LIST_MAX)?;
        said.map_err(|said| failed(folder, &said))
    }

    pub(super) fn git<W: AsRef<OsStr>>(
        &self,
        folder: &Path,
        words: impl IntoIterator<Item = W>,
    ) -> Result<Said> {
        self.asked(folder, words, ANSWER_MAX)
    }

    /// Names a place in the folder of the run that only the git of the run, and what that starts, has in its
    /// environment.
    pub(super) fn place_of_git(&self) -> PathBuf {
        self.folder.with_file_name("git")
    }

    fn asked<W: AsRef<OsStr>>(
        &self,
        folder: &Path,
        words: impl IntoIterator<Item = W>,
        most: usize,
    ) -> Result<Said> {
        let mut command = runner::git::command(OsStr::new("git"), folder);
        // A worktree that lost its mark is not taken for a part of the repository around it.
        command.env("GIT_CEILING_DIRECTORIES", &self.folder);
        // By these it is found and ended when cleo is killed.
        command.env(orphans::RUN, &self.run);
        command.env(orphans::ROOT, self.place_of_git());
        for (name, value) in [
            ("GIT_AUTHOR_NAME", "cleo"),
            ("GIT_AUTHOR_EMAIL", "cleo@localhost"),
            ("GIT_COMMITTER_NAME", "cleo"),
            ("GIT_COMMITTER_EMAIL", "cleo@localhost"),
        ] {
            command.env(name, value);
        }
        command.args(words);
        let captured = process::capture(command, LIMIT, most)?;
        let finished = captured.finished;
        if finished.exit_code == Some(0) {
            return Ok(Ok(String::from_utf8_lossy(&captured.stdout).into_owned()));
        }
        let said = finished.last_lines.join("; ");
        Ok(Err(if said.is_empty() {
            "it said nothing".to_string()
        } else {
            said
        }))
    }
}

pub(super) fn pathspec(magic: &str, place: &Path) -> OsString {
    let mut named = OsString::from(format!(":({magic})"));
    named.push(place);
    named
}

pub(super) fn failed(folder: &Path, said: &str) -> Error {
    let message = format!("git failed in {}: {said}", folder.display());
    let place = quote(&folder.to_string_lossy());
    Error::new(Code::FileUnwritable, message).fix(format!("git -C {place} status"))
}

const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(100);

pub(super) type Lock = (PathBuf, Option<SystemTime>);

impl Trees {
    pub(super) fn change<W: AsRef<OsStr>>(
        &self,
        folder: &Path,
        words: impl IntoIterator<Item = W>,
    ) -> Result<String> {
        let said = self.try_change(folder, words)?;
        said.map_err(|said| failed(folder, &said))
    }

    /// Runs git to change something, and again while another process holds a lock that it needs: git takes
    /// its locks before it changes anything. It is an error when the lock stays.
    pub(super) fn try_change<W: AsRef<OsStr>>(
        &self,
        folder: &Path,
        words: impl IntoIterator<Item = W>,
    ) -> Result<Said> {
        let words = words.into_iter();
        let words: Vec<OsString> = words.map(|word| word.as_ref().to_os_string()).collect();
        let begun = Instant::now();
        loop {
            let said = self.git(folder, &words)?;
            let Some(lock) = said.as_ref().err().and_then(|said| find_lock(folder, said)) else {
                return Ok(said);
            };
            // One that was waited for in vain, and is the same since, is not waited for again.
            if begun.elapsed() >= PATIENCE || self.dead_locks.borrow().contains(&lock) {
                let error = lock_error(&lock.0);
                self.dead_locks.borrow_mut().insert(lock);
                return Err(error);
            }
            signals::sleep(PAUSE, "cleo waited for a lock of git")?;
        }
    }
}

fn find_lock(folder: &Path, said: &str) -> Option<Lock> {
    let plain = said.split_once("Unable to create '").and_then(|(_, rest)| {
        let (path, _) = rest.split_once("': File exists")?;
        path.ends_with(".lock").then(|| path.to_string())
    });
    let config = said.split_once("could not lock config file ");
    let config = config.and_then(|(_, rest)| Some(rest.split_once(": File exists")?.0));
    let path = plain.or_else(|| config.map(|path| format!("{path}.lock")))?;
    let path = folder.join(path);
    let made = path.symlink_metadata().and_then(|there| there.modified());
    Some((path, made.ok()))
}

/// Returns true where a process may hold a lock: it has the file open, or it is a git of another account,
/// whose files cannot be seen. Without `/proc` none is found.
pub(super) fn may_be_held(lock: &Metadata) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else {
        return false;
    };
    let id = (lock.dev(), lock.ino());
    processes.flatten().any(|process| {
        let place = process.path();
        let is_lock = |file: fs::DirEntry| {
            fs::metadata(file.path()).is_ok_and(|file| (file.dev(), file.ino()) == id)
        };
        let mut open = fs::read_dir(place.join("fd"))
            .into_iter()
            .flatten()
            .flatten();
        let name = fs::read(place.join("comm")).unwrap_or_default();
        let folder = fs::read_link(place.join("cwd"));
        let is_hidden = folder.is_err_and(|cause| cause.kind() == ErrorKind::PermissionDenied);
        open.any(is_lock) || (is_hidden && name.starts_with(b"git"))
    })
}

fn lock_error(lock: &Path) -> Error {
    let message = format!(
        "another process holds the lock {} of git; it was waited for {} s",
        lock.display(),
        PATIENCE.as_secs()
    );
    let look = format!("ls -l {}", quote(&lock.to_string_lossy()));
    Error::new(Code::LockTimeout, message).fix(look)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn lock_is_held_as_long_as_it_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("index.lock");
        fs::write(&lock, "").unwrap();
        let there = lock.symlink_metadata().unwrap();
        let open = fs::File::open(&lock).unwrap();
        assert!(may_be_held(&there));
        drop(open);
        assert!(!may_be_held(&there));
    }

    #[test]
    fn locks_are_read_from_the_words_of_git() {
        let top = Path::new("/r");
        for (said, expected) in [
            (
                "fatal: Unable to create '/r/.git/index.lock': File exists.; ; Another git process",
                Some("/r/.git/index.lock"),
            ),
            (
                "fatal: update_ref failed for ref 'refs/heads/a': cannot lock ref 'HEAD': Unable to create \
                 '.git/HEAD.lock': File exists.",
                Some("/r/.git/HEAD.lock"),
            ),
            (
                "error: could not lock config file .git/config: File exists",
                Some("/r/.git/config.lock"),
            ),
            ("fatal: Unable to create '/r/x': File exists.", None),
            (
                "fatal: Unable to create '/r/a.lock': Permission denied",
                None,
            ),
            ("fatal: 'refs/heads/cleo' exists", None),
        ] {
            let found = find_lock(top, said).map(|(path, _)| path);
            assert_eq!(found.as_deref(), expected.map(Path::new), "{said}");
        }
    }
}
