//! What is checked out in other worktrees, which agents may have led to any branch.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::{Base, Tree, Trees};
use crate::error::{Code, Error, Result, quote};
use crate::file::{read, unreadable};

const LINK_MAX: u64 = 16 << 10;

impl Trees {
    /// Refuses a worktree whose state in the repository contains a link, through which git would write elsewhere, or a
    /// pipe, at which git would wait. HEAD is only read, and git itself can make a link of it (core.preferSymlinkRefs).
    pub(super) fn require_plain(&self, tree: &Tree) -> Result<()> {
        let folder = self.folder_of(&tree.top)?.unwrap_or_default();
        let head = folder.join("HEAD");
        let is_plain = |entry: &DirEntry| {
            let kind = entry.file_type();
            kind.is_file() || kind.is_dir() || (entry.path() == head && is_link_to_file(&head))
        };
        let mut entries = WalkDir::new(&folder).max_depth(2).into_iter().flatten();
        match entries.find(|entry| !is_plain(entry)) {
            Some(entry) => Err(unreadable(entry.path(), ErrorKind::InvalidInput.into())),
            None => Ok(()),
        }
    }

    /// Detaches a worktree of a run from the branch of the workspace, which merges move. False where it is none. The
    /// folder itself is not asked: its `.git` may lead to another repository, or be gone.
    pub(super) fn detach_from_base(&self, top: &Path) -> Result<bool> {
        let runs = self.top.join(&self.inside).join(".cleo/runs");
        let folder = self.folder_of(top)?.filter(|_| top.starts_with(runs));
        let Some(name) = folder.as_deref().and_then(Path::file_name) else {
            return Ok(false);
        };
        let head = format!("worktrees/{}/HEAD", name.to_string_lossy());
        let detach = ["update-ref", "--no-deref", &head, &head];
        self.change(&self.top, detach)?;
        Ok(true)
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
        let folders = folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        Ok(folders.map(|entry| entry.path()).find(is_it))
    }

    /// Refuses a branch that was moved in another worktree since the run last looked at it, which left the files of the
    /// checkout behind: what they show is not what would be merged.
    pub(super) fn require_followed(&self, base: &Base, head: &str) -> Result<()> {
        let before = base.commit.as_str();
        if before == head {
            return Ok(());
        }
        let moved = self.list_changed(&[before, head])?;
        let staged = self.list_changed(&["--cached", head])?;
        let own = self.list_changed(&["--cached", before])?;
        let mut left_behind = moved.intersection(&staged);
        // Somebody who commits meanwhile is told from it when the merge is made.
        if left_behind.all(|name| own.contains(name)) || self.head()?.commit != head {
            return Ok(());
        }
        let place = self.top.display();
        let message = format!(
            "the branch in {place} was moved to {head} in another worktree, and the files here are those of {before}"
        );
        let top = quote(&self.top.to_string_lossy());
        let follow = format!("git -C {top} read-tree -m -u {before} HEAD");
        Err(Error::new(Code::CheckoutChanged, message).fix(follow))
    }
}

fn is_link_to_file(path: &Path) -> bool {
    let special = |kind: fs::FileType| kind.is_fifo() || kind.is_socket() || kind.is_char_device();
    let there = path.metadata().map(|there| there.file_type());
    // It may lead to a branch without a commit.
    there.map_or(true, |kind| !special(kind) && !kind.is_block_device())
}
