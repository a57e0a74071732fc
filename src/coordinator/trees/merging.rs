//! Merging branches into what is checked out in the workspace, and taking that back.

use super::checkout::Moved;
use super::outset::Outset;
use super::{Tree, Trees};
use crate::error::Result;
use crate::id::TaskId;

const NAMED_MAX: usize = 5;
/// How often a merge is made anew because somebody has committed meanwhile.
const ROUNDS: usize = 5;

pub(in crate::coordinator) enum Merge {
    /// The commit that holds it; none when there was nothing to merge.
    Done(Option<String>),
    /// It does not fit; why.
    Conflict(String),
    /// It would fit and must not be merged; why.
    Refused(String),
}

/// A commit made aside, or why there is none.
type Made = std::result::Result<String, String>;

impl Trees {
    /// Merges the branch of a worktree. The commit names its run and task, by which [`Trees::find_merge`] finds it.
    pub(in crate::coordinator) fn merge(&self, tree: &Tree, message: &str) -> Result<Merge> {
        let branch = format!("refs/heads/{}", tree.branch);
        for _ in 0..ROUNDS {
            let old = self.require_base()?;
            if self.is_ancestor(&branch, &old)? {
                return Ok(Merge::Done(None));
            }
            if let Some(what) = self.operation_in_progress() {
                // It is not ours to end.
                let why =
                    format!("a {what} that somebody else began is not finished in the workspace");
                return Ok(Merge::Conflict(why));
            }
            if let Some(why) = self.find_reverted(tree, &old)? {
                return Ok(Merge::Refused(why));
            }
            let task = tree.task().map(|task| self.trailer(task));
            let message = [message, &task.unwrap_or_default()];
            let new = match self.make_merge(&old, &branch, message)? {
                Ok(new) => new,
                Err(why) => return Ok(Merge::Conflict(why)),
            };
            match self.move_checkout(&old, &new, true)? {
                Moved::Done => return Ok(Merge::Done(Some(new))),
                Moved::Refused(why) => return Ok(Merge::Conflict(why)),
                Moved::Overtaken => {}
            }
        }
        let why = "somebody commits in the workspace again and again";
        Ok(Merge::Conflict(why.to_string()))
    }

    /// Names the files in which a branch reverts work that others merged after its worktree was made: its index or files
    /// were older than the commit that it is based on, as after `git reset`.
    fn find_reverted(&self, tree: &Tree, old: &str) -> Result<Option<String>> {
        let branch = self.done(
            &self.top,
            ["rev-parse", &format!("refs/heads/{}", tree.branch)],
        )?;
        let branch = branch.trim();
        let Some(start) = &Outset::read(&tree.outset).start else {
            return Ok(Some(
                "the commit that its worktree was made from is unknown".to_string(),
            ));
        };
        let seen = self.done(&self.top, ["merge-base", old, branch])?;
        let seen = seen.trim();
        if self.is_ancestor(seen, start)? {
            return Ok(None);
        }
        let whole = format!("{branch}^{{tree}}");
        let alone = self.done(
            &self.top,
            ["commit-tree", &whole, "-p", start, "-m", "alone"],
        )?;
        let both = self.git(
            &self.top,
            ["merge-tree", "--write-tree", seen, alone.trim()],
        )?;
        let mut reverted = match both {
            Ok(both) => self.list_changed(&[both.trim(), branch])?,
            // Some files conflict, which the agent resolved. Files that are as they were at the start count nevertheless.
            Err(_) => {
                let (theirs, own) = (
                    self.list_changed(&[start, seen])?,
                    self.list_changed(&[start, branch])?,
                );
                theirs.difference(&own).cloned().collect()
            }
        };
        if !reverted.is_empty() {
            let words = [
                "diff",
                "--name-only",
                "--no-ext-diff",
                "--find-renames",
                "-z",
            ];
            let gone = ["--diff-filter=r", seen, branch, "--"];
            let kept = self.listed(&self.top, words.into_iter().chain(gone))?;
            reverted.retain(|name| kept.split('\0').any(|kept| kept == name));
        }
        let named: Vec<&str> = reverted
            .iter()
            .take(NAMED_MAX)
            .map(String::as_str)
            .collect();
        let why = "it reverts what was merged after its worktree was made";
        Ok((!named.is_empty()).then(|| format!("{why}: {}", named.join(", "))))
    }

    fn trailer(&self, task: TaskId) -> String {
        format!("Cleo-Step: {}/{task}", self.run)
    }

    fn make_merge(&self, old: &str, branch: &str, message: [&str; 2]) -> Result<Made> {
        let words = [
            "merge-tree",
            "--write-tree",
            "--name-only",
            "--no-messages",
            "-z",
        ];
        let merged = self.git(&self.top, words.into_iter().chain([old, branch]))?;
        let tree = match merged {
            Ok(said) => said.trim_end_matches(['\0', '\n']).to_string(),
            Err(said) => return Ok(Err(describe_conflict(&said))),
        };
        let [title, trailer] = message;
        let words = ["commit-tree", &tree, "-p", old, "-p", branch];
        let words = words.into_iter().chain(["-m", title, "-m", trailer]);
        let made = self.done(&self.top, words)?;
        Ok(Ok(made.trim().to_string()))
    }

    /// Finds the last merge of a task that this run made since a moment.
    pub(in crate::coordinator) fn find_merge(
        &self,
        task: TaskId,
        since: &str,
    ) -> Result<Option<String>> {
        let since = format!("--since={since}");
        let trailer = format!("--grep=^{}$", self.trailer(task));
        let target = self.target()?;
        // What an agent merges in its own branch is no merge of the run.
        let words = ["log", "--max-count=1", "--merges", "--first-parent"];
        let words =
            words
                .into_iter()
                .chain(["--basic-regexp", &since, &trailer, "--format=%H", &target]);
        let found = self.done(&self.top, words)?;
        Ok(Some(found.trim().to_string()).filter(|commit| !commit.is_empty()))
    }

    /// Takes back a merge that was made, and says whether that could be done. What somebody changed or
    /// committed meanwhile stays.
    pub(in crate::coordinator) fn unmerge(&self, commit: &str) -> Result<bool> {
        let head = self.head()?;
        let is_here = self
            .base
            .as_ref()
            .is_none_or(|base| base.branch == head.branch);
        if head.commit != commit || !is_here {
            self.forget_move()?;
            return Ok(false);
        }
        let before = self.done(&self.top, ["rev-parse", "--verify", &format!("{commit}^1")])?;
        let moved = self.move_checkout(commit, before.trim(), false)?;
        Ok(matches!(moved, Moved::Done))
    }
}

fn describe_conflict(said: &str) -> String {
    let is_id = |text: &str| text.len() >= 40 && text.chars().all(|c| c.is_ascii_hexdigit());
    match said.split_once('\0') {
        Some((id, names)) if is_id(id) => {
            // What stands behind the last name is advice of git.
            let names = names.rsplit_once('\0').map_or(names, |(names, _)| names);
            named(names.split('\0').map(str::to_string).collect())
        }
        _ => said.to_string(),
    }
}

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
