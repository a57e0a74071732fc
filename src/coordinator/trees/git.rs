//! How git is called for worktrees and merges; which options every call has is said in `runner::git`.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Trees;
use crate::error::{Code, Error, Result, quote};
use crate::runner::process::{self, Finished};
use crate::runner::{self, orphans, signals};

const LIMIT: Duration = Duration::from_secs(300);
const ANSWER_MAX: usize = 256 << 20;
/// How long a lock of another process is waited for.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

pub(super) const DIFF: &str = "diff --name-only --no-ext-diff --no-relative --no-renames -O/dev/null \
     --ignore-submodules=none -z";
pub(super) const STATUS: &str =
    "status --porcelain --untracked-files=all --ignore-submodules=none --no-renames -z";
pub(super) const OTHERS: &str = "ls-files --others -z";
pub(super) const IGNORED: &str = "ls-files --others --ignored --exclude-standard -z";

/// The output of git without its last line break, or what it complains of when it fails.
pub(super) type Answer = std::result::Result<String, String>;

/// The arguments of a call of git, and its input.
pub(super) struct Words {
    words: Vec<OsString>,
    input: Option<Vec<u8>>,
}

impl<T: AsRef<str>> From<T> for Words {
    /// Takes words that blanks separate.
    fn from(words: T) -> Words {
        let words = words.as_ref().split(' ').filter(|word| !word.is_empty());
        Words {
            words: words.map(OsString::from).collect(),
            input: None,
        }
    }
}

impl Words {
    /// Adds words that may hold blanks.
    pub(super) fn with<W: AsRef<OsStr>>(words: &str, more: impl IntoIterator<Item = W>) -> Words {
        let mut words = Words::from(words);
        let more = more.into_iter().map(|word| word.as_ref().to_os_string());
        words.words.extend(more);
        words
    }

    /// Adds names that git reads from its input.
    pub(super) fn with_names(words: &str, names: &[&str], separator: &str) -> Words {
        Words {
            input: Some(names.join(separator).into_bytes()),
            ..Words::from(words)
        }
    }
}

pub(super) struct Git<'a> {
    trees: &'a Trees,
    folder: &'a Path,
}

impl Trees {
    pub(super) fn git_in<'a>(&'a self, folder: &'a Path) -> Git<'a> {
        Git {
            trees: self,
            folder,
        }
    }

    /// Runs git at the top of the repository, as [`Git::ask`].
    pub(super) fn ask(&self, words: impl Into<Words>) -> Result<Answer> {
        self.git_in(&self.top).ask(words)
    }

    pub(super) fn run(&self, words: impl Into<Words>) -> Result<String> {
        self.git_in(&self.top).run(words)
    }

    pub(super) fn list(&self, words: impl Into<Words>) -> Result<Vec<String>> {
        self.git_in(&self.top).list(words)
    }

    pub(super) fn succeeds(&self, words: impl Into<Words>) -> Result<bool> {
        Ok(self.ask(words)?.is_ok())
    }

    /// Names a place in the folder of the run that only the git of the run, and what that starts, has in its
    /// environment.
    pub(super) fn git_mark_path(&self) -> PathBuf {
        self.folder.with_file_name("git")
    }
}

impl Git<'_> {
    /// Runs git, and again while another process holds a lock that it needs: git takes its locks before it
    /// changes anything. It is an error when the lock stays.
    pub(super) fn ask(&self, words: impl Into<Words>) -> Result<Answer> {
        let words = words.into();
        let begun = Instant::now();
        loop {
            let said = self.call(&words)?;
            let lock = said.as_ref().err();
            let Some(lock) = lock.and_then(|said| find_lock(self.folder, said)) else {
                return Ok(said);
            };
            if begun.elapsed() >= LOCK_TIMEOUT {
                let (place, seconds) = (lock.to_string_lossy(), LOCK_TIMEOUT.as_secs());
                let message = format!(
                    "another process holds the lock {place} of git; it was waited for {seconds} s"
                );
                let look = format!("ls -l {}", quote(&place));
                return Err(Error::new(Code::LockTimeout, message).fix(look));
            }
            signals::sleep(RETRY_INTERVAL, "cleo waited for a lock of git")?;
        }
    }

    pub(super) fn run(&self, words: impl Into<Words>) -> Result<String> {
        let said = self.ask(words)?;
        said.map_err(|said| refuse_git(self.folder, &said))
    }

    /// Returns the entries of a list that zeros separate.
    pub(super) fn list(&self, words: impl Into<Words>) -> Result<Vec<String>> {
        let listed = self.run(words)?;
        let names = listed.split('\0').filter(|name| !name.is_empty());
        Ok(names.map(str::to_string).collect())
    }

    /// Returns the output of git as it is; none where it fails.
    pub(super) fn read(&self, words: impl Into<Words>) -> Result<Option<Vec<u8>>> {
        let captured = self.capture(&words.into())?;
        let is_whole = captured.exit_code == Some(0) && captured.is_whole;
        Ok(is_whole.then_some(captured.stdout))
    }

    fn call(&self, words: &Words) -> Result<Answer> {
        let captured = self.capture(words)?;
        let said = match captured.exit_code {
            Some(0) => {
                let said = String::from_utf8_lossy(&captured.stdout);
                return Ok(Ok(said.trim_end_matches('\n').to_string()));
            }
            _ => captured.last_lines.join("; "),
        };
        Ok(Err(match said.as_str() {
            "" => "it said nothing".to_string(),
            _ => said,
        }))
    }

    fn capture(&self, words: &Words) -> Result<Finished> {
        let mut command = runner::git::command(OsStr::new("git"), self.folder);
        // A worktree that lost its mark is not taken for a part of the repository around it.
        command.env("GIT_CEILING_DIRECTORIES", &self.trees.folder);
        // By these it is found and ended when cleo is killed.
        command.env(orphans::RUN, &self.trees.run);
        command.env(orphans::ROOT, self.trees.git_mark_path());
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "cleo");
            command.env(format!("GIT_{who}_EMAIL"), "cleo@localhost");
        }
        command.args(&words.words);
        match &words.input {
            Some(input) => process::run_with_input(command, input.clone(), LIMIT, ANSWER_MAX),
            None => process::capture(command, LIMIT, ANSWER_MAX),
        }
    }
}

pub(super) fn pathspec(magic: &str, place: &Path) -> OsString {
    let mut named = OsString::from(format!(":({magic})"));
    named.push(place);
    named
}

pub(super) fn refuse_git(folder: &Path, said: &str) -> Error {
    let message = format!("git failed in {}: {said}", folder.display());
    let place = quote(&folder.to_string_lossy());
    Error::new(Code::FileUnwritable, message).fix(format!("git -C {place} status"))
}

fn find_lock(folder: &Path, said: &str) -> Option<PathBuf> {
    let plain = said.split_once("Unable to create '").and_then(|(_, rest)| {
        let (path, _) = rest.split_once("': File exists")?;
        path.ends_with(".lock").then(|| path.to_string())
    });
    let config = said.split_once("could not lock config file ");
    let config = config.and_then(|(_, rest)| Some(rest.split_once(": File exists")?.0));
    Some(folder.join(plain.or_else(|| config.map(|path| format!("{path}.lock")))?))
}

/// Returns true where a process may hold a lock: it has the file open or runs in a folder, or it is a git of another
/// account, whose files cannot be seen. Without `/proc` none is found.
pub(super) fn can_be_held(lock: &Metadata, folder: Option<&Path>) -> bool {
    let id = (lock.dev(), lock.ino());
    let entries = |place: &Path| fs::read_dir(place).into_iter().flatten().flatten();
    let is_lock = |file: fs::DirEntry| {
        fs::metadata(file.path()).is_ok_and(|file| (file.dev(), file.ino()) == id)
    };
    entries(Path::new("/proc")).any(|process| {
        let place = process.path();
        let name = fs::read(place.join("comm")).unwrap_or_default();
        let works_in = fs::read_link(place.join("cwd"));
        let is_inside = |at: &PathBuf| folder.is_some_and(|folder| at.starts_with(folder));
        if works_in.as_ref().is_ok_and(is_inside) {
            return true;
        }
        let is_hidden = works_in.is_err_and(|cause| cause.kind() == ErrorKind::PermissionDenied);
        entries(&place.join("fd")).any(is_lock) || (is_hidden && name.starts_with(b"git"))
    })
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
        assert!(can_be_held(&there, None));
        drop(open);
        assert!(!can_be_held(&there, None));
    }
}
