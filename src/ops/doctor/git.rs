//! Git, as far as `run --isolate worktree` needs it.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use super::Finding;
use super::clients::program;
use crate::error::Result;
use crate::runner::probe::{self, Probed};
use crate::tree;

/// How long git may take to say its version.
const LIMIT: Duration = Duration::from_secs(30);

/// Looks at git and at the repository of a workspace. Nothing else needs git, so a fault is a warning.
pub(super) fn look(path: &OsStr, root: &Path) -> Finding {
    let check = "git";
    let Some(git) = program(path, "git") else {
        return Finding::ok(
            check,
            "git is not on the PATH; only `run --isolate worktree` needs it",
        );
    };
    let version = match probe::ask(&git, &["version"], path, LIMIT) {
        Probed::Said(text) => text.trim().to_string(),
        Probed::Failed(why) => {
            let message = format!("{} {why}", git.display());
            return Finding::warn(check, message, "git --version");
        }
    };
    match require(&version, root) {
        Ok(()) => Finding::ok(check, "git can make worktrees for runs"),
        Err(error) => {
            let fix = error.fix.unwrap_or_default();
            Finding::warn(check, error.message, fix)
        }
    }
}

fn require(version: &str, root: &Path) -> Result<()> {
    tree::require_git_version(version)?;
    match tree::commit(root, tree::RESERVED_BRANCH) {
        Ok(_) => Err(tree::reserved_branch()),
        Err(_) => Ok(()),
    }
}
