//! Merging branches into what is checked out in the workspace, and taking that back.

use std::path::Path;

use super::git::DIFF;
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

    /// Merges a branch into what is checked out in the workspace, or leaves everything as it was. What is
    /// under way is noted, for whoever has the next turn (`cut`).
    pub(in crate::coordinator) fn merge(&self, tree: &Tree, message: &str) -> Result<Merge> {
        if !self.is_ahead(tree)? {
            return Ok(Merge::Done(None));
        }
        if self.merge_head()?.is_some() {
            // Somebody else's merge is not ours to end.
            let why = "a merge that somebody else began is not finished in the workspace";
            return Ok(Merge::Conflict(why.to_string()));
        }
        self.note_merge(tree, message)?;
        // Options that the user set for merges into this branch are for merges of theirs.
        let options = format!("branch.{}.mergeOptions=", self.checked_out()?);
        let words = [
            "-c",
            &options,
            "merge",
            "--no-ff",
            "--no-verify",
            "--no-verify-signatures",
            "--no-autostash",
            "--no-stat",
            "--quiet",
            "-m",
            message,
            &tree.branch,
        ];
        let merged = self.git(&self.top, words)?;
        if let Err(said) = merged {
            let names = self.unmerged(&self.top)?;
            // There is nothing to abort where git refused to begin.
            let _ = self.git(&self.top, ["merge", "--abort"])?;
            self.forget_merge()?;
            let why = if names.is_empty() { said } else { named(names) };
            return Ok(Merge::Conflict(why));
        }
        self.forget_merge()?;
        let head = self.done(&self.top, ["rev-parse", "HEAD"])?;
        Ok(Merge::Done(Some(head.trim().to_string())))
    }

    /// Finds the last merge of that message that was made since a moment.
    pub(in crate::coordinator) fn made(&self, message: &str, since: &str) -> Option<String> {
        let since = format!("--since={since}");
        let message = format!("--grep={message}");
        let words = ["log", "--max-count=1", "--merges", "--fixed-strings"];
        let words = words.into_iter().chain([&*since, &message, "--format=%H"]);
        let commit = self.git(&self.top, words).ok()?.ok()?;
        Some(commit.trim().to_string()).filter(|commit| !commit.is_empty())
    }

    /// Names the branch that is checked out in the workspace; nothing where none is.
    fn checked_out(&self) -> Result<String> {
        let words = ["symbolic-ref", "--quiet", "--short", "HEAD"];
        let name = self.git(&self.top, words)?.unwrap_or_default();
        Ok(name.trim().to_string())
    }

    /// Takes back a merge that was made, and says whether that could be done. What somebody changed or
    /// committed meanwhile stays.
    pub(in crate::coordinator) fn unmerge(&self, commit: &str) -> Result<bool> {
        let head = self.done(&self.top, ["rev-parse", "HEAD"])?;
        let reset = ["reset", "--quiet", "--keep", "HEAD^1"];
        Ok(head.trim() == commit && self.git(&self.top, reset)?.is_ok())
    }

    /// Returns the commit that is being merged.
    pub(super) fn merge_head(&self) -> Result<Option<String>> {
        let words = ["rev-parse", "--verify", "--quiet", "MERGE_HEAD"];
        let head = self.git(&self.top, words)?.ok();
        Ok(head.map(|head| head.trim().to_string()))
    }

    /// Names the files below a folder whose conflicts nobody has settled.
    pub(super) fn unmerged(&self, folder: &Path) -> Result<Vec<String>> {
        let words = [&DIFF[..], &["--diff-filter=U"]].concat();
        let names = self.git(folder, words)?.unwrap_or_default();
        let names = names.split('\0').filter(|name| !name.is_empty());
        Ok(names.map(str::to_string).collect())
    }
}

/// Names files for people, as many as anybody reads.
pub(super) fn named(names: Vec<String>) -> String {
    let told = &names[..names.len().min(NAMED_MAX)];
    let more = match names.len() - told.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", told.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_files_are_named_as_anybody_reads_and_the_others_counted() {
        for (count, expected) in [
            (1, "f1"),
            (5, "f1, f2, f3, f4, f5"),
            (6, "f1, f2, f3, f4, f5 and 1 more"),
            (12, "f1, f2, f3, f4, f5 and 7 more"),
        ] {
            let names = (1..=count).map(|number| format!("f{number}"));
            assert_eq!(named(names.collect()), expected);
        }
    }
}
