//! What `run --isolate worktree` needs of git and of a repository.

use crate::error::{Code, Error, Result};

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

/// Returns the error for a repository that has the reserved branch.
pub(crate) fn reserved_branch() -> Error {
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
