//! Checks before a run with worktrees: a repository that cannot have worktrees is refused before anything is
//! claimed.

use super::Trees;
use crate::error::{Code, Error, Result, quote};
use crate::run::event::Base;
use crate::tree::{RESERVED_BRANCH, refuse_branch, require_git_version};
use crate::workspace::Workspace;

impl Trees {
    /// Returns what is checked out, or says why no worktree can be made here. Nothing is changed.
    pub(in crate::coordinator) fn require_startable(workspace: &Workspace) -> Result<Base> {
        let trees = Trees::open(workspace, &workspace.root, "", Base::default())?;
        require_git_version(&trees.run("version")?)?;
        let refuse = |message: String, fix: &str| {
            let fix = format!("git -C {} {fix}", quote(&trees.top.to_string_lossy()));
            Err(Error::new(Code::InputInvalid, message).fix(fix))
        };
        let place = trees.top.display();
        if trees.run("rev-parse --is-inside-work-tree")? != "true" {
            let message = format!("worktrees need a checkout, and {place} is a bare repository");
            return refuse(message, "config core.bare");
        }
        if !trees.has("HEAD^{commit}")? {
            let why = match trees.has("HEAD")? {
                true => "HEAD names a commit that is not there",
                false => "nothing is committed in it",
            };
            let message = format!("worktrees need a git repository with a commit: {why}");
            return refuse(message, "log --oneline --all -5");
        }
        if let Some(what) = trees.operation_in_progress() {
            let message = format!("a {what} is in progress in {place}; finish it first");
            return refuse(message, "status");
        }
        if trees.has(RESERVED_BRANCH)? {
            return Err(refuse_branch());
        }
        Ok(Base {
            conversion: Some(trees.digest_conversion_settings(&trees.top)?),
            ..trees.find_proven_head()?
        })
    }
}
