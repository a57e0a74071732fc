//! What is checked out in worktrees, whose branches agents and users may move or leave.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::{Tree, Trees};
use crate::error::{Code, Error, Result, quote};
use crate::file::{read, unreadable};

/// Where git records what a HEAD was, in the folder of a worktree.
const RECORD: &str = "logs/HEAD";
/// Most bytes that such a record may have.
const RECORD_MAX: u64 = 64 << 20;
const LINK_MAX: u64 = 16 << 10;

impl Trees {
    /// Refuses a branch that an agent has led to another one, which a commit would move.
    pub(super) fn require_branch(&self, tree: &Tree) -> Result<()> {
        let own = format!("refs/heads/{}", tree.branch);
        match self.git(&tree.top, ["symbolic-ref", "--quiet", &own])? {
            Ok(other) => Err(not_own(tree, other.trim())),
            Err(_) => Ok(()),
        }
    }

    /// Detaches a HEAD that an agent has led to another branch, which a commit would move, or whose branch was moved
    /// elsewhere.
    pub(super) fn settle_head(&self, tree: &Tree) -> Result<()> {
        let head = self.done(&tree.top, ["rev-parse", "--verify", "HEAD^{commit}"])?;
        let branch = self.git(&tree.top, ["symbolic-ref", "--quiet", "HEAD"])?;
        let own = format!("refs/heads/{}\n", tree.branch);
        let other = branch.ok().filter(|branch| *branch != own);
        let folder = self.folder_of(&tree.top)?;
        match (other, folder.as_deref().and_then(checked_out)) {
            (None, None) => Ok(()),
            (None, Some(commit)) if commit == head.trim() => Ok(()),
            (_, Some(commit)) => self.detach(&tree.top, &commit).map(drop),
            (Some(other), None) => Err(not_own(tree, other.trim())),
        }
    }

    /// Refuses a worktree whose state in the repository contains a link, through which git would write elsewhere, or a
    /// pipe, at which git would wait.
    pub(super) fn require_plain(&self, tree: &Tree) -> Result<()> {
        let folder = self.folder_of(&tree.top)?.unwrap_or_default();
        match find_link_or_pipe(&folder) {
            Some(place) => Err(unreadable(&place, ErrorKind::InvalidInput.into())),
            None => Ok(()),
        }
    }

    /// Detaches the HEAD of a linked worktree at a commit. False where the repository does not know it, or its state there
    /// contains links. The folder itself is not asked: its `.git` may lead to another repository, or be gone.
    fn detach(&self, top: &Path, commit: &str) -> Result<bool> {
        let folder = self
            .folder_of(top)?
            .filter(|folder| find_link_or_pipe(folder).is_none());
        let Some(name) = folder.as_deref().and_then(Path::file_name) else {
            return Ok(false);
        };
        let head = format!("worktrees/{}/HEAD", name.to_string_lossy());
        self.change(&self.top, ["update-ref", "--no-deref", &head, commit])?;
        Ok(true)
    }

    /// Detaches a worktree of a run from the branch of the workspace, which merges move: at the commit that was last
    /// checked out there, else at that of its own branch. False where it is none.
    pub(super) fn detach_from_base(&self, top: &Path) -> Result<bool> {
        let runs = self.top.join(&self.inside).join(".cleo/runs");
        let Ok(inside) = top.strip_prefix(runs) else {
            return Ok(false);
        };
        let branch = inside.to_string_lossy().replace("/trees/", "/");
        let own = format!("refs/heads/cleo/{branch}^{{commit}}");
        let own = self.git(&self.top, ["rev-parse", "--verify", "--quiet", &own])?;
        let folder = self.folder_of(top)?;
        let commit = folder.as_deref().and_then(checked_out).or(own.ok());
        commit.map_or(Ok(false), |commit| self.detach(top, commit.trim()))
    }

    /// Finds the folder in which the repository keeps the state of a linked worktree.
    fn folder_of(&self, top: &Path) -> Result<Option<PathBuf>> {
        let common = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        let common = self.done(&self.top, common)?;
        let folders = Path::new(common.trim_end_matches('\n')).join("worktrees");
        let mark = top.join(".git");
        let is_it = |folder: &PathBuf| {
            let link = read(&folder.join("gitdir"), LINK_MAX).unwrap_or_default();
            // Git may write it relative to the folder.
            let link = folder.join(String::from_utf8_lossy(&link).trim_end());
            link == mark || fs::canonicalize(link).is_ok_and(|link| link == mark)
        };
        let folders = fs::read_dir(folders).into_iter().flatten().flatten();
        Ok(folders.map(|entry| entry.path()).find(is_it))
    }

    /// Refuses a branch that was moved in another worktree, which left the files of the checkout behind: what they show
    /// is not what would be merged.
    pub(super) fn require_followed(&self, head: &str) -> Result<()> {
        let commit = self.mark.parent().and_then(checked_out);
        let Some(commit) = commit.filter(|commit| commit != head) else {
            return Ok(());
        };
        let moved = self.list_changed(&[&commit, head])?;
        let staged = self.list_changed(&["--cached", head])?;
        // Somebody who commits meanwhile is told from it when the merge is made.
        if moved.is_disjoint(&staged) || self.head()?.commit != head {
            return Ok(());
        }
        let place = self.top.display();
        let message = format!(
            "the branch in {place} was moved to {head} in another worktree, and the files here are those of {commit}"
        );
        let top = quote(&self.top.to_string_lossy());
        let follow = format!(
            "git -C {top} read-tree -m -u {commit} HEAD && git -C {top} reset --quiet --soft HEAD"
        );
        Err(Error::new(Code::CheckoutChanged, message).fix(follow))
    }
}

/// Returns the commit that the HEAD of a worktree last led to by a command there: its branch may have been moved
/// elsewhere since. None where there is no record. Git itself would read that of the branch then.
fn checked_out(folder: &Path) -> Option<String> {
    let record = read(&folder.join(RECORD), RECORD_MAX).ok()?;
    let last = record
        .trim_ascii_end()
        .rsplit(|byte| *byte == b'\n')
        .next()?;
    let commit = last.split(|byte| *byte == b' ').nth(1)?;
    let is_commit = commit.len() >= 40 && commit.iter().all(u8::is_ascii_hexdigit);
    is_commit.then(|| String::from_utf8_lossy(commit).into_owned())
}

/// Finds what is neither a file nor a folder in the state of a worktree.
fn find_link_or_pipe(folder: &Path) -> Option<PathBuf> {
    let entries = WalkDir::new(folder).max_depth(2).into_iter().flatten();
    let mut others = entries.filter(|it| !it.file_type().is_file() && !it.file_type().is_dir());
    others.next().map(DirEntry::into_path)
}

fn not_own(tree: &Tree, other: &str) -> Error {
    let place = tree.place();
    let message = format!("{place} commits to {other}, which is not its own");
    let look = format!("git -C {} branch", quote(&place));
    Error::new(Code::InputInvalid, message).fix(look)
}
