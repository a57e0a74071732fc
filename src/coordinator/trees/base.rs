//! The branch on which a run began: its worktrees start there, and its work is merged only there.

use std::path::Path;

use super::{Tree, Trees};
use crate::error::{Code, Error, Result, quote};

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

/// What is checked out: a branch, or none when HEAD is detached, and a commit. For a run, what was checked
/// out when it began, with the last commit that it made there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::coordinator) struct Base {
    pub(in crate::coordinator) branch: Option<String>,
    pub(in crate::coordinator) commit: String,
    /// Digest of the settings by which git converts content, when a run began.
    pub(in crate::coordinator) conversion: Option<String>,
}

impl Base {
    pub(super) fn reference(&self) -> String {
        match &self.branch {
            Some(branch) => format!("{HEADS}{branch}"),
            None => "HEAD".to_string(),
        }
    }

    fn name(&self) -> String {
        match &self.branch {
            Some(branch) => format!("the branch {branch}"),
            None => format!("the detached HEAD {}", shorten(&self.commit)),
        }
    }

    fn to_switch(&self) -> String {
        match &self.branch {
            Some(branch) => format!("git switch {}", quote(branch)),
            None => format!("git switch --detach {}", shorten(&self.commit)),
        }
    }
}

impl Trees {
    /// Reads what is checked out in the workspace. Settings that point git to other files are an error,
    /// because git would leave the workspace behind.
    pub(super) fn head(&self) -> Result<Base> {
        let said = self.done(
            &self.top,
            ["rev-parse", "--show-toplevel", "HEAD^{commit}", "--"],
        )?;
        let said = said.strip_suffix("\n--\n").unwrap_or(&said);
        let (place, commit) = said.rsplit_once('\n').unwrap_or_default();
        if Path::new(place) != self.top {
            let top = self.top.display();
            let message =
                format!("git takes the files in {place} for those of the repository {top}");
            let top = quote(&self.top.to_string_lossy());
            let look = format!("git -C {top} config --show-origin core.worktree");
            return Err(Error::new(Code::CheckoutChanged, message).fix(look));
        }
        let name = self
            .git(&self.top, ["symbolic-ref", "--quiet", "HEAD"])?
            .ok();
        let name = name.map(|name| name.trim_end_matches('\n').to_string());
        let branch = name.map(|name| name.strip_prefix(HEADS).unwrap_or(&name).to_string());
        Ok(Base {
            branch,
            commit: commit.to_string(),
            conversion: None,
        })
    }

    /// Returns the commit that is checked out in the workspace. It is an error when the checkout left the
    /// branch of the run or lacks a commit that the run made.
    pub(in crate::coordinator) fn require_base(&self) -> Result<String> {
        let head = self.head()?;
        let Some(base) = &self.base else {
            return Ok(head.commit);
        };
        let refuse = |message: String| Error::new(Code::CheckoutChanged, message);
        if head.branch != base.branch {
            return Err(self.switched_error(base, &head)?);
        }
        if !self.is_ancestor(&base.commit, &head.commit)? {
            let message = format!(
                "{} does not hold the commit {} any more, on which this run began or which it made: it was \
                 reset or rewritten",
                base.name(),
                shorten(&base.commit)
            );
            let look = format!("git log --oneline HEAD..{}", shorten(&base.commit));
            return Err(refuse(message).fix(look));
        }
        if let Some(place) = self.other_checkout(&head)? {
            let message = format!(
                "{} is checked out in {place} too, whose files a merge would leave behind",
                head.name()
            );
            return Err(refuse(message).fix("git worktree list"));
        }
        self.require_followed(base, &head.commit)?;
        Ok(head.commit)
    }

    fn switched_error(&self, base: &Base, head: &Base) -> Result<Error> {
        let is_gone = base.branch.is_some() && !self.has(&self.top, &base.reference())?;
        let gone = match is_gone {
            true => ", which was renamed or deleted since",
            false => "",
        };
        let meanwhile = self
            .operation_in_progress()
            .map(|what| format!("; a {what} is in progress there"));
        let message = format!(
            "{} is checked out in {}, and this run began on {}{gone}{}",
            head.name(),
            self.top.display(),
            base.name(),
            meanwhile.unwrap_or_default()
        );
        let fix = match is_gone {
            true => format!("git branch --contains {}", shorten(&base.commit)),
            false => base.to_switch(),
        };
        Ok(Error::new(Code::CheckoutChanged, message).fix(fix))
    }

    /// Finds another worktree of the branch. Those of runs, where agents may have gone to it, leave it.
    pub(super) fn other_checkout(&self, head: &Base) -> Result<Option<String>> {
        if head.branch.is_none() {
            return Ok(None);
        }
        let own = format!("branch {}", head.reference());
        let listed = self.listed(&self.top, ["worktree", "list", "--porcelain", "-z"])?;
        let trees = listed
            .split("\0\0")
            .filter(|tree| tree.split('\0').any(|line| line == own));
        let places = trees.filter_map(|tree| {
            tree.split('\0')
                .find_map(|line| line.strip_prefix("worktree "))
        });
        // For a checkout whose git folder is elsewhere, as in a submodule, git names that folder.
        let git_folder = self.mark.parent();
        let mut others = places
            .map(Path::new)
            .filter(|place| *place != self.top && Some(*place) != git_folder);
        others.try_fold(None, |found, place| match self.detach_from_base(place)? {
            true => Ok(found),
            false => Ok(found.or(Some(place.display().to_string()))),
        })
    }

    pub(super) fn target(&self) -> Result<String> {
        let Some(base) = &self.base else {
            return Ok("HEAD".to_string());
        };
        let name = base.reference();
        let is_there = match base.branch {
            Some(_) => self.has(&self.top, &name)?,
            None => self.is_ancestor(&base.commit, &name)?,
        };
        Ok(if is_there { name } else { base.commit.clone() })
    }

    pub(in crate::coordinator) fn to_merge(&self, branch: &str) -> String {
        let merge = format!("git merge {}", quote(branch));
        let base = self.base.as_ref().filter(|base| {
            let is_away = self.head().is_ok_and(|head| head.branch != base.branch);
            is_away && self.has(&self.top, &base.reference()).unwrap_or(false)
        });
        base.map_or(merge.clone(), |base| {
            format!("{} && {merge}", base.to_switch())
        })
    }

    pub(super) fn is_ancestor(&self, first: &str, last: &str) -> Result<bool> {
        let words = ["merge-base", "--is-ancestor", first, last];
        Ok(self.git(&self.top, words)?.is_ok())
    }

    pub(super) fn operation_in_progress(&self) -> Option<&'static str> {
        let is_there = |name: &str| self.mark.with_file_name(name).symlink_metadata().is_ok();
        let mut all = IN_PROGRESS.iter();
        all.find(|(name, _)| is_there(name)).map(|(_, what)| *what)
    }

    pub(super) fn is_ahead(&self, tree: &Tree) -> Result<bool> {
        let range = format!("{}..refs/heads/{}", self.target()?, tree.branch);
        let count = self.done(&self.top, ["rev-list", "--count", &range])?;
        Ok(count.trim() != "0")
    }
}

fn shorten(commit: &str) -> &str {
    &commit[..commit.len().min(SHORT)]
}
