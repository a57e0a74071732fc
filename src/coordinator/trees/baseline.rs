//! Baseline digests of workspace and worktree files, used to detect which side changed a file; and the files
//! that a task declares, which git may ignore.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::slice;

use serde::{Deserialize, Serialize};

use super::Tree;
use super::copy::{copy, digest_file, require_no_link};
use crate::error::Result;
use crate::file::{read, unreadable, write_private};
use crate::task::Task;
use crate::tree::Globs;

const NOTE_MAX: u64 = 64 << 20;

/// Digests of the files that workspace and worktree shared when the run last compared them, by path.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Baseline {
    pub(super) declared: Declared,
    /// The branch into which the work is merged; none for a detached HEAD.
    pub(super) onto: Option<String>,
    /// The commit from which the worktree was made.
    pub(super) start: Option<String>,
    pub(super) home: BTreeMap<String, String>,
    pub(super) tree: BTreeMap<String, String>,
    /// Marks of outputs that are not plain files.
    pub(super) others: BTreeSet<String>,
    /// A file that git ignores and without which the commands of the task failed.
    pub(super) needed: String,
}

/// A file in a worktree and in the workspace.
pub(super) struct Pair {
    pub(super) name: String,
    pub(super) here: Side,
    pub(super) there: Side,
}

/// A file on one side: where it is, what it holds now, and what it held in the baseline.
pub(super) struct Side {
    top: PathBuf,
    pub(super) path: PathBuf,
    pub(super) now: Option<String>,
    pub(super) before: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    None,
    New,
    Conflict,
}

impl Baseline {
    /// Reads a baseline. Without one all files that differ are conflicts.
    pub(super) fn load(path: &Path) -> Baseline {
        let text = read(path, NOTE_MAX).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    pub(super) fn save(&self, path: &Path) -> Result<()> {
        require_no_link(path.ancestors().nth(2).unwrap_or(path), path)?;
        write_private(path, &serde_json::to_string(self).unwrap_or_default())
    }

    /// Compares a file in a worktree and in the workspace. A file of the worktree that cannot be read is an error.
    pub(super) fn compare_file(&self, tree: &Tree, home: &Path, name: &str) -> Result<Pair> {
        let (here, there) = (tree.root.join(name), home.join(name));
        let now = digest_file(&tree.top, &here).map_err(|cause| unreadable(&here, cause))?;
        let side = |top: &Path, path, now, files: &BTreeMap<String, String>| Side {
            top: top.to_path_buf(),
            path,
            now,
            before: files.get(name).cloned(),
        };
        // A file that cannot be read counts as changed.
        let other = digest_file(home, &there).unwrap_or_else(|_| Some(String::new()));
        let mut pair = Pair {
            name: name.to_string(),
            here: side(&tree.top, here, now, &self.tree),
            there: side(home, there, other, &self.home),
        };
        if pair.change() != Change::None && pair.there.now.is_some() {
            let mut earlier = tree
                .list_earlier_baselines()
                .map(|path| Baseline::load(&path));
            let now = pair.there.now.clone();
            // The file of the workspace is from an earlier worktree of the task.
            if earlier.any(|baseline| baseline.tree.get(name) == now.as_ref()) {
                (pair.here.before, pair.there.before) = (now.clone(), now);
            }
        }
        Ok(pair)
    }

    /// Copies a file from one side to the other.
    pub(super) fn copy_file(&mut self, name: &str, from: &Side, to: &Side) -> Result<()> {
        from.copy(&to.path)?;
        if let Some(now) = &from.now {
            for files in [&mut self.home, &mut self.tree] {
                files.insert(name.to_string(), now.clone());
            }
        }
        Ok(())
    }
}

impl Side {
    pub(super) fn copy(&self, to: &Path) -> Result<()> {
        copy(&self.top, &self.path, self.now.as_deref(), to)
    }
}

impl Pair {
    pub(super) fn change(&self) -> Change {
        change(&self.here, &self.there)
    }
}

pub(super) fn change(from: &Side, to: &Side) -> Change {
    match (&from.now, &to.now) {
        (None, _) => Change::None,
        // Removed, and unchanged by the run.
        _ if from.now == to.now || from.now == from.before => Change::None,
        (_, None) => Change::New,
        _ if to.now == to.before => Change::New,
        _ => Change::Conflict,
    }
}

pub(super) fn digests(top: &Path, root: &Path, paths: Vec<String>) -> BTreeMap<String, String> {
    let digest = |path: String| {
        let digest = digest_file(top, &root.join(&path)).ok()??;
        Some((path, digest))
    };
    let paths: BTreeSet<String> = paths.into_iter().collect();
    crate::build_map(paths.into_iter().filter_map(digest))
}

/// The deliverables and files of a task, some of which are paths or patterns.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::coordinator) struct Declared {
    pub(super) deliverables: Vec<String>,
    pub(super) files: Vec<String>,
}

impl Declared {
    pub(in crate::coordinator) fn from_task(task: &Task) -> Declared {
        Declared {
            deliverables: task.deliverables.clone(),
            files: task.files.clone(),
        }
    }

    pub(super) fn patterns(&self) -> Vec<Pattern> {
        let read = |text: &String, has_below| {
            let text = text.trim();
            let text = text.strip_prefix("./").unwrap_or(text);
            let text = text.trim_end_matches('/').to_string();
            let globs = Globs::new(slice::from_ref(&text)).ok()?;
            Some(Pattern {
                text,
                globs,
                has_below,
            })
        };
        let deliverables = self.deliverables.iter().map(|text| read(text, true));
        let files = self.files.iter().map(|text| read(text, false));
        deliverables.chain(files).flatten().collect()
    }
}

/// A declared path or pattern.
pub(super) struct Pattern {
    text: String,
    pub(super) globs: Globs,
    /// False for the files of a task: a folder among them may hold caches too, which are not declared.
    has_below: bool,
}

impl Pattern {
    pub(super) fn has(&self, path: &str) -> bool {
        let depth = |path: &str| path.matches('/').count();
        let is_deep = self.text.contains("**") || depth(path) != depth(&self.text);
        if is_deep && !self.has_below {
            return false;
        }
        // The name of a file may have the signs of a pattern.
        let below = path.strip_prefix(&self.text);
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            || self.globs.has(Path::new(path))
    }
}

pub(super) fn is_regular(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|there| there.is_file())
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
    fn output_comes_where_nobody_else_has_changed_it() {
        for (from, to, expected) in [
            (("new", ""), ("", ""), Change::New),
            (("new", ""), ("old", "old"), Change::New),
            (("new", "old"), ("old", "old"), Change::New),
            (("new", ""), ("theirs", ""), Change::Conflict),
            (("new", "old"), ("theirs", "old"), Change::Conflict),
            (("new", ""), ("new", ""), Change::None),
            (("old", "old"), ("theirs", "old"), Change::None),
            (("", "old"), ("old", "old"), Change::None),
            (("old", "old"), ("", ""), Change::None),
            (("old", "old"), ("", "old"), Change::None),
            (("new", "old"), ("", "old"), Change::New),
        ] {
            let found = change(&side(from.0, from.1), &side(to.0, to.1));
            assert_eq!(found, expected, "{from:?} {to:?}");
        }
    }

    #[test]
    fn only_deliverables_declare_folders() {
        let of = |text: &str| vec![text.to_string()];
        let declared = Declared {
            deliverables: of("./build/"),
            files: of("web"),
        };
        for (path, expected) in [
            ("build/out.bin", true),
            ("build", true),
            ("builder", false),
            ("web", true),
            ("web/node_modules/x", false),
        ] {
            let has = declared.patterns().iter().any(|one| one.has(path));
            assert_eq!(has, expected, "{path}");
        }
    }
}
