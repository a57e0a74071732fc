//! The branch on which a run began: its worktrees start there, and its work is merged only there.

use std::path::Path;

use super::{Tree, Trees};
use crate::error::{Code, Error, Result, quote};
use crate::run::event::Base;

/// Files of git that show an operation in progress.
const IN_PROGRESS: [(&str, &str); 6] = [
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
];
const HEADS: &str = "refs/heads/";
const SHORT: usize = 10;

impl Base {
    fn describe(&self) -> String {
        match &self.branch {
            Some(branch) => format!("the branch {branch}"),
            None => format!("the detached HEAD {}", shorten(&self.commit)),
        }
    }

    fn format_switch_command(&self) -> String {
        match &self.branch {
            Some(branch) => format!("git switch {}", quote(branch)),
            None => format!("git switch --detach {}", shorten(&self.commit)),
        }
    }
}

/// Returns the full name of a branch, or HEAD.
pub(super) fn reference(branch: Option<&String>) -> String {
    branch.map_or("HEAD".to_string(), |branch| format!("{HEADS}{branch}"))
}

impl Trees {
    /// Reads what is checked out in the workspace. Settings that point git to other files are an error,
    /// because git would leave the workspace behind.
    pub(super) fn head(&self) -> Result<Base> {
        let said = self.run("rev-parse --show-toplevel HEAD^{commit} --")?;
        let said = said.strip_suffix("\n--").unwrap_or(&said);
        let (place, commit) = said.rsplit_once('\n').unwrap_or_default();
        if Path::new(place) != self.top {
            let top = self.top.display();
            let message =
                format!("git takes the files in {place} for those of the repository {top}");
            let top = quote(&self.top.to_string_lossy());
            let look = format!("git -C {top} config --show-origin core.worktree");
            return Err(refuse(message, look));
        }
        let name = self.ask("symbolic-ref --quiet HEAD")?.ok();
        Ok(Base {
            branch: name.map(|name| name.strip_prefix(HEADS).unwrap_or(&name).to_string()),
            commit: commit.to_string(),
            conversion: None,
        })
    }

    /// Returns the commit that is checked out in the workspace. It is an error when the checkout left the
    /// branch of the run or lacks a commit that the run made.
    pub(in crate::coordinator) fn require_base(&self) -> Result<String> {
        self.require_base_at(self.head()?)
    }

    /// As [`Trees::require_base`], of a checkout that was read before.
    pub(in crate::coordinator) fn require_base_at(&self, head: Base) -> Result<String> {
        let base = &self.base;
        if head.branch != base.branch {
            return Err(self.refuse_switch(&head)?);
        }
        if !self.is_ancestor(&base.commit, &head.commit)? {
            let commit = shorten(&base.commit);
            let message = format!(
                "{} does not hold the commit {commit} any more, on which this run began or which it made: it was \
                 reset or rewritten",
                base.describe(),
            );
            return Err(refuse(message, format!("git log --oneline HEAD..{commit}")));
        }
        Ok(head.commit)
    }

    fn refuse_switch(&self, head: &Base) -> Result<Error> {
        let base = &self.base;
        let is_gone = base.branch.is_some() && !self.has(&reference(base.branch.as_ref()))?;
        let (gone, fix) = match is_gone {
            true => (
                ", which was renamed or deleted since",
                format!("git branch --contains {}", shorten(&base.commit)),
            ),
            false => ("", base.format_switch_command()),
        };
        let mut message = format!(
            "{} is checked out in {}, and this run began on {}{gone}",
            head.describe(),
            self.top.display(),
            base.describe(),
        );
        if let Some(what) = self.operation_in_progress() {
            message += &format!("; a {what} is in progress there");
        }
        Ok(refuse(message, fix))
    }

    pub(super) fn merge_target(&self) -> Result<String> {
        let name = self.find_reference(self.base.branch.as_ref())?;
        let is_there = name != "HEAD" || self.is_ancestor(&self.base.commit, &name)?;
        Ok(if is_there {
            name
        } else {
            self.base.commit.clone()
        })
    }

    /// Returns the full name of a branch, or HEAD where there is none, or none any more: it may have another name there.
    pub(super) fn find_reference(&self, branch: Option<&String>) -> Result<String> {
        let name = reference(branch);
        Ok(if self.has(&name)? {
            name
        } else {
            reference(None)
        })
    }

    pub(in crate::coordinator) fn format_merge_command(&self, branch: &str) -> String {
        let merge = format!("git merge {}", quote(branch));
        let base = &self.base;
        let is_away = self.head().is_ok_and(|head| head.branch != base.branch);
        match is_away && self.has(&reference(base.branch.as_ref())).unwrap_or(false) {
            true => format!("{} && {merge}", base.format_switch_command()),
            false => merge,
        }
    }

    pub(super) fn has(&self, revision: &str) -> Result<bool> {
        self.succeeds(format!("rev-parse --verify --quiet {revision}"))
    }

    pub(super) fn is_ancestor(&self, first: &str, last: &str) -> Result<bool> {
        self.succeeds(format!("merge-base --is-ancestor {first} {last}"))
    }

    pub(super) fn operation_in_progress(&self) -> Option<&'static str> {
        operation_in(self.lock_file.parent()?)
    }

    pub(super) fn is_ahead(&self, tree: &Tree) -> Result<bool> {
        let range = format!("{}..refs/heads/{}", self.merge_target()?, tree.branch);
        Ok(self.run(format!("rev-list --count {range}"))? != "0")
    }
}

/// Returns the operation that is in progress in a checkout, by its folder of git.
pub(super) fn operation_in(folder: &Path) -> Option<&'static str> {
    let mut all = IN_PROGRESS.iter();
    let found = all.find(|(name, _)| folder.join(name).symlink_metadata().is_ok());
    found.map(|(_, what)| *what)
}

fn refuse(message: String, fix: String) -> Error {
    Error::new(Code::CheckoutChanged, message).fix(fix)
}

fn shorten(commit: &str) -> &str {
    &commit[..commit.len().min(SHORT)]
}
