//! How git is called for worktrees and merges; which options every call has is said in `runner::git`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Trees;
use crate::error::{Code, Error, Result, quote};
use crate::runner::{self, orphans, process};

const LIMIT: Duration = Duration::from_secs(300);
/// Most bytes of an answer of git that are read.
const ANSWER_MAX: usize = 1 << 20;
/// Most bytes of a list of all files that are read.
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
