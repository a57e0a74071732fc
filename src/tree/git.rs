//! Asking git, of whose repository nothing is believed: its settings may be an attacker's. Git only
//! lists names and resolves commits. It gets a clean environment, a time limit, and runs neither
//! hooks, monitors, filters nor transports.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Code, Error, Result};
use crate::runner::{git, process};

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

/// The output of git, or why there is none.
type Answer = std::result::Result<Vec<u8>, String>;

/// Lists the files of a repository; git names them relative to the root.
pub(super) fn files(root: &Path) -> Result<Files> {
    let list = "ls-files -z --cached --others --exclude-standard";
    let names = match ask_if_there(root, list.split(' '))? {
        None => return Ok(Files::NoRepository),
        Some(Err(problem)) if problem.contains("not a git repository") => {
            return Ok(Files::NoRepository);
        }
        Some(Err(problem)) => return Ok(Files::Unknown(problem)),
        Some(Ok(names)) => names,
    };
    let names = names
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty());
    let names = names.map(|name| PathBuf::from(OsStr::from_bytes(name)));
    Ok(Files::Known(names.collect()))
}

/// Returns the commit that is checked out; none without a repository or a commit.
pub(crate) fn head(root: &Path) -> Result<Option<String>> {
    Ok(resolve(root, "HEAD")?.and_then(|id| id.ok()))
}

/// Returns whether a branch exists and has commits that the checkout lacks; false if git cannot tell.
pub(crate) fn is_ahead(root: &Path, branch: &str) -> Result<bool> {
    let name = format!("refs/heads/{branch}");
    let found = ask_if_there(root, ["for-each-ref", "--no-merged=HEAD", &name])?;
    Ok(found.is_some_and(|found| found.is_ok_and(|found| !found.is_empty())))
}

/// Returns the commit at which a branch left the checkout; none without the branch.
pub(crate) fn find_fork(root: &Path, branch: &str) -> Result<Option<String>> {
    let name = format!("refs/heads/{branch}");
    let found = ask_if_there(root, ["merge-base", "HEAD", &name])?;
    let found = found.and_then(std::result::Result::ok);
    Ok(found.map(|id| String::from_utf8_lossy(&id).trim().to_string()))
}

/// Resolves a revision to the full id of a commit that is there.
pub(crate) fn commit(root: &Path, revision: &str) -> Result<String> {
    let refuse = |why: &str| {
        let message = format!("`{revision}` is not a commit: {why}");
        Err(Error::new(Code::InputInvalid, message).fix("git log --oneline -5"))
    };
    let is_plain = revision.chars().all(|c| !c.is_control()) && revision.len() <= REVISION_MAX;
    if revision.is_empty() || revision.starts_with('-') || !is_plain {
        return refuse("a revision is one short line that does not begin with `-`");
    }
    match resolve(root, revision)? {
        Some(Ok(id)) => Ok(id),
        Some(Err(why)) => refuse(&why),
        None => {
            let message = format!("`{revision}` is not a commit: there is no git repository here");
            Err(Error::new(Code::InputInvalid, message))
        }
    }
}

/// Returns the full id of a revision, or why it has none; `None` without a repository or git.
fn resolve(root: &Path, revision: &str) -> Result<Option<std::result::Result<String, String>>> {
    let wanted = format!("{revision}^{{commit}}");
    let answer = ask_if_there(root, ["rev-parse", "--verify", "--end-of-options", &wanted])?;
    Ok(answer.map(|answer| {
        let id = String::from_utf8_lossy(&answer?).trim().to_string();
        is_commit_id(&id)
            .then_some(id)
            .ok_or("git names no commit".to_string())
    }))
}

/// Returns whether a text is the full id of a commit, and nothing that git takes for an option.
pub(crate) fn is_commit_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Finds the top of the repository that a folder is in. As for git, an empty folder `.git` is not a repository.
pub(crate) fn find_top(folder: &Path) -> Option<&Path> {
    let mut above = folder.ancestors();
    above.find(|path| {
        let mark = path.join(".git");
        mark.symlink_metadata().is_ok() && (!mark.is_dir() || mark.join("HEAD").exists())
    })
}

/// Runs git in a folder; `None` without a repository or git. Naming repository and files spares git looking for them, so a
/// setting cannot lead it elsewhere.
pub(super) fn ask_if_there<'a>(
    root: &Path,
    arguments: impl IntoIterator<Item = &'a str>,
) -> Result<Option<Answer>> {
    let Ok(root) = root.canonicalize() else {
        return Ok(None);
    };
    let Some(top) = find_top(&root) else {
        return Ok(None);
    };
    let variables = [
        ("GIT_DIR", top.join(".git").into_os_string()),
        ("GIT_WORK_TREE", top.as_os_str().to_os_string()),
    ];
    let arguments = arguments.into_iter().map(OsStr::new);
    match ask_with(&root, &variables, arguments) {
        Err(error) if error.code == Code::ProgramMissing => Ok(None),
        answer => answer.map(Some),
    }
}

/// Runs git in a folder with these variables.
pub(super) fn ask_with<'a>(
    folder: &Path,
    variables: &[(&str, OsString)],
    arguments: impl IntoIterator<Item = &'a OsStr>,
) -> Result<Answer> {
    let mut command = git::command(OsStr::new("git"), folder);
    command
        .env("GIT_OPTIONAL_LOCKS", "0")
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .args(arguments);
    let answer = process::capture(command, LIMIT, OUTPUT_MAX)?;
    Ok(match answer.exit_code {
        _ if answer.timed_out => {
            let seconds = LIMIT.as_secs();
            Err(format!("git was ended after {seconds} seconds"))
        }
        Some(0) if answer.is_whole => Ok(answer.stdout),
        Some(0) => Err("git named more than can be read".to_string()),
        _ => {
            let said = answer.last_lines.last().map_or("nothing", String::as_str);
            Err(format!("git failed and said: {said}"))
        }
    })
}

pub(super) fn refuse(why: String) -> Error {
    Error::new(
        Code::FileUnreadable,
        format!("the changes cannot be read: {why}"),
    )
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
