//! Files of a worktree that git ignores: no branch holds them, so they are copied, or their worktree is kept.

use std::path::{Path, PathBuf};

use super::baseline::{Baseline, Declared, is_regular, normalize_path};
use super::copy::copy;
use super::git::{IGNORED, STATUS, Words};
use super::merge::list_names;
use super::{Tree, Trees};
use crate::error::{Code, Error, Result, quote};
use crate::workspace::Workspace;

impl Trees {
    /// Names the declared files below a root that git ignores. Where git cannot say, there are none.
    pub(super) fn list_ignored(&self, root: &Path, declared: &Declared) -> Vec<String> {
        let home = Workspace::from(self.root_in_checkout());
        let is_path = |path: &&str| !matches!(*path, "" | ".") && home.confine(path).is_ok();
        let named = declared.deliverables.iter().chain(&declared.files);
        let named: Vec<&str> = named
            .map(|text| normalize_path(text))
            .filter(is_path)
            .collect();
        if named.is_empty() {
            return Vec::new();
        }
        let named = named.iter().map(|path| format!(":(literal){path}"));
        let list = Words::with(&format!("{IGNORED} --"), named);
        let mut found = self.git_in(root).list(list).unwrap_or_default();
        let own = self.list_own_places();
        let is_output = |path: &String| {
            let place = self.inside.join(path);
            !own.iter().any(|own| place.starts_with(own))
                && declared.has(path)
                && home.confine(path).is_ok()
                && is_regular(&root.join(path))
        };
        found.retain(is_output);
        found
    }

    /// Finds a file of a worktree that git ignores, so that no branch holds it: a single one, else one in an ignored
    /// folder. Reports and cleo's own files do not count.
    pub(in crate::coordinator) fn find_ignored(&self, tree: &Tree) -> Result<Option<String>> {
        let places = self.list_own_places();
        let mut names = self.list_single_ignored(tree)?;
        names.extend(self.git_in(&tree.top).list(IGNORED)?);
        Ok(names.into_iter().find(|name| !is_in(&places, name)))
    }

    /// Notes the file that git ignores and that the commands of a task may need, for which its worktree stays; an empty
    /// name once they have passed.
    pub(in crate::coordinator) fn note_needed(&self, tree: &Tree, name: &str) -> Result<()> {
        let mut baseline = Baseline::load(&tree.baseline);
        if baseline.needed == name {
            return Ok(());
        }
        baseline.needed = name.to_string();
        baseline.save(&tree.baseline)
    }

    /// Keeps what git ignores in a worktree that is to be removed: all of it where the commands of the task may need it,
    /// else the single files, as copies.
    pub(super) fn keep_ignored(&self, tree: &Tree) -> Result<()> {
        let needed = Baseline::load(&tree.baseline).needed;
        if !needed.is_empty() {
            let message = format!(
                "its commands passed there and failed in the workspace, and git ignores {needed}: have git track what \
                 they need, or declare it (`--deliverable`), then run the task again"
            );
            let look = format!("git -C {} status --ignored", quote(&tree.display_path()));
            return Err(Error::new(Code::NotVerified, message).fix(look));
        }
        let names = self.list_single_ignored(tree)?;
        let kept = tree.baseline.with_extension("");
        for name in &names {
            copy(&tree.top, &tree.top.join(name), None, &kept.join(name))?;
        }
        if let Some(task) = tree.task().filter(|_| !names.is_empty()) {
            let (names, kept) = (list_names(names), kept.display());
            self.warn(format!(
                "git ignores files that were in the worktree of {task}, so they are not merged; they are in {kept}: {names}"
            ));
        }
        Ok(())
    }

    /// Lists the files that git ignores one by one. Ignored folders, and new ones that ignore themselves, are mostly built
    /// or installed. Declared files are in the workspace, and a link holds nothing itself.
    fn list_single_ignored(&self, tree: &Tree) -> Result<Vec<String>> {
        let git = self.git_in(&tree.top);
        let listed = git.list(format!("{STATUS} --ignored=matching"))?;
        let mut names: Vec<&str> = listed
            .iter()
            .filter_map(|line| line.strip_prefix("!! "))
            .collect();
        let declared = Baseline::load(&tree.baseline).declared;
        let brought = self.list_ignored(&tree.root, &declared);
        let mut others = self.list_own_places();
        others.extend(brought.iter().map(|path| self.inside.join(path)));
        let tracked = git.list("ls-files -z")?;
        let own = names
            .iter()
            .filter_map(|name| name.strip_suffix("/.gitignore"));
        let is_new = |own: &&str| !tracked.iter().any(|name| Path::new(name).starts_with(own));
        others.extend(own.filter(is_new).map(PathBuf::from));
        names.retain(|name| {
            let is_file = !name.ends_with('/') && !tree.top.join(name).is_symlink();
            is_file && !is_in(&others, name)
        });
        Ok(names.into_iter().map(str::to_string).collect())
    }
}

fn is_in(places: &[PathBuf], name: &str) -> bool {
    places
        .iter()
        .any(|place| Path::new(name).starts_with(place))
}
