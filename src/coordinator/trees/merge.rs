//! Merging branches into what is checked out in the workspace, and taking that back.

use std::collections::{BTreeSet, HashSet};

use super::baseline::Baseline;
use super::checkout::{Moved, is_id};
use super::git::{Answer, Words};
use super::{Tree, Trees};
use crate::error::{Code, Error, Result, quote};
use crate::id::TaskId;

const NAMED_MAX: usize = 5;
/// How many commits of a branch are looked at for what they had taken in.
const COMMITS_MAX: usize = 50;
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
            match self.move_checkout(&old, &new, true)? {
                Moved::Done => return Ok(Ok(Some(new))),
                Moved::Refused(why) => return Ok(Err(why)),
                Moved::Overtaken => {}
            }
        }
        let why = "the workspace got new commits again and again";
        Ok(Err(why.to_string()))
    }

    /// Makes a commit of `old` and the work of a branch, or returns `old` where nothing of the branch is missing.
    fn make_merge(&self, tree: &Tree, old: &str, message: &str) -> Result<Made> {
        let branch = format!("rev-parse --verify refs/heads/{}", tree.branch);
        let branch = &self.run(branch)?;
        let Some(start) = Baseline::load(&tree.baseline).start else {
            let why = "the commit that its worktree was made from is unknown";
            return Ok(Err(why.to_string()));
        };
        if self.is_merged_since(branch, &start, old)? {
            return Ok(Ok(old.to_string()));
        }
        let work = match self.make_work(tree, branch, &start, old)? {
            Ok(work) => work,
            Err(why) => return Ok(Err(why)),
        };
        let merged = match self.merge_trees(&format!("{old} {work}"))? {
            Ok(merged) => merged,
            Err(said) => return Ok(Err(describe_conflict(&said))),
        };
        let is_there = self.is_ancestor(branch, old)?;
        if is_there && self.list_changed(&[old, &merged])?.is_empty() {
            return Ok(Ok(old.to_string()));
        }
        let task = tree.task().map(|task| self.trailer(task));
        let messages = ["-m", message, "-m", task.as_deref().unwrap_or_default()];
        let make = format!("commit-tree {merged} -p {old} -p {branch}");
        self.run(Words::with(&make, messages)).map(Ok)
    }

    /// Makes a commit of what a branch changed since its worktree was made, on the last commit of the workspace that the
    /// branch holds. Work that others had merged by then belongs to it even where the files of the branch lack it: an agent
    /// may base its branch on newer commits and keep the older files, as after `git reset`.
    fn make_work(&self, tree: &Tree, branch: &str, start: &str, old: &str) -> Result<Made> {
        let list = format!("rev-list --first-parent --parents {old} ^{branch}");
        let beyond = self.run(list)?;
        let seen = match beyond.lines().last() {
            Some(first) => first.split(' ').nth(1).unwrap_or(start),
            None => old,
        };
        let files = format!("{branch}^{{tree}}");
        let on = |files: &str, parent: &str| {
            self.run(format!("commit-tree {files} -p {parent} -m work"))
        };
        if self.is_ancestor(seen, start)? {
            return Ok(Ok(on(&files, start)?));
        }
        let whole = match self.take_in(&files, start, seen)? {
            Ok(whole) => whole,
            Err(why) => return Ok(Err(why)),
        };
        let missing = self.list_changed(&[&files, &whole])?;
        if !missing.is_empty() && self.has_taken_in(branch, start, seen)? {
            return Ok(Ok(on(&files, seen)?));
        }
        if !missing.is_empty() {
            let (branch, names) = (&tree.branch, list_names(missing.into_iter().collect()));
            let why = "lacks what was merged after its worktree was made, which stays";
            self.warn(format!(
                "the branch {branch} {why}: {names}; if its agent meant to undo that, do so in the workspace"
            ));
        }
        Ok(Ok(on(&whole, seen)?))
    }

    /// Makes a tree of files that continue `start` and of what the workspace had by `seen`.
    fn take_in(&self, files: &str, start: &str, seen: &str) -> Result<Made> {
        let alone = self.run(format!("commit-tree {files} -p {start} -m work"))?;
        // Where both changed the same lines, the agent has settled that.
        Ok(
            match self.merge_trees(&format!("-X ours {alone} {seen}"))? {
                // Git before 2.43 does not know the option.
                Err(said) if !said.contains('\0') => Ok(self.run(format!("rev-parse {files}"))?),
                made => made.map_err(|said| describe_conflict(&said)),
            },
        )
    }

    /// Returns whether a commit of a branch before its last one held all that the workspace had by `seen`, as after
    /// `git merge`: what later commits removed was meant.
    fn has_taken_in(&self, branch: &str, start: &str, seen: &str) -> Result<bool> {
        let list = "rev-list --ancestry-path --skip=1 --max-count";
        let commits = self.run(format!("{list}={COMMITS_MAX} {seen}..{branch}"))?;
        for commit in commits.lines() {
            let files = format!("{commit}^{{tree}}");
            if let Ok(whole) = self.take_in(&files, start, seen)?
                && self.list_changed(&[&files, &whole])?.is_empty()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether a branch was merged into `old` since a commit, or `old` was moved on to it.
    fn is_merged_since(&self, branch: &str, start: &str, old: &str) -> Result<bool> {
        let list = format!("rev-list --first-parent --parents {start}..{old}");
        let listed = self.run(list)?;
        Ok(listed.split_whitespace().any(|commit| commit == branch))
    }

    /// Merges two commits into a tree, aside from all files.
    fn merge_trees(&self, commits: &str) -> Result<Answer> {
        let merge = "merge-tree --write-tree --name-only --no-messages -z";
        let merged = self.ask(format!("{merge} {commits}"))?;
        Ok(merged.map(|said| said.trim_end_matches('\0').to_string()))
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
        let moves = noted.lines().filter_map(|line| {
            let (_, names) = line.split_once("\tcheckout: moving from ")?;
            names.split(' ').next().filter(|name| is_id(name))
        });
        for commit in BTreeSet::from_iter(moves) {
            let finds = |list: String| Ok(!self.ask(list)?.unwrap_or_default().is_empty());
            let own = format!("refs/heads/{}...{commit}", tree.branch);
            if finds(format!("rev-list --max-count=1 {commit} --not --all"))?
                && finds(format!(
                    "rev-list --max-count=1 --cherry-pick --right-only {own}"
                ))?
            {
                let fix = format!("git merge {commit}");
                left.push(refuse(&format!("the commit {commit}"), fix));
            }
        }
        let list = "for-each-ref --format=%(objectname)%09%(refname:lstrip=2) refs/heads";
        let others = self.run(format!("{list} --no-merged=refs/heads/{}", tree.branch))?;
        let others = others.lines().filter_map(|line| line.split_once('\t'));
        let others = others.filter(|(commit, _)| made.contains(commit));
        left.extend(others.map(|(_, name)| {
            let fix = format!("git merge {}", quote(&format!("refs/heads/{name}")));
            refuse(&format!("the branch {name}"), fix)
        }));
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
    let is_id = |text: &str| text.len() >= 40 && text.chars().all(|c| c.is_ascii_hexdigit());
    match said.split_once('\0') {
        Some((id, names)) if is_id(id) => {
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
