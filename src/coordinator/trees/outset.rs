//! What lay in the workspace and in a worktree when both were last the same to a run, and which side has
//! changed it since.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Tree;
use super::copying::{self, held};
use super::declared::Declared;
use super::outputs::Known;
use crate::error::Result;
use crate::file::{read, unreadable, unwritable};

/// Most bytes of a note of outputs that are read.
const NOTE_MAX: u64 = 64 << 20;

/// The files that lay in the workspace and in a worktree when both were last the same to this run, each by
/// its path with its digest, and what else is to be brought over.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Outset {
    pub(super) declared: Declared,
    /// The branch into which the work is merged; none for a detached HEAD.
    pub(super) onto: Option<String>,
    pub(super) home: BTreeMap<String, String>,
    pub(super) tree: BTreeMap<String, String>,
    pub(super) others: BTreeSet<String>,
    /// What was brought over since this was read.
    #[serde(skip)]
    pub(super) brought: BTreeMap<String, String>,
}

/// A file on one side: where it is, what it holds now, and what it held at the outset.
pub(super) struct Side {
    top: PathBuf,
    pub(super) path: PathBuf,
    pub(super) now: Option<String>,
    pub(super) before: Option<String>,
}

/// What becomes of a file that is to be brought to the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// There is nothing new in it.
    Stays,
    Comes,
    Clashes,
}

impl Outset {
    /// Reads what was noted. What cannot be read tells nothing: then whatever differs clashes.
    pub(super) fn read(path: &Path) -> Outset {
        let text = read(path, NOTE_MAX).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    pub(super) fn keep(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_vec(self).unwrap_or_default();
        copying::put(path, &text).map_err(|cause| unwritable(path, cause))
    }

    pub(super) fn known(&self) -> Known<'_> {
        Known {
            files: &self.tree,
            others: &self.others,
        }
    }

    /// Looks at a file in a worktree and in the workspace. One of a worktree that cannot be read is an error.
    pub(super) fn sides(&self, tree: &Tree, home: &Path, name: &str) -> Result<(Side, Side)> {
        let (here, there) = (tree.root.join(name), home.join(name));
        let now = held(&tree.top, &here).map_err(|cause| unreadable(&here, cause))?;
        let here = Side {
            top: tree.top.clone(),
            path: here,
            now,
            before: self.tree.get(name).cloned(),
        };
        let there = Side {
            // Whatever it is, it is not what it was.
            now: held(home, &there).unwrap_or_else(|_| Some(String::new())),
            top: home.to_path_buf(),
            path: there,
            before: self.home.get(name).cloned(),
        };
        Ok((here, there))
    }

    pub(super) fn bring(&mut self, name: &str, from: &Side, to: &Side) -> Result<()> {
        from.copy(&to.path)?;
        if let Some(now) = &from.now {
            for files in [&mut self.home, &mut self.tree, &mut self.brought] {
                files.insert(name.to_string(), now.clone());
            }
        }
        Ok(())
    }
}

impl Side {
    pub(super) fn copy(&self, to: &Path) -> Result<()> {
        copying::copy(&self.top, &self.path, self.now.as_deref(), to)
    }
}

pub(super) fn way(from: &Side, to: &Side) -> Way {
    match (&from.now, &to.now) {
        (None, _) => Way::Stays,
        // Somebody has removed what nobody changed.
        (Some(_), None) if from.now == from.before => Way::Stays,
        (Some(_), None) => Way::Comes,
        (Some(from), Some(to)) if from == to => Way::Stays,
        _ if from.now == from.before => Way::Stays,
        _ if to.now == to.before => Way::Comes,
        _ => Way::Clashes,
    }
}

pub(super) fn digests(top: &Path, root: &Path, paths: Vec<String>) -> BTreeMap<String, String> {
    let paths: BTreeSet<String> = paths.into_iter().collect();
    let digest = |path: String| Some((held(top, &root.join(&path)).ok()??, path));
    let digests = paths.into_iter().filter_map(digest);
    digests.map(|(digest, path)| (path, digest)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(now: &str, before: &str) -> Side {
        let some = |text: &str| Some(text.to_string()).filter(|text| !text.is_empty());
        Side {
            top: PathBuf::new(),
            path: PathBuf::new(),
            now: some(now),
            before: some(before),
        }
    }

    #[test]
    fn an_output_comes_where_nobody_else_has_changed_it() {
        for (from, to, expected) in [
            (("new", ""), ("", ""), Way::Comes),
            (("new", ""), ("old", "old"), Way::Comes),
            (("new", "old"), ("old", "old"), Way::Comes),
            (("new", ""), ("theirs", ""), Way::Clashes),
            (("new", "old"), ("theirs", "old"), Way::Clashes),
            (("new", ""), ("new", ""), Way::Stays),
            (("old", "old"), ("theirs", "old"), Way::Stays),
            (("", "old"), ("old", "old"), Way::Stays),
            (("old", "old"), ("", ""), Way::Stays),
            (("old", "old"), ("", "old"), Way::Stays),
            (("new", "old"), ("", "old"), Way::Comes),
        ] {
            let found = way(&side(from.0, from.1), &side(to.0, to.1));
            assert_eq!(found, expected, "{from:?} {to:?}");
        }
    }
}
