//! Files of a worktree that git ignores: no branch holds them, so they are copied, or their worktree is kept.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::baseline::{Baseline, is_regular};
use super::copy::{copy, copy_link};
use super::git::{IGNORED, STATUS, Words, pathspec};
use super::merge::list_names;
use super::{Tree, Trees};
use crate::error::{Code, Error, Result, quote};
use crate::workspace::Workspace;

impl Trees {
    /// Names the declared files of a worktree that git ignores and whose places are in the workspace. Where git cannot
    /// say, there are none.
    pub(super) fn list_ignored(&self, tree: &Tree, baseline: &Baseline) -> Vec<String> {
        let mut found = self.list_declared(tree, baseline).unwrap_or_default();
        found.retain(|path| self.can_bring(tree, path));
        found
    }

    /// Names what a task declares in its worktree and git ignores.
    fn list_declared(&self, tree: &Tree, baseline: &Baseline) -> Result<Vec<String>> {
        let patterns = baseline.patterns();
        let folders = patterns.iter();
        let folders: Vec<PathBuf> = folders.flat_map(|one| one.globs.folders()).collect();
        if folders.is_empty() {
            return Ok(Vec::new());
        }
        let folders = folders.iter().map(|folder| pathspec("literal", folder));
        let list = Words::with(&format!("{IGNORED} --"), folders);
        let mut found = self.git_in(&tree.root).list(list)?;
        let own = self.list_own_places();
        found.retain(|path| {
            let is_own = own
                .iter()
                .any(|own| self.inside.join(path).starts_with(own));
            !is_own && patterns.iter().any(|one| one.has(path))
        });
        Ok(found)
    }

    /// Returns whether a declared file can be copied to its place in the workspace, which no link leads out of.
    fn can_bring(&self, tree: &Tree, path: &str) -> bool {
        let home = Workspace::from(self.root_in_checkout());
        home.confine(path).is_ok() && is_regular(&tree.root.join(path))
    }

    /// Finds a file of a worktree that git ignores, so that no branch holds it: a single one, else one in an ignored
    /// folder. Reports and cleo's own files do not count.
    pub(in crate::coordinator) fn find_ignored(&self, tree: &Tree) -> Result<Option<String>> {
        let places = self.list_own_places();
        let baseline = Baseline::load(&tree.baseline);
        let mut names = Vec::from_iter(self.list_uncopied(tree, &baseline)?);
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
    /// else single and declared files, as copies. Returns what is to be told of them.
    pub(super) fn keep_ignored(&self, tree: &Tree) -> Result<Option<Error>> {
        let baseline = Baseline::load(&tree.baseline);
        let needed = &baseline.needed;
        if !needed.is_empty() {
            let message = format!(
                "its commands passed there and failed in the workspace, and git ignores {needed}: have git track what \
                 they need, or declare it (`--deliverable`), then run the task again"
            );
            let look = format!("git -C {} status --ignored", quote(&tree.display_path()));
            return Err(Error::new(Code::NotVerified, message).fix(look));
        }
        let mut kept = Vec::new();
        for name in self.list_uncopied(tree, &baseline)? {
            let (from, to) = (tree.top.join(&name), tree.place_copy("", &name)?);
            match fs::read_link(&from) {
                Ok(target) => {
                    copy_link(&target, &to)?;
                    kept.push(format!("{name} -> {}", target.display()));
                }
                Err(_) => {
                    copy(&tree.top, &from, None, &to)?;
                    kept.push(name);
                }
            }
        }
        if kept.is_empty() {
            return Ok(None);
        }
        let task = tree.task().map(|task| task.to_string()).unwrap_or_default();
        let place = tree.baseline.with_extension("");
        let message = format!(
            "git ignores files that were in the worktree of {task}, so they are not merged; they are in {}: {}",
            place.display(),
            list_names(kept)
        );
        let look = format!("ls -AR {}", quote(&place.to_string_lossy()));
        Ok(Some(Error::new(Code::NotVerified, message).fix(look)))
    }

    /// Lists the files that git ignores one by one, and those that the task declares, but for what is copied to the
    /// workspace. Ignored folders, and new ones that ignore themselves, are mostly built or installed.
    fn list_uncopied(&self, tree: &Tree, baseline: &Baseline) -> Result<BTreeSet<String>> {
        let git = self.git_in(&tree.top);
        let listed = git.list(format!("{STATUS} --ignored=matching"))?;
        let names = listed.iter().filter_map(|line| line.strip_prefix("!! "));
        let single: Vec<&str> = names.filter(|name| !name.ends_with('/')).collect();
        let ignoring = single
            .iter()
            .filter_map(|name| name.strip_suffix("/.gitignore"));
        let mut installed = Vec::new();
        for folder in ignoring {
            let tracked = git.list(Words::with(
                "ls-files -z --",
                [pathspec("top,literal", Path::new(folder))],
            ))?;
            installed.extend(tracked.is_empty().then(|| PathBuf::from(folder)));
        }
        let within = |name: String| self.inside.join(name).to_string_lossy().into_owned();
        let declared = self.list_declared(tree, baseline)?.into_iter();
        let (copied, left): (Vec<String>, Vec<String>) =
            declared.partition(|path| self.can_bring(tree, path));
        let copied: BTreeSet<String> = copied.into_iter().map(within).collect();
        let places = self.list_own_places();
        let single = single
            .into_iter()
            .filter(|name| !is_in(&installed, name))
            .map(String::from);
        let mut found: BTreeSet<String> = single.chain(left.into_iter().map(within)).collect();
        found.retain(|name| !copied.contains(name) && !is_in(&places, name));
        Ok(found)
    }
}

fn is_in(places: &[PathBuf], name: &str) -> bool {
    places
        .iter()
        .any(|place| Path::new(name).starts_with(place))
}
