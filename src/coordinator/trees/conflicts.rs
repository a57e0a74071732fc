//! Detects unresolved conflicts and unfinished rebase, merge, cherry-pick or revert operations in a worktree.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use super::git::{DIFF, Words};
use super::merging::list_names;
use super::{Tree, Trees};
use crate::error::{Code, Error, Result, quote};
use crate::file::{read_start, read_within};

/// What git calls the commit at which something has stopped, and what that is.
const STOPPED: [(&str, &str); 4] = [
    // One that rebases picks commits, too.
    ("REBASE_HEAD", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
];

/// Where git has what it is to pick or revert yet, that at which it has stopped included.
const PICKS: &str = "sequencer/todo";
/// Where it has what it is to do yet to rebase, that at which it has stopped not included.
const REBASES: &str = "rebase-merge/git-rebase-todo";
/// Which of the mailed patches that it is to apply git has stopped at, and how many there are.
const PATCHES: [&str; 2] = ["rebase-apply/next", "rebase-apply/last"];
const STEPS_MAX: u64 = 1 << 20;

/// What marks of a conflict are made of, and of how many of these where a file has no size of its own for them.
const MARKS: [char; 2] = ['<', '>'];
const MARK_SIZE: usize = 7;
/// Largest file that is looked into for them, in bytes.
const TEXT_MAX: u64 = 16 << 20;

struct Conflict {
    name: String,
    /// The objects of git with what each side has, by the number of the side: 2 is this one, 3 the other.
    sides: BTreeMap<u8, String>,
}

impl Trees {
    /// Refuses a worktree with unresolved conflicts: committed as they are, with markers or with one side
    /// alone, they would pass for work.
    pub(super) fn require_settled(&self, tree: &Tree) -> Result<()> {
        let stopped = self.find_stopped(tree)?;
        let mut names = Vec::new();
        for conflict in self.conflicts(tree, "--unmerged")? {
            if !self.is_settled(tree, &conflict)? {
                names.push(conflict.name);
            }
        }
        if stopped.is_some() {
            // Files that are staged with the marks of a conflict are not settled by that.
            for conflict in self.conflicts(tree, "--resolve-undo")? {
                let text = text_of(&tree.top.join(&conflict.name));
                if text
                    .is_some_and(|text| self.bears_marks(tree, &conflict, &text).unwrap_or(false))
                {
                    names.push(conflict.name);
                }
            }
        }
        if names.is_empty() {
            return Ok(());
        }
        let of = stopped.map(|what| format!(", of a {what} that is not finished"));
        let message = format!(
            "{} has conflicts that nobody has settled{}: {}; settle and commit them there",
            tree.place(),
            of.unwrap_or_default(),
            list_names(names)
        );
        Err(left_in(tree, message))
    }

    /// Refuses a worktree in which git has stopped with commits still to apply: nothing else knows of them.
    pub(super) fn require_finished(&self, tree: &Tree) -> Result<()> {
        let Some(what) = self.find_unfinished(tree)? else {
            return Ok(());
        };
        let message = format!(
            "{} has an unfinished {what} with more commits to come to; finish it there, or give it up with \
             `git {what} --quit`",
            tree.place()
        );
        Err(left_in(tree, message))
    }

    /// Returns the operation that has stopped with commits still to apply. Pending picks count only while git
    /// stands at one: after a commit or reset they may be abandoned.
    fn find_unfinished(&self, tree: &Tree) -> Result<Option<&'static str>> {
        let picks = self.steps(tree, PICKS)?;
        let is_stopped = |at| self.is_stopped(tree, at);
        if picks.len() > 1 && (is_stopped("CHERRY_PICK_HEAD")? || is_stopped("REVERT_HEAD")?) {
            let is_revert = picks.iter().any(|step| step.starts_with("revert"));
            return Ok(Some(if is_revert { "revert" } else { "cherry-pick" }));
        }
        let number =
            |file| -> Result<Option<u64>> { Ok(self.read_state(tree, file)?.trim().parse().ok()) };
        let [next, last] = PATCHES;
        if number(next)?.is_some_and(|next| number(last).is_ok_and(|last| last > Some(next))) {
            return Ok(Some("am"));
        }
        let rebases = self.steps(tree, REBASES)?;
        Ok((!rebases.is_empty()).then_some("rebase"))
    }

    fn steps(&self, tree: &Tree, file: &str) -> Result<Vec<String>> {
        let text = self.read_state(tree, file)?;
        // Others are remarks.
        let is_step = |line: &&str| line.starts_with(|first: char| first.is_ascii_alphabetic());
        Ok(text.lines().filter(is_step).map(str::to_string).collect())
    }

    fn read_state(&self, tree: &Tree, file: &str) -> Result<String> {
        let place = format!("rev-parse --path-format=absolute --git-path {file}");
        let place = self.git_in(&tree.top).run(place)?;
        let text = read_start(Path::new(&place), STEPS_MAX);
        Ok(String::from_utf8_lossy(&text.unwrap_or_default()).into_owned())
    }

    fn find_stopped(&self, tree: &Tree) -> Result<Option<&'static str>> {
        for (at, what) in STOPPED {
            if self.is_stopped(tree, at)? {
                return Ok(Some(what));
            }
        }
        Ok(None)
    }

    fn is_stopped(&self, tree: &Tree, at: &str) -> Result<bool> {
        let said = self
            .git_in(&tree.top)
            .ask(format!("rev-parse --verify --quiet {at}"))?;
        Ok(said.is_ok())
    }

    /// Lists the files with conflicts: unmerged ones, or resolved and staged ones (gitformat-index, "resolve
    /// undo").
    fn conflicts(&self, tree: &Tree, which: &str) -> Result<Vec<Conflict>> {
        let mut found: BTreeMap<String, BTreeMap<u8, String>> = BTreeMap::new();
        let listed = self
            .git_in(&tree.top)
            .list(format!("ls-files {which} -z"))?;
        for (head, name) in listed.iter().filter_map(|entry| entry.split_once('\t')) {
            // Its mode, its object and the number of the side.
            if let [_, object, side] = head.split(' ').collect::<Vec<_>>()[..] {
                let sides = found.entry(name.to_string()).or_default();
                sides.insert(side.parse().unwrap_or(0), object.to_string());
            }
        }
        let conflict = |(name, sides)| Conflict { name, sides };
        Ok(found.into_iter().map(conflict).collect())
    }

    /// Returns true if a conflict is resolved. Staging is required only where one side has deleted the file
    /// or where git cannot look into it. Where git writes no markers, as into a link, it leaves this side,
    /// which counts as unresolved until it changes.
    fn is_settled(&self, tree: &Tree, conflict: &Conflict) -> Result<bool> {
        let file = tree.top.join(&conflict.name);
        if ![2, 3].iter().all(|side| conflict.sides.contains_key(side)) {
            return Ok(false);
        }
        if file.is_symlink() {
            return self.is_changed(tree, &conflict.name);
        }
        let Some(text) = text_of(&file) else {
            return Ok(false);
        };
        let is_merged = self.attribute(tree, &conflict.name, "merge")? != "unset";
        let is_touched = is_merged || self.is_changed(tree, &conflict.name)?;
        Ok(is_touched && !self.bears_marks(tree, conflict, &text)?)
    }

    fn is_changed(&self, tree: &Tree, name: &str) -> Result<bool> {
        let diff = format!("{DIFF} --ours --diff-filter=MT");
        let names = self.git_in(&tree.top).list(diff)?;
        Ok(names.iter().any(|changed| changed == name))
    }

    /// Returns true if a text has conflict markers in lines that neither side has: a file may quote markers.
    fn bears_marks(&self, tree: &Tree, conflict: &Conflict, text: &str) -> Result<bool> {
        let mut marks: Vec<&str> = text.lines().filter(|line| mark(line).is_some()).collect();
        if marks.is_empty() {
            return Ok(false);
        }
        let size = self.attribute(tree, &conflict.name, "conflict-marker-size")?;
        let size = size.parse().ok().filter(|size| *size > 0);
        let size = size.unwrap_or(MARK_SIZE);
        marks.retain(|line| mark(line).is_some_and(|signs| signs >= size));
        for (side, object) in &conflict.sides {
            if *side >= 2 && !marks.is_empty() {
                let text = format!("cat-file blob {object}");
                let text = self.git_in(&tree.top).run(text)?;
                let own: HashSet<&str> = text.lines().collect();
                marks.retain(|line| !own.contains(line));
            }
        }
        Ok(!marks.is_empty())
    }

    fn attribute(&self, tree: &Tree, name: &str, attribute: &str) -> Result<String> {
        let check = Words::with(&format!("check-attr -z {attribute} --"), [name]);
        let told = self.git_in(&tree.top).list(check)?;
        Ok(told.into_iter().nth(2).unwrap_or_default())
    }
}

fn left_in(tree: &Tree, message: String) -> Error {
    let look = format!("git -C {} status", quote(&tree.place()));
    Error::new(Code::InputInvalid, message).fix(look)
}

/// Reads a file, if it is a text that can be looked into. What a link leads to is another one.
fn text_of(file: &Path) -> Option<String> {
    if file.is_symlink() {
        return None;
    }
    let bytes = read_within(file, TEXT_MAX).ok().flatten()?;
    let is_text = !bytes.contains(&0);
    // Marks are of signs that all such texts write alike.
    is_text.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns how many signs the mark has that a line begins with, as far as it is one.
fn mark(line: &str) -> Option<usize> {
    let sign = line.chars().next().filter(|sign| MARKS.contains(sign))?;
    let rest = line.trim_start_matches(sign);
    let is_whole = rest.chars().next().is_none_or(char::is_whitespace);
    is_whole.then_some(line.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_signs_alone_or_before_a_word() {
        for (line, expected) in [
            ("<<<<<<< HEAD", Some(7)),
            (">>>>>>>", Some(7)),
            (">>>>> side", Some(5)),
            ("> quoted", Some(1)),
            ("<<<<<<<HEAD", None),
            ("=======", None),
            (" <<<<<<< HEAD", None),
            ("", None),
        ] {
            assert_eq!(mark(line), expected, "{line}");
        }
    }
}
