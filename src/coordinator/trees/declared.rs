//! What a task says that it makes. Git ignores some of that, so no branch holds it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Trees;
use super::git::IGNORED;
use crate::task::Task;
use crate::workspace::{OUTPUT_DIR, Workspace};

/// What a task is to make, in its own words; some of them are paths.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::coordinator) struct Declared {
    deliverables: Vec<String>,
    files: Vec<String>,
}

impl Declared {
    pub(in crate::coordinator) fn of(task: &Task) -> Declared {
        Declared {
            deliverables: task.deliverables.clone(),
            files: task.files.clone(),
        }
    }

    /// Says whether a file is declared. A folder among the files that are worked on may hold caches too,
    /// which nobody has asked for.
    fn has(&self, path: &str) -> bool {
        let is_it = |named: &String| plain(named) == path;
        let is_in = |folder: &String| {
            let rest = path.strip_prefix(plain(folder));
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        let mut all = self.deliverables.iter().chain(&self.files);
        all.any(is_it) || self.deliverables.iter().any(is_in)
    }
}

impl Trees {
    /// Names the declared files below a root that git ignores. Where git cannot say, there are none.
    pub(super) fn ignored(&self, root: &Path, declared: &Declared) -> Vec<String> {
        let home = Workspace::from(self.home());
        let is_path = |path: &&str| !matches!(*path, "" | ".") && home.confine(path).is_ok();
        let named = declared.deliverables.iter().chain(&declared.files);
        let named: Vec<&str> = named.map(|text| plain(text)).filter(is_path).collect();
        if named.is_empty() {
            return Vec::new();
        }
        let words = IGNORED.into_iter().chain(["--"]).map(String::from);
        let named = named.iter().map(|path| format!(":(literal){path}"));
        let found = self.listed(root, words.chain(named)).unwrap_or_default();
        let is_ware = |path: &&str| {
            let is_own = path.starts_with(OUTPUT_DIR) || path.starts_with(".cleo/");
            !is_own
                && declared.has(path)
                && home.confine(path).is_ok()
                && is_regular(&root.join(path))
        };
        let found = found.split('\0').filter(is_ware);
        found.map(str::to_string).collect()
    }
}

fn plain(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix("./")
        .unwrap_or(text)
        .trim_end_matches('/')
}

pub(super) fn is_regular(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|there| there.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_declared_by_deliverables_only() {
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
            assert_eq!(declared.has(path), expected, "{path}");
        }
    }
}
