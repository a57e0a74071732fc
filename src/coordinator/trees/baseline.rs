//! The note of a worktree, by which the changes of its agent are told from those of others; and
//! the files that a task declares, which git may ignore.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::slice;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::Tree;
use super::copy::{digest_file, require_no_link};
use crate::error::Result;
use crate::file::{read, unreadable, write_private};
use crate::tree::Globs;

const NOTE_MAX: u64 = 64 << 20;

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Baseline {
    /// The deliverables and files of the task, some of which are paths or patterns.
    pub(super) deliverables: Vec<String>,
    pub(super) files: Vec<String>,
    /// The branch into which the work is merged; none for a detached HEAD.
    pub(super) onto: Option<String>,
    /// The commit from which the worktree was made.
    pub(super) start: Option<String>,
    /// When the worktree was made.
    pub(super) made: Option<SystemTime>,
    /// Digests of the files that were copied between workspace and worktree, by path.
    pub(super) copied: BTreeMap<String, String>,
    /// A file that git ignores and without which the commands of the task failed.
    pub(super) needed: String,
}

/// A file in a worktree and in the workspace, with digests of what it holds.
pub(super) struct Pair {
    pub(super) name: String,
    pub(super) here: PathBuf,
    pub(super) there: PathBuf,
    pub(super) own: Option<String>,
    pub(super) theirs: Option<String>,
    pub(super) change: Change,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    None,
    New,
    /// It takes the place of a file that is not of this task.
    Replacement,
    /// Somebody else has changed the file of the workspace since the worktree was made.
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
        write_private(path, &crate::document::to_json(self).unwrap_or_default())
    }

    /// Compares a file in a worktree and in the workspace. A file of the worktree that cannot be read is an error.
    pub(super) fn compare_file(&self, tree: &Tree, home: &Path, name: &str) -> Result<Pair> {
        let (here, there) = (tree.root.join(name), home.join(name));
        let own = digest_file(&tree.top, &here).map_err(|cause| unreadable(&here, cause))?;
        // A file that cannot be read counts as changed.
        let theirs = digest_file(home, &there).unwrap_or_else(|_| Some(String::new()));
        let mut earlier = tree
            .list_earlier_baselines()
            .map(|path| Baseline::load(&path));
        let change = match () {
            () if own.is_none() || own == theirs || self.has_copied(name, &own) => Change::None,
            () if theirs.is_none() || self.has_copied(name, &theirs) => Change::New,
            // The file of the workspace is from an earlier worktree of the task.
            () if earlier.any(|earlier| earlier.has_copied(name, &theirs)) => Change::New,
            () if theirs.as_deref() != Some("") && self.is_older(&there) => Change::Replacement,
            () => Change::Conflict,
        };
        Ok(Pair {
            name: name.to_string(),
            here,
            there,
            own,
            theirs,
            change,
        })
    }

    pub(super) fn has_copied(&self, name: &str, digest: &Option<String>) -> bool {
        digest.is_some() && self.copied.get(name) == digest.as_ref()
    }

    /// Returns whether a file has not changed since the worktree was made. No program can set this time of a file.
    fn is_older(&self, path: &Path) -> bool {
        let Ok(there) = path.symlink_metadata() else {
            return false;
        };
        let seconds = u64::try_from(there.ctime()).unwrap_or_default();
        let nanoseconds = u32::try_from(there.ctime_nsec()).unwrap_or_default();
        let changed = SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds);
        self.made.is_some_and(|made| changed <= made)
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

    pub(super) fn note_copied(&mut self, pair: &Pair, digest: &Option<String>) {
        let digest = digest.iter().cloned();
        self.copied
            .extend(digest.map(|digest| (pair.name.clone(), digest)));
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

    #[test]
    fn only_deliverables_declare_folders() {
        let of = |text: &str| vec![text.to_string()];
        let declared = Baseline {
            deliverables: of("./build/"),
            files: of("web"),
            ..Baseline::default()
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
