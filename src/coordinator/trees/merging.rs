//! Merging branches into what is checked out in the workspace, and taking that back.

use std::fs;

use super::{Tree, Trees};
use crate::error::Result;

/// Most names of files that a conflict tells.
const NAMED_MAX: usize = 5;

/// What became of a branch that was to be merged.
pub(in crate::coordinator) enum Merge {
    /// The commit that holds it; none when there was nothing to merge.
    Done(Option<String>),
    /// It does not fit; why.
    Conflict(String),
}

impl Trees {
    /// Says whether a branch has anything that the workspace lacks.
    pub(super) fn is_ahead(&self, tree: &Tree) -> Result<bool> {
        let range = format!("HEAD..refs/heads/{}", tree.branch);
        let count = self.done(&self.top, ["rev-list", "--count", &range])?;
        Ok(count.trim() != "0")
    }

    /// Merges a branch into what is checked out in the workspace, or leaves everything as it was. The
    /// message begins with the task, by which [`Trees::recover`] knows it.
    pub(in crate::coordinator) fn merge(&self, tree: &Tree, message: &str) -> Result<Merge> {
        if !self.is_ahead(tree)? {
            return Ok(Merge::Done(None));
        }
        if self.merge_head()?.is_some() {
            // Somebody else's merge is not ours to end.
            let why = "a merge that somebody else began is not finished in the workspace";
            return Ok(Merge::Conflict(why.to_string()));
        }
        let words = [
            "merge",
            "--no-ff",
            "--no-verify",
            "--quiet",
            "-m",
            message,
            &tree.branch,
        ];
        let merged = self.git(&self.top, words)?;
        if let Err(said) = merged {
            let names = self.unmerged()?;
            // There is nothing to abort where git refused to begin.
            let _ = self.git(&self.top, ["merge", "--abort"])?;
            let named = names.into_iter().take(NAMED_MAX).collect::<Vec<_>>();
            let why = if named.is_empty() {
                said
            } else {
                named.join(", ")
            };
            return Ok(Merge::Conflict(why));
        }
        let head = self.done(&self.top, ["rev-parse", "HEAD"])?;
        Ok(Merge::Done(Some(head.trim().to_string())))
    }

    /// Takes back a merge that was made, and says whether that could be done. What somebody changed or
    /// committed meanwhile stays.
    pub(in crate::coordinator) fn unmerge(&self, commit: &str) -> Result<bool> {
        let head = self.done(&self.top, ["rev-parse", "HEAD"])?;
        let reset = ["reset", "--quiet", "--keep", "HEAD^1"];
        Ok(head.trim() == commit && self.git(&self.top, reset)?.is_ok())
    }

    /// Ends a merge that a process of this run was killed in. One that somebody else began stays theirs, and
    /// so does one whose conflicts somebody has settled meanwhile.
    pub(in crate::coordinator) fn recover(&self) -> Result<()> {
        let Some(head) = self.merge_head()? else {
            return Ok(());
        };
        if self.is_own(&head)? && !self.unmerged()?.is_empty() {
            self.done(&self.top, ["merge", "--abort"])?;
        }
        Ok(())
    }

    /// Returns the commit that is being merged.
    fn merge_head(&self) -> Result<Option<String>> {
        let words = ["rev-parse", "--verify", "--quiet", "MERGE_HEAD"];
        let head = self.git(&self.top, words)?.ok();
        Ok(head.map(|head| head.trim().to_string()))
    }

    /// Says whether a commit that is being merged is the end of a branch of this run, under the message
    /// that this run gives it: people merge such a branch under another one.
    fn is_own(&self, head: &str) -> Result<bool> {
        let branches = format!("refs/heads/cleo/{}", self.run);
        let format = "--format=%(objectname) %(refname)";
        let tips = self.done(&self.top, ["for-each-ref", format, &branches])?;
        let words = [
            "rev-parse",
            "--path-format=absolute",
            "--git-path",
            "MERGE_MSG",
        ];
        let place = self.done(&self.top, words)?;
        let message = fs::read_to_string(place.trim_end_matches('\n')).unwrap_or_default();
        let is_it = |line: &str| {
            let tip = line.split_once(' ').filter(|(tip, _)| *tip == head);
            let name = tip.and_then(|(_, name)| name.rsplit('/').next());
            let task = name.and_then(|name| name.rsplit_once('-'));
            task.is_some_and(|(task, _)| message.starts_with(&format!("{task}: ")))
        };
        Ok(tips.lines().any(is_it))
    }

    /// Names the files whose conflicts nobody has settled.
    fn unmerged(&self) -> Result<Vec<String>> {
        let names = ["diff", "--name-only", "--diff-filter=U", "-z"];
        let names = self.git(&self.top, names)?.unwrap_or_default();
        let names = names.split('\0').filter(|name| !name.is_empty());
        Ok(names.map(str::to_string).collect())
    }
}
