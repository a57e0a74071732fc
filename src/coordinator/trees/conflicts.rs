//! Detects unresolved conflicts and unfinished rebase, merge, cherry-pick or revert operations in a worktree.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use super::git::{DIFF, Words};
use super::merge::list_names;
use super::{Tree, Trees};
use crate::error::{Code, Error, Result, quote};
use crate::file::{read_start, read_within};

/// The names that git gives the commit at which an operation stopped.
const STOPPED: [(&str, &str); 4] = [
    // A rebase picks commits, too.
    ("REBASE_HEAD", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
];
const STEPS_MAX: u64 = 1 << 20;

/// Signs of conflict markers, and how many of them git writes without the attribute `conflict-marker-size`.
const MARKERS: [char; 2] = ['<', '>'];
const MARKER_SIZE: usize = 7;
/// Largest file that is searched for markers, in bytes.
const TEXT_MAX: u64 = 16 << 20;

/// The objects of git with the content of each side of a conflict: 2 is this side, 3 the other.
type Sides = BTreeMap<u8, String>;

impl Trees {
    /// Refuses a worktree with unresolved conflicts: committed as they are, with markers or with one side
    /// alone, they would pass for work. So is one in which git stopped with more commits to apply, of which nothing else
    /// knows.
    pub(super) fn require_conflicts_resolved(&self, tree: &Tree) -> Result<()> {
        let mut stopped = Vec::new();
        for (at, what) in STOPPED {
            let find = format!("rev-parse --verify --quiet {at}");
            if self.git_in(&tree.top).ask(find)?.is_ok() {
                stopped.push(what);
            }
        }
        let mut names = Vec::new();
        for (name, sides) in self.conflicts(tree, "--unmerged")? {
            if !self.is_resolved(tree, &name, &sides)? {
                names.push(name);
            }
        }
        if !stopped.is_empty() {
            // Staging a file with markers does not settle its conflict.
            for (name, sides) in self.conflicts(tree, "--resolve-undo")? {
                let text = read_text(&tree.top.join(&name)).unwrap_or_default();
                if self
                    .has_conflict_markers(tree, &name, &sides, &text)
                    .unwrap_or(false)
                {
                    names.push(name);
                }
            }
        }
        let place = tree.display_path();
        let message = if !names.is_empty() {
            let operation = stopped
                .first()
                .map(|what| format!(", of a {what} that is not finished"));
            format!(
                "{place} has unresolved conflicts{}: {}; settle and commit them there",
                operation.unwrap_or_default(),
                list_names(names)
            )
        } else if let Some(what) = self.find_unfinished(tree, &stopped)? {
            format!(
                "{place} has an unfinished {what} with more commits to come to; finish it there, or abandon it with \
                 `git {what} --quit`"
            )
        } else {
            return Ok(());
        };
        let look = format!("git -C {} status", quote(&place));
        Err(Error::new(Code::InputInvalid, message).fix(look))
    }

    /// Returns the operation that has stopped with commits still to apply, as its files say. Pending picks count only
    /// while git is stopped at one: after a commit or reset they may be abandoned.
    fn find_unfinished(
        &self,
        tree: &Tree,
        stopped: &[&'static str],
    ) -> Result<Option<&'static str>> {
        let Some(folder) = self.folder_of(&tree.top)? else {
            return Ok(None);
        };
        let read = |name: &str| {
            let text = read_start(&folder.join(name), STEPS_MAX).unwrap_or_default();
            String::from_utf8_lossy(&text).into_owned()
        };
        // Other lines are comments.
        let is_step = |line: &&str| line.starts_with(|first: char| first.is_ascii_alphabetic());
        let count_steps = |name: &str| read(name).lines().filter(is_step).count();
        let picks = |what: &&&str| ["cherry-pick", "revert"].contains(*what);
        let picking = stopped.iter().find(picks);
        if picking.is_some() && count_steps("sequencer/todo") > 1 {
            return Ok(picking.copied());
        }
        let number = |name: &str| read(name).trim().parse::<u64>().ok();
        let (next, last) = (number("rebase-apply/next"), number("rebase-apply/last"));
        if next.is_some() && next < last {
            return Ok(Some("am"));
        }
        // These are the steps after the one at which it stopped.
        Ok((count_steps("rebase-merge/git-rebase-todo") > 0).then_some("rebase"))
    }

    /// Lists the files with conflicts: unmerged ones, or resolved and staged ones (gitformat-index, "resolve
    /// undo").
    fn conflicts(&self, tree: &Tree, which: &str) -> Result<BTreeMap<String, Sides>> {
        let mut found: BTreeMap<String, Sides> = BTreeMap::new();
        let list = format!("ls-files {which} -z");
        let listed = self.git_in(&tree.top).list(list)?;
        for (head, name) in listed.iter().filter_map(|entry| entry.split_once('\t')) {
            // Its mode, its object and the number of the side.
            if let [_, object, side] = head.split(' ').collect::<Vec<_>>()[..] {
                let sides = found.entry(name.to_string()).or_default();
                sides.insert(side.parse().unwrap_or(0), object.to_string());
            }
        }
        Ok(found)
    }

    /// Returns true if a conflict is resolved. Staging is required only where one side has deleted the file
    /// or where git cannot look into it. Where git writes no markers, as into a link, it leaves this side,
    /// which counts as unresolved until it changes.
    fn is_resolved(&self, tree: &Tree, name: &str, sides: &Sides) -> Result<bool> {
        let file = tree.top.join(name);
        if ![2, 3].iter().all(|side| sides.contains_key(side)) {
            return Ok(false);
        }
        if file.is_symlink() {
            return self.is_changed(tree, name);
        }
        let Some(text) = read_text(&file) else {
            return Ok(false);
        };
        let is_merged = self.attribute(tree, name, "merge")? != "unset";
        let is_touched = is_merged || self.is_changed(tree, name)?;
        Ok(is_touched && !self.has_conflict_markers(tree, name, sides, &text)?)
    }

    fn is_changed(&self, tree: &Tree, name: &str) -> Result<bool> {
        let diff = format!("{DIFF} --ours --diff-filter=MT");
        let names = self.git_in(&tree.top).list(diff)?;
        Ok(names.iter().any(|changed| changed == name))
    }

    /// Returns true if a text has conflict markers in lines that neither side has: a file may quote markers.
    fn has_conflict_markers(
        &self,
        tree: &Tree,
        name: &str,
        sides: &Sides,
        text: &str,
    ) -> Result<bool> {
        let size = self.attribute(tree, name, "conflict-marker-size")?;
        let size = size.parse().ok().filter(|size| *size > 0);
        let size = size.unwrap_or(MARKER_SIZE);
        let is_marker = |line: &&str| count_signs(line).is_some_and(|signs| signs >= size);
        let mut markers: Vec<&str> = text.lines().filter(is_marker).collect();
        for (_, object) in sides.iter().filter(|(side, _)| **side >= 2) {
            let text = self
                .git_in(&tree.top)
                .run(format!("cat-file blob {object}"))?;
            let own: HashSet<&str> = text.lines().collect();
            markers.retain(|line| !own.contains(line));
        }
        Ok(!markers.is_empty())
    }

    fn attribute(&self, tree: &Tree, name: &str, attribute: &str) -> Result<String> {
        let check = Words::with(&format!("check-attr -z {attribute} --"), [name]);
        let told = self.git_in(&tree.top).list(check)?;
        Ok(told.into_iter().nth(2).unwrap_or_default())
    }
}

/// Reads a text file. The target of a link is another file.
fn read_text(file: &Path) -> Option<String> {
    if file.is_symlink() {
        return None;
    }
    let bytes = read_within(file, TEXT_MAX).ok().flatten()?;
    let is_text = !bytes.contains(&0);
    is_text.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the length of the conflict marker at the beginning of a line.
fn count_signs(line: &str) -> Option<usize> {
    let sign = line.chars().next().filter(|sign| MARKERS.contains(sign))?;
    let rest = line.trim_start_matches(sign);
    let is_whole = rest.chars().next().is_none_or(char::is_whitespace);
    is_whole.then_some(line.len() - rest.len())
}
