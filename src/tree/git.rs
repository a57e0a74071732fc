//! Asking git, of whose repository nothing is believed: its settings may be an attacker's. Git only
//! lists names and resolves commits. It gets a clean environment, a time limit, and runs neither
//! hooks, monitors, filters nor transports.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Code, Error, Result};
use crate::runner::git;
use crate::runner::process::{self, Captured};

const LIMIT: Duration = Duration::from_secs(30);
const OUTPUT_MAX: usize = 64 << 20;
/// Longest revision, in bytes.
const REVISION_MAX: usize = 200;

pub(super) enum Files {
    /// Relative to the root: those it tracks and those that it does not ignore.
    Known(Vec<PathBuf>),
    NoRepository,
    Unknown(String),
}

struct Git<'a> {
    program: &'a OsStr,
    limit: Duration,
    /// Folder of the repository's files.
    top: PathBuf,
    /// Where git is run: the root of the workspace.
    folder: PathBuf,
}

pub(super) fn files(root: &Path) -> Result<Files> {
    match Git::at(root) {
        Some(git) => git.files(),
        None => Ok(Files::NoRepository),
    }
}

/// Returns the commit that is checked out; none without a repository or a commit.
pub(crate) fn head(root: &Path) -> Result<Option<String>> {
    match Git::at(root) {
        Some(git) => Ok(git.resolve("HEAD")?.ok()),
        None => Ok(None),
    }
}

/// Returns whether a branch is there and has commits that what is checked out lacks; one of which git cannot say
/// it has none.
pub(crate) fn is_ahead(root: &Path, branch: &str) -> Result<bool> {
    let Some(git) = Git::at(root) else {
        return Ok(false);
    };
    let name = format!("refs/heads/{branch}");
    let answer = match git.ask(&["for-each-ref", "--no-merged=HEAD", &name]) {
        Err(error) if error.code == Code::ProgramMissing => return Ok(false),
        answer => answer?,
    };
    Ok(git.problem(&answer).is_none() && !answer.stdout.is_empty())
}

/// Resolves a revision to the full id of a commit that is there.
pub(crate) fn commit(root: &Path, revision: &str) -> Result<String> {
    let refuse = |why: &str| {
        let message = format!("`{revision}` is no commit: {why}");
        Err(Error::new(Code::InputInvalid, message).fix("git log --oneline -5"))
    };
    let is_plain = revision.chars().all(|c| !c.is_control()) && revision.len() <= REVISION_MAX;
    if revision.is_empty() || revision.starts_with('-') || !is_plain {
        return refuse("a revision is one short line that does not begin with `-`");
    }
    let Some(git) = Git::at(root) else {
        let message = format!("`{revision}` is no commit: there is no git repository here");
        return Err(Error::new(Code::InputInvalid, message));
    };
    match git.resolve(revision)? {
        Ok(id) => Ok(id),
        Err(why) => refuse(&why),
    }
}

impl Git<'static> {
    fn at(folder: &Path) -> Option<Git<'static>> {
        let folder = folder.canonicalize().ok()?;
        let mut above = folder.ancestors();
        let top = above.find(|path| path.join(".git").symlink_metadata().is_ok())?;
        Some(Git {
            program: OsStr::new("git"),
            limit: LIMIT,
            top: top.to_path_buf(),
            folder: folder.clone(),
        })
    }
}

impl Git<'_> {
    fn files(&self) -> Result<Files> {
        let list = [
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ];
        let listed = match self.ask(&list) {
            Err(error) if error.code == Code::ProgramMissing => return Ok(Files::NoRepository),
            listed => listed?,
        };
        if let Some(problem) = self.problem(&listed) {
            let is_none = problem.contains("not a git repository");
            return Ok(if is_none {
                Files::NoRepository
            } else {
                Files::Unknown(problem)
            });
        }
        let names = listed.stdout.split(|byte| *byte == 0);
        let names = names.filter(|name| !name.is_empty()).map(OsStr::from_bytes);
        Ok(Files::Known(names.map(PathBuf::from).collect()))
    }

    fn resolve(&self, revision: &str) -> Result<std::result::Result<String, String>> {
        let wanted = format!("{revision}^{{commit}}");
        let answer = match self.ask(&["rev-parse", "--verify", "--end-of-options", &wanted]) {
            Err(error) if error.code == Code::ProgramMissing => return Ok(Err(error.message)),
            answer => answer?,
        };
        if let Some(problem) = self.problem(&answer) {
            return Ok(Err(problem));
        }
        let id = String::from_utf8_lossy(&answer.stdout).trim().to_string();
        let is_id = matches!(id.len(), 40 | 64) && id.bytes().all(|b| b.is_ascii_hexdigit());
        Ok(if is_id {
            Ok(id)
        } else {
            Err("git names no commit".to_string())
        })
    }

    fn problem(&self, answer: &Captured) -> Option<String> {
        let finished = &answer.finished;
        if finished.timed_out {
            let seconds = self.limit.as_secs();
            return Some(format!("git was ended after {seconds} seconds"));
        }
        if finished.exit_code != Some(0) {
            let said = finished.last_lines.last().map_or("nothing", String::as_str);
            return Some(format!("git failed and said: {said}"));
        }
        (!answer.is_whole).then(|| "git named more than can be read".to_string())
    }

    /// Runs git. Naming repository and files spares it looking for them, so a setting cannot lead
    /// it elsewhere.
    fn ask(&self, arguments: &[&str]) -> Result<Captured> {
        let mut command = git::command(self.program, &self.folder);
        command
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_DIR", self.top.join(".git"))
            .env("GIT_WORK_TREE", &self.top)
            .args(arguments);
        process::capture(command, self.limit, OUTPUT_MAX)
    }
}

/// The branch that must not exist: the branches of runs are named below it.
pub(crate) const RESERVED_BRANCH: &str = "refs/heads/cleo";
/// The first version that has `git merge-tree --write-tree`.
const GIT_MIN: (u32, u32) = (2, 38);

/// Refuses a git that is too old. `said` is the answer of `git version`.
pub(crate) fn require_git_version(said: &str) -> Result<()> {
    let version = said.trim().trim_start_matches("git version ");
    let mut numbers = version.split(['.', ' ']).map(str::parse::<u32>);
    let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else {
        return Ok(());
    };
    if (major, minor) >= GIT_MIN {
        return Ok(());
    }
    let message = format!(
        "git {version} is too old: `--isolate worktree` needs git {}.{} or later",
        GIT_MIN.0, GIT_MIN.1
    );
    Err(Error::new(Code::InputInvalid, message).fix("git --version"))
}

pub(crate) fn refuse_branch() -> Error {
    let message = "the repository has a branch `cleo`, so git cannot make the branches `cleo/RUN/TASK` of \
                   `--isolate worktree`; rename it";
    Error::new(Code::InputInvalid, message)
        .or("rename it to was-cleo", "git branch --move cleo was-cleo")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_that_hangs_is_ended_and_said_to_be() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("hang");
        std::fs::write(&script, "#!/bin/sh\nsleep 60\n").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&script, mode).unwrap();
        let git = Git {
            program: script.as_os_str(),
            limit: Duration::from_millis(200),
            top: folder.path().to_path_buf(),
            folder: folder.path().to_path_buf(),
        };
        let Files::Unknown(problem) = git.files().unwrap() else {
            panic!("it hangs");
        };
        assert!(problem.contains("was ended"), "{problem}");
    }

    #[test]
    fn old_git_is_refused() {
        for (said, expected) in [
            ("git version 2.38.0\n", true),
            ("git version 2.39.5 (Apple Git-154)", true),
            ("git version 2.47.3", true),
            ("git version 3.0.rc1", true),
            ("git version 2.37.9", false),
            ("git version 1.99.windows.1", false),
            ("something else", true),
        ] {
            assert_eq!(require_git_version(said).is_ok(), expected, "{said}");
        }
    }
}
