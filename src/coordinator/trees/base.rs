//! The branch on which a run began: its worktrees start there, and its work is merged only there; and what is
//! checked out in other worktrees, which agents may have led to any branch.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::{Tree, Trees};
use crate::error::{Code, Error, Result, quote};
use crate::file::{read, unreadable};

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
const LINK_MAX: u64 = 16 << 10;

/// A checkout: a branch, or none when HEAD is detached, and a commit. For a run it is the checkout when it began, with the
/// last commit that the run made there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::coordinator) struct Base {
    pub(in crate::coordinator) branch: Option<String>,
    pub(in crate::coordinator) commit: String,
    /// Digest of the settings by which git converts content, when a run began.
    pub(in crate::coordinator) conversion: Option<String>,
}

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
        let Some(base) = &self.base else {
            return Ok(head.commit);
        };
        if head.branch != base.branch {
            return Err(self.refuse_switch(base, &head)?);
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
        if let Some(place) = self.find_other_checkout(&head)? {
            let message = format!(
                "{} is checked out in {place} too, whose files a merge would leave behind",
                head.describe()
            );
            return Err(refuse(message, "git worktree list".to_string()));
        }
        self.require_followed(base, &head.commit)?;
        Ok(head.commit)
    }

    fn refuse_switch(&self, base: &Base, head: &Base) -> Result<Error> {
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

    /// Finds another worktree of the branch. Worktrees of runs, where agents may have switched to it, are detached.
    pub(super) fn find_other_checkout(&self, head: &Base) -> Result<Option<String>> {
        if head.branch.is_none() {
            return Ok(None);
        }
        let own = format!("branch {}", reference(head.branch.as_ref()));
        let listed = self.run("worktree list --porcelain -z")?;
        let mut found = None;
        for tree in listed
            .split("\0\0")
            .filter(|tree| tree.split('\0').any(|line| line == own))
        {
            let mut lines = tree.split('\0');
            let place = lines
                .find_map(|line| line.strip_prefix("worktree "))
                .map(Path::new);
            // For a checkout whose git folder is elsewhere, as in a submodule, git names that folder.
            let is_other =
                |place: &&Path| *place != self.top && Some(*place) != self.lock_file.parent();
            if let Some(place) = place.filter(is_other)
                && !self.detach_from_base(place)?
            {
                found = found.or(Some(place.display().to_string()));
            }
        }
        Ok(found)
    }

    pub(super) fn merge_target(&self) -> Result<String> {
        let Some(base) = &self.base else {
            return Ok("HEAD".to_string());
        };
        let name = self.find_reference(base.branch.as_ref())?;
        let is_there = name != "HEAD" || self.is_ancestor(&base.commit, &name)?;
        Ok(if is_there { name } else { base.commit.clone() })
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
        let base = self.base.as_ref().filter(|base| {
            let is_away = self.head().is_ok_and(|head| head.branch != base.branch);
            is_away && self.has(&reference(base.branch.as_ref())).unwrap_or(false)
        });
        match base {
            Some(base) => format!("{} && {merge}", base.format_switch_command()),
            None => merge,
        }
    }

    pub(super) fn has(&self, revision: &str) -> Result<bool> {
        self.succeeds(format!("rev-parse --verify --quiet {revision}"))
    }

    pub(super) fn is_ancestor(&self, first: &str, last: &str) -> Result<bool> {
        self.succeeds(format!("merge-base --is-ancestor {first} {last}"))
    }

    pub(super) fn operation_in_progress(&self) -> Option<&'static str> {
        let is_there = |name: &str| {
            self.lock_file
                .with_file_name(name)
                .symlink_metadata()
                .is_ok()
        };
        let mut all = IN_PROGRESS.iter();
        all.find(|(name, _)| is_there(name)).map(|(_, what)| *what)
    }

    pub(super) fn is_ahead(&self, tree: &Tree) -> Result<bool> {
        let range = format!("{}..refs/heads/{}", self.merge_target()?, tree.branch);
        Ok(self.run(format!("rev-list --count {range}"))? != "0")
    }

    /// Refuses a worktree whose state in the repository contains a link, through which git would write elsewhere, or a
    /// pipe, at which git would wait. HEAD is only read, and git itself can make a link of it (core.preferSymlinkRefs).
    pub(super) fn require_plain(&self, tree: &Tree) -> Result<()> {
        let folder = self.folder_of(&tree.top)?.unwrap_or_default();
        let head = folder.join("HEAD");
        let is_plain = |entry: &DirEntry| {
            let kind = entry.file_type();
            // The link may lead to a branch without a commit.
            let is_head = entry.path() == head && head.metadata().map_or(true, |it| it.is_file());
            kind.is_file() || kind.is_dir() || is_head
        };
        let mut entries = WalkDir::new(&folder).max_depth(2).into_iter().flatten();
        match entries.find(|entry| !is_plain(entry)) {
            Some(entry) => Err(unreadable(entry.path(), ErrorKind::InvalidInput.into())),
            None => Ok(()),
        }
    }

    /// Detaches a worktree of a run from the branch of the workspace, which merges move. False where it is none. The
    /// folder itself is not asked: its `.git` may lead to another repository, or be gone.
    fn detach_from_base(&self, top: &Path) -> Result<bool> {
        let runs = self.root_in_checkout().join(".cleo/runs");
        let folder = self.folder_of(top)?.filter(|_| top.starts_with(runs));
        let Some(name) = folder.as_deref().and_then(Path::file_name) else {
            return Ok(false);
        };
        let head = format!("worktrees/{}/HEAD", name.to_string_lossy());
        self.run(format!("update-ref --no-deref {head} {head}"))?;
        Ok(true)
    }

    /// Finds the folder in which the repository keeps the state of a linked worktree.
    pub(super) fn folder_of(&self, top: &Path) -> Result<Option<PathBuf>> {
        let common = self.run("rev-parse --path-format=absolute --git-common-dir")?;
        let mark = top.join(".git");
        let is_it = |folder: &PathBuf| {
            let link = read(&folder.join("gitdir"), LINK_MAX).unwrap_or_default();
            // Git may write it relative to the folder.
            let link = folder.join(String::from_utf8_lossy(&link).trim_end());
            link == mark || fs::canonicalize(link).is_ok_and(|link| link == mark)
        };
        let folders = fs::read_dir(Path::new(&common).join("worktrees"));
        let folders = folders.into_iter().flatten().flatten();
        let folders = folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        Ok(folders.map(|entry| entry.path()).find(is_it))
    }

    /// Refuses a branch that was moved in another worktree since the run last looked at it, which left the files of the
    /// checkout behind: what they show is not what would be merged.
    fn require_followed(&self, base: &Base, head: &str) -> Result<()> {
        let before = base.commit.as_str();
        if before == head {
            return Ok(());
        }
        let staged = self.list_changed(&["--cached", head])?;
        let own = self.list_changed(&["--cached", before])?;
        let mut left_behind = &self.list_changed(&[before, head])? & &staged;
        left_behind.retain(|name| !own.contains(name));
        // Somebody who commits meanwhile is told from it when the merge is made.
        if left_behind.is_empty() || self.head()?.commit != head {
            return Ok(());
        }
        let place = self.top.display();
        let message = format!(
            "the branch in {place} was moved to {head} in another worktree, and the files here are those of {before}"
        );
        let top = quote(&self.top.to_string_lossy());
        let follow = format!("git -C {top} read-tree -m -u {before} HEAD");
        Err(refuse(message, follow))
    }
}

fn refuse(message: String, fix: String) -> Error {
    Error::new(Code::CheckoutChanged, message).fix(fix)
}

fn shorten(commit: &str) -> &str {
    &commit[..commit.len().min(SHORT)]
}
