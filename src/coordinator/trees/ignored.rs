//! Files of a worktree that git ignores: no branch holds them, so they are copied, or their worktree is kept.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::baseline::{Baseline, Declared, is_regular};
use super::checkout::GITLINK;
use super::copy::{copy, copy_link};
use super::git::{IGNORED, STATUS, Words, pathspec};
use super::merge::list_names;
use super::{Tree, Trees};
use crate::error::{Code, Error, Result, quote};
use crate::workspace::Workspace;

impl Trees {
    /// Names the declared files below a root that git ignores and whose places are in the workspace. Where git cannot say,
    /// there are none.
    pub(super) fn list_ignored(&self, root: &Path, declared: &Declared) -> Vec<String> {
        let mut found = self.list_declared(root, declared).unwrap_or_default();
        found.retain(|path| self.can_bring(root, path));
        found
    }

    /// Names what a task declares below a root and git ignores.
    fn list_declared(&self, root: &Path, declared: &Declared) -> Result<Vec<String>> {
        let patterns = declared.patterns();
        let folders = patterns.iter();
        let folders: Vec<PathBuf> = folders.flat_map(|one| one.globs.folders()).collect();
        if folders.is_empty() {
            return Ok(Vec::new());
        }
        let folders = folders.iter().map(|folder| pathspec("literal", folder));
        let list = Words::with(&format!("{IGNORED} --"), folders);
        let mut found = self.git_in(root).list(list)?;
        let own = self.list_own_places();
        found.retain(|path| {
            let is_own = own
                .iter()
                .any(|own| self.inside.join(path).starts_with(own));
            !is_own && patterns.iter().any(|one| one.has(path))
        });
        Ok(found)
    }

    /// Splits what a task declares and git ignores in a worktree into files whose places are in the workspace, and the rest.
    fn split_declared(&self, tree: &Tree, declared: &Declared) -> Result<[BTreeSet<String>; 2]> {
        let mut split = [BTreeSet::new(), BTreeSet::new()];
        for path in self.list_declared(&tree.root, declared)? {
            let at = usize::from(!self.can_bring(&tree.root, &path));
            let path = self.inside.join(path).to_string_lossy().into_owned();
            split[at].insert(path);
        }
        Ok(split)
    }

    /// Returns whether a declared file can be copied to its place in the workspace, which no link leads out of.
    fn can_bring(&self, root: &Path, path: &str) -> bool {
        let home = Workspace::from(self.root_in_checkout());
        home.confine(path).is_ok() && is_regular(&root.join(path))
    }

    /// Finds a file of a worktree that git ignores, so that no branch holds it: a single one, else one in an ignored
    /// folder. Reports and cleo's own files do not count.
    pub(in crate::coordinator) fn find_ignored(&self, tree: &Tree) -> Result<Option<String>> {
        let places = self.list_own_places();
        let declared = Baseline::load(&tree.baseline).declared;
        let [brought, _] = self.split_declared(tree, &declared)?;
        let mut names = Vec::from_iter(&self.list_single_ignored(tree)? - &brought);
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
    pub(super) fn keep_ignored(&self, tree: &Tree) -> Result<Vec<Error>> {
        let baseline = Baseline::load(&tree.baseline);
        let (needed, declared) = (baseline.needed, baseline.declared);
        if !needed.is_empty() {
            let message = format!(
                "its commands passed there and failed in the workspace, and git ignores {needed}: have git track what \
                 they need, or declare it (`--deliverable`), then run the task again"
            );
            let look = format!("git -C {} status --ignored", quote(&tree.display_path()));
            return Err(Error::new(Code::NotVerified, message).fix(look));
        }
        let [brought, outside] = self.split_declared(tree, &declared)?;
        let names = &(&self.list_single_ignored(tree)? - &brought) | &outside;
        let (mut kept, mut kept_outside) = (Vec::new(), Vec::new());
        for name in names {
            let (from, to) = (tree.top.join(&name), tree.place_copy("", &name)?);
            if let Ok(target) = fs::read_link(&from) {
                copy_link(&target, &to)?;
                kept.push(format!("{name} -> {}", target.display()));
                continue;
            }
            copy(&tree.top, &from, None, &to)?;
            match outside.contains(&name) {
                true => kept_outside.push(name),
                false => kept.push(name),
            }
        }
        let task = tree.task().map(|task| task.to_string()).unwrap_or_default();
        let place = tree.baseline.with_extension("");
        let tell = |code, names: Vec<String>, why: String| {
            let message = format!("{why} {}: {}", place.display(), list_names(names));
            Error::new(code, message).fix(format!("ls -AR {}", quote(&place.to_string_lossy())))
        };
        let mut told = Vec::new();
        if !kept.is_empty() {
            let why = format!(
                "git ignores files that were in the worktree of {task}, so they are not merged; they are in"
            );
            told.push(tell(Code::NotVerified, kept, why));
        }
        if !kept_outside.is_empty() {
            let why = format!(
                "{task} declares files whose places in the workspace lead out of it by a link; they are in"
            );
            told.push(tell(Code::PathOutside, kept_outside, why));
        }
        Ok(told)
    }

    /// Lists the files that git ignores one by one, also in submodules, and there declared ones. Ignored folders, and new
    /// ones that ignore themselves, are mostly built or installed.
    fn list_single_ignored(&self, tree: &Tree) -> Result<BTreeSet<String>> {
        let own = "--git-dir .git --work-tree .";
        let mut found = BTreeSet::new();
        let mut repositories = vec![PathBuf::new()];
        let declared = Baseline::load(&tree.baseline).declared.patterns();
        while let Some(repository) = repositories.pop() {
            let top = tree.top.join(&repository);
            let git = self.git_in(&top);
            let staged = git.list(format!("{own} ls-files --stage -z"))?;
            let staged = staged.iter().filter_map(|line| line.split_once('\t'));
            let (links, tracked): (Vec<_>, Vec<_>) =
                staged.partition(|(mode, _)| mode.starts_with(GITLINK));
            let there = links
                .iter()
                .filter(|(_, name)| top.join(name).join(".git").exists());
            repositories.extend(there.map(|(_, name)| repository.join(name)));
            let listed = git.list(format!("{own} {STATUS} --ignored=matching"))?;
            let names = listed.iter().filter_map(|line| line.strip_prefix("!! "));
            let names: Vec<&str> = names.filter(|name| !name.ends_with('/')).collect();
            let ignoring = names
                .iter()
                .filter_map(|name| name.strip_suffix("/.gitignore"));
            let is_new = |own: &&str| {
                !tracked
                    .iter()
                    .any(|(_, name)| Path::new(name).starts_with(own))
            };
            let installed: Vec<PathBuf> = ignoring.filter(is_new).map(PathBuf::from).collect();
            let names = names.iter().filter(|name| !is_in(&installed, name));
            found.extend(names.map(|name| repository.join(name).to_string_lossy().into_owned()));
            if repository != Path::new("") {
                let all = git.list(format!("{own} {IGNORED}"))?;
                let all = all.iter().map(|name| repository.join(name));
                let all = all.map(|path| path.to_string_lossy().into_owned());
                found.extend(all.filter(|path| {
                    let path = Path::new(path).strip_prefix(&self.inside).ok();
                    let path = path.and_then(Path::to_str);
                    path.is_some_and(|path| declared.iter().any(|one| one.has(path)))
                }));
            }
        }
        let places = self.list_own_places();
        found.retain(|name| !is_in(&places, name));
        Ok(found)
    }
}

fn is_in(places: &[PathBuf], name: &str) -> bool {
    places
        .iter()
        .any(|place| Path::new(name).starts_with(place))
}
