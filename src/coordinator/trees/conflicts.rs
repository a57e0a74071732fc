//! Conflicts that git has left in a worktree, and what it has stopped in the midst of there.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use super::git::pathspec;
use super::merging::named;
use super::{Tree, Trees};
use crate::error::{Code, Error, Result, quote};
use crate::file::{read_start, read_within};

/// Something that git has stopped in the midst of.
struct Stopped {
    /// What git calls the commit at which it has.
    at: &'static str,
    what: &'static str,
    /// The commit whose files it brings.
    from: &'static str,
}

const STOPPED: [Stopped; 4] = [
    // One that rebases picks commits, too.
    Stopped {
        at: "REBASE_HEAD",
        what: "rebase",
        from: "REBASE_HEAD",
    },
    Stopped {
        at: "MERGE_HEAD",
        what: "merge",
        from: "MERGE_HEAD",
    },
    Stopped {
        at: "CHERRY_PICK_HEAD",
        what: "cherry-pick",
        from: "CHERRY_PICK_HEAD",
    },
    Stopped {
        at: "REVERT_HEAD",
        what: "revert",
        from: "REVERT_HEAD^",
    },
];

/// Where git has what it is to pick or revert yet, that at which it has stopped included.
const PICKS: &str = "sequencer/todo";
/// Where it has what it is to do yet to rebase, that at which it has stopped not included.
const REBASES: &str = "rebase-merge/git-rebase-todo";
/// Most bytes of these that are read.
const TODO_MAX: u64 = 1 << 20;

/// What marks of a conflict are made of, and of how many of these where a file has no size of its own for them.
const MARKS: [char; 2] = ['<', '>'];
const MARK_SIZE: usize = 7;
/// Largest file that is looked into for them, in bytes.
const TEXT_MAX: u64 = 16 << 20;

impl Trees {
    /// Refuses a worktree with conflicts that nobody has settled: committed as they are, files with the marks of
    /// them, or with one side alone, would pass for work.
    pub(super) fn require_settled(&self, tree: &Tree) -> Result<()> {
        let stopped = self.stopped(tree)?;
        let mut names = self.unsettled(tree)?;
        if let Some(stopped) = stopped {
            names.extend(self.marked(tree, stopped)?);
        }
        if names.is_empty() {
            return Ok(());
        }
        let of = stopped.map(|it| format!(", of a {} that is not finished", it.what));
        let message = format!(
            "{} has conflicts that nobody has settled{}: {}; settle and commit them there",
            tree.place(),
            of.unwrap_or_default(),
            named(names.into_iter().collect())
        );
        Err(left_in(tree, message))
    }

    /// Refuses a worktree in which git has stopped with commits before it that it has not come to: nothing else
    /// knows of them.
    pub(super) fn require_finished(&self, tree: &Tree) -> Result<()> {
        let Some(what) = self.unfinished(tree)? else {
            return Ok(());
        };
        let message = format!(
            "{} has a {what} that is not finished and has more commits to come to; finish it there",
            tree.place()
        );
        Err(left_in(tree, message))
    }

    /// Says what has stopped in a worktree with commits before it, if something has.
    fn unfinished(&self, tree: &Tree) -> Result<Option<&'static str>> {
        let picks = self.steps(tree, PICKS)?;
        if !picks.is_empty() && picks.len() > usize::from(self.is_at_pick(tree)?) {
            let is_revert = picks.iter().any(|step| step.starts_with("revert"));
            return Ok(Some(if is_revert { "revert" } else { "cherry-pick" }));
        }
        let rebases = self.steps(tree, REBASES)?;
        Ok((!rebases.is_empty()).then_some("rebase"))
    }

    /// Says whether git has stopped at a commit that it picks or reverts, and nobody has committed that yet.
    fn is_at_pick(&self, tree: &Tree) -> Result<bool> {
        Ok(self.has(&tree.top, "CHERRY_PICK_HEAD")? || self.has(&tree.top, "REVERT_HEAD")?)
    }

    /// Lists the steps in a file of git that are to be done in a worktree; none where there is no such file.
    fn steps(&self, tree: &Tree, file: &str) -> Result<Vec<String>> {
        let words = ["rev-parse", "--path-format=absolute", "--git-path", file];
        let place = self.done(&tree.top, words)?;
        let text = read_start(Path::new(place.trim_end_matches('\n')), TODO_MAX);
        let text = text.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        // Others are remarks.
        let is_step = |line: &&str| line.starts_with(|first: char| first.is_ascii_alphabetic());
        Ok(text.lines().filter(is_step).map(str::to_string).collect())
    }

    /// Says what has stopped in a worktree, if git knows of something.
    fn stopped(&self, tree: &Tree) -> Result<Option<&'static Stopped>> {
        for stopped in &STOPPED {
            if self.has(&tree.top, stopped.at)? {
                return Ok(Some(stopped));
            }
        }
        Ok(None)
    }

    /// Names the files in conflict that nobody has settled. Where git writes no marks, as into a link, it leaves what
    /// this side has: nobody has touched that.
    fn unsettled(&self, tree: &Tree) -> Result<BTreeSet<String>> {
        let unmerged = self.unmerged(&tree.top)?;
        let mut left = BTreeSet::new();
        if unmerged.is_empty() {
            return Ok(left);
        }
        let changed = self.differing(tree, &["--ours", "--diff-filter=MT"])?;
        for name in unmerged {
            if !changed.contains(&name) || !self.is_settled(tree, &name)? {
                left.insert(name);
            }
        }
        Ok(left)
    }

    /// Says whether somebody has settled the conflict of a file that was changed since. Whoever does need not stage
    /// it, but where one side has deleted it: there the file itself does not tell.
    fn is_settled(&self, tree: &Tree, name: &str) -> Result<bool> {
        let file = tree.top.join(name);
        if !self.have_both(tree, name)? {
            return Ok(false);
        }
        if file.is_symlink() {
            return Ok(true);
        }
        let Some(text) = text_of(&file) else {
            return Ok(false);
        };
        Ok(!self.bears_marks(tree, name, &text)?)
    }

    /// Says whether both sides of a conflict have a file.
    fn have_both(&self, tree: &Tree, name: &str) -> Result<bool> {
        let words = ["ls-files", "--unmerged", "-z", "--"].map(OsString::from);
        let place = pathspec("top,literal", Path::new(name));
        let sides = self.done(&tree.top, words.into_iter().chain([place]))?;
        let has = |side: &str| {
            let mut heads = sides
                .split('\0')
                .filter_map(|entry| entry.split('\t').next());
            heads.any(|head| head.ends_with(side))
        };
        Ok(has(" 2") && has(" 3"))
    }

    /// Names the files with marks that were added since the last commit, and that what has stopped does not bring
    /// as they are: who stages them has not settled them.
    fn marked(&self, tree: &Tree, stopped: &Stopped) -> Result<Vec<String>> {
        let mut marked = Vec::new();
        for name in self.differing(tree, &["--diff-filter=AMT", "HEAD"])? {
            let Some(text) = text_of(&tree.top.join(&name)) else {
                continue;
            };
            if self.bears_marks(tree, &name, &text)?
                && self.adds_marks(tree, &name, "HEAD")?
                && self.adds_marks(tree, &name, stopped.from)?
            {
                marked.push(name);
            }
        }
        Ok(marked)
    }

    /// Says whether a file has lines with marks that it has not in a commit, if there is that commit.
    fn adds_marks(&self, tree: &Tree, name: &str, since: &str) -> Result<bool> {
        if !self.has(&tree.top, since)? {
            return Ok(true);
        }
        let plain = ["--no-color", "--no-ext-diff", "--no-textconv", "--text"];
        let words = ["diff", "--unified=0"].into_iter().chain(plain);
        let words = words.chain([since, "--"]).map(OsString::from);
        let place = pathspec("top,literal", Path::new(name));
        let told = self.listed(&tree.top, words.chain([place]))?;
        let added = told.lines().filter_map(|line| line.strip_prefix('+'));
        self.bears_marks(tree, name, &added.collect::<Vec<_>>().join("\n"))
    }

    /// Says whether a text bears marks as git writes them into a file.
    fn bears_marks(&self, tree: &Tree, name: &str, text: &str) -> Result<bool> {
        let sizes: BTreeSet<usize> = text.lines().filter_map(mark).collect();
        Ok(!sizes.is_empty() && sizes.contains(&self.mark_size(tree, name)?))
    }

    /// Returns how many signs a mark in a file has.
    fn mark_size(&self, tree: &Tree, name: &str) -> Result<usize> {
        let words = ["check-attr", "-z", "conflict-marker-size", "--", name];
        let told = self.done(&tree.top, words)?;
        let size = told.split('\0').nth(2);
        let size = size.and_then(|size| size.parse().ok());
        Ok(size.filter(|size| *size > 0).unwrap_or(MARK_SIZE))
    }

    /// Names the files of a worktree that differ from what is said.
    fn differing(&self, tree: &Tree, from: &[&str]) -> Result<BTreeSet<String>> {
        let words = ["diff", "--name-only", "--no-renames", "-z"];
        let words = words.into_iter().chain(from.iter().copied());
        let names = self.listed(&tree.top, words)?;
        let names = names.split('\0').filter(|name| !name.is_empty());
        Ok(names.map(str::to_string).collect())
    }
}

/// The error of a worktree in which somebody has to go on by hand.
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
    let text = String::from_utf8(bytes).ok()?;
    (!text.contains('\0')).then_some(text)
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
