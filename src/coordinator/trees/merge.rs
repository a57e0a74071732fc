//! Merging branches into what is checked out in the workspace, and taking that back.

use std::collections::{BTreeSet, HashSet};

use super::baseline::Baseline;
use super::checkout::{Moved, Paths};
use super::git::Words;
use super::{Tree, Trees};
use crate::error::{Code, Error, Result, quote};
use crate::id::TaskId;
use crate::tree::is_commit_id;

const NAMED_MAX: usize = 5;
/// How often a merge is made anew because somebody has committed meanwhile.
const ROUNDS: usize = 5;

/// A commit made aside, or why there is none.
type Made = std::result::Result<String, String>;

impl Trees {
    /// Merges the branch of a worktree; no commit where nothing was to be merged. The commit names its run and task, by
    /// which [`Trees::find_merge`] finds it. The inner error says why the branch does not fit.
    pub(in crate::coordinator) fn merge(
        &self,
        tree: &Tree,
        message: &str,
    ) -> Result<std::result::Result<Option<String>, String>> {
        for _ in 0..ROUNDS {
            let old = self.require_base()?;
            if let Some(what) = self.operation_in_progress() {
                // It is not ours to end.
                let why = format!("a {what} is in progress in the workspace");
                return Ok(Err(why));
            }
            let new = match self.make_merge(tree, &old, message)? {
                Ok(new) if new == old => return Ok(Ok(None)),
                Ok(new) => new,
                Err(why) => return Ok(Err(why)),
            };
            match self.move_checkout(&old, &new)? {
                Moved::Done => return Ok(Ok(Some(new))),
                Moved::Refused(why) => return Ok(Err(why)),
                Moved::Overtaken => {}
            }
        }
        let why = "the workspace got new commits again and again";
        Ok(Err(why.to_string()))
    }

    /// Makes a commit of `old` and a branch, or returns `old` where that has the branch.
    fn make_merge(&self, tree: &Tree, old: &str, message: &str) -> Result<Made> {
        let branch = &self.run(format!("rev-parse --verify refs/heads/{}", tree.branch))?;
        if self.is_ancestor(branch, old)? {
            return Ok(Ok(old.to_string()));
        }
        let undone = self.list_undone(tree, branch, old)?;
        if !undone.is_empty() {
            let names = list_names(undone.into_iter().collect());
            return Ok(Err(format!(
                "it undoes what was merged since its worktree was made: {names}"
            )));
        }
        let merge = "merge-tree --write-tree --name-only --no-messages -z";
        let merged = match self.ask(format!("{merge} {old} {branch}"))? {
            Ok(said) => said.trim_end_matches('\0').to_string(),
            Err(said) => return Ok(Err(describe_conflict(&said))),
        };
        let task = tree.task().map(|task| self.trailer(task));
        let messages = ["-m", message, "-m", task.as_deref().unwrap_or_default()];
        let make = format!("commit-tree {merged} -p {old} -p {branch}");
        self.run(Words::with(&make, messages)).map(Ok)
    }

    /// Lists the files that a branch has as they were when its worktree was made, though its commits follow others that
    /// changed them since, as after `git reset --soft main`. After a merge that is meant.
    fn list_undone(&self, tree: &Tree, branch: &str, old: &str) -> Result<Paths> {
        let base = self.ask(format!("merge-base {branch} {old}"))?;
        let (Some(start), Ok(base)) = (Baseline::load(&tree.baseline).start, base) else {
            return Ok(Paths::new());
        };
        let own = self.run(format!("rev-list --first-parent {start}..{branch}"))?;
        if !own.lines().any(|commit| commit == base) {
            return Ok(Paths::new());
        }
        let theirs = self.list_changed(&[&start, &base])?;
        Ok(&theirs - &self.list_changed(&[&start, branch])?)
    }

    /// Returns whether a branch has commits since its worktree was made.
    pub(in crate::coordinator) fn has_commits(&self, tree: &Tree) -> Result<bool> {
        let tip = self.run(format!("rev-parse refs/heads/{}", tree.branch))?;
        Ok(Baseline::load(&tree.baseline).start != Some(tip))
    }

    /// Lists where an agent left work that its branch lacks: in the stash, on branches to which it committed, and without a
    /// branch. Git names the branch in the message of a stash, and notes for each worktree what was committed in it and
    /// which commit it left for another one.
    pub(in crate::coordinator) fn list_left_elsewhere(&self, tree: &Tree) -> Result<Vec<Error>> {
        let refuse = |place: &str, fix: String| {
            let message =
                format!("its agent left work outside of its branch, so it is not merged: {place}");
            Error::new(Code::NotVerified, message).fix(fix)
        };
        let mut left = Vec::new();
        let of_branch = ["WIP on", "On"].map(|on| format!("{on} {}:", tree.branch));
        let stashes = self.ask("stash list --format=%H%x09%gs")?;
        let stashes = stashes.unwrap_or_default();
        for (commit, said) in stashes.lines().filter_map(|line| line.split_once('\t')) {
            if of_branch.iter().any(|on| said.starts_with(on)) {
                // The number of a stash changes with the next one.
                let fix = format!("git stash apply {commit}");
                left.push(refuse(&format!("a stash ({said})"), fix));
            }
        }
        let list = "log --walk-reflogs --max-count=1000 --format=%H%x09%gs HEAD --";
        let noted = self.git_in(&tree.top).ask(list)?.unwrap_or_default();
        let made = noted.lines().filter_map(|line| line.split_once("\tcommit"));
        let made: HashSet<&str> = made.map(|(commit, _)| commit).collect();
        let left_for_others = noted.lines().filter_map(|line| {
            let (_, names) = line.split_once("\tcheckout: moving from ")?;
            names.split(' ').next()
        });
        for name in BTreeSet::from_iter(left_for_others) {
            let tip = self.ask(format!(
                "rev-parse --verify --quiet --end-of-options {name}^{{commit}}"
            ))?;
            let Some(tip) = tip.ok().filter(|tip| made.contains(tip.as_str())) else {
                continue;
            };
            let list = "rev-list --max-count=1 --cherry-pick --right-only";
            let own = format!("refs/heads/{}...{tip}", tree.branch);
            if !self.run(format!("{list} {own}"))?.is_empty() {
                let what = if is_commit_id(name) {
                    "commit"
                } else {
                    "branch"
                };
                let fix = format!("git merge {}", quote(name));
                left.push(refuse(&format!("the {what} {name}"), fix));
            }
        }
        Ok(left)
    }

    /// Returns what is to be said of a merge that was reverted since; none of one that counts.
    pub(in crate::coordinator) fn explain_revert(&self, merge: &str) -> Result<Option<String>> {
        let revert = self.find_revert(merge, &self.merge_target()?)?;
        Ok(revert.map(|revert| {
            format!(
                "its work was merged ({merge}) and reverted since; `git revert {revert}` brings it back"
            )
        }))
    }

    /// Finds the commit that `git revert` made of another one, unless that was reverted, too.
    pub(super) fn find_revert(&self, commit: &str, branch: &str) -> Result<Option<String>> {
        let list = format!("log --max-count=1 --fixed-strings --format=%H {commit}..{branch}");
        let words = format!("--grep=This reverts commit {commit}");
        let found = self.run(Words::with(&list, [words]))?;
        if found.is_empty() || self.find_revert(&found, branch)?.is_some() {
            return Ok(None);
        }
        Ok(Some(found))
    }

    fn trailer(&self, task: TaskId) -> String {
        format!("Cleo-Step: {}/{task}", self.run)
    }

    /// Finds the last merge of a task that this run made since a moment.
    pub(in crate::coordinator) fn find_merge(
        &self,
        task: TaskId,
        since: &str,
    ) -> Result<Option<String>> {
        // A merge that an agent made in its own branch is not a merge of the run.
        let list = "log --max-count=1 --merges --first-parent --basic-regexp --format=%H";
        let trailer = format!("--grep=^{}$", self.trailer(task));
        let target = self.merge_target()?;
        let list = format!("{list} --since={since} {target}");
        let found = self.run(Words::with(&list, [trailer]))?;
        Ok(Some(found).filter(|commit| !commit.is_empty()))
    }
}

fn describe_conflict(said: &str) -> String {
    match said.split_once('\0') {
        Some((id, names)) if is_commit_id(id) => {
            // Advice of git follows the last name.
            let names = names.rsplit_once('\0').map_or(names, |(names, _)| names);
            list_names(names.split('\0').map(str::to_string).collect())
        }
        _ => said.to_string(),
    }
}

pub(super) fn list_names(names: Vec<String>) -> String {
    let told = &names[..names.len().min(NAMED_MAX)];
    let more = match names.len() - told.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", told.join(", "))
}
