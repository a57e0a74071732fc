//! Copies what agents report to the workspace, file by file, because branches do not hold it: outputs, lines
//! of the manifest, and deliverables that git ignores. Git lists which outputs differ from the commit that a worktree was
//! made from, and the changes of others are never overwritten.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::baseline::{Baseline, Change, Pair, is_regular};
use super::copy::{copy, digest_file};
use super::git::{DIFF, OTHERS, Words, pathspec};
use super::{Tree, Trees, refuse};
use crate::error::{Code, Error, Result, quote};
use crate::file::open_below;
use crate::manifest::log::{self, Line};
use crate::task::Task;
use crate::workspace::{MANIFEST, OUTPUT_DIR};

/// Maximum number of new outputs of a task.
const OUTPUTS_MAX: usize = 10_000;

impl Trees {
    pub(super) fn save_baseline(&self, tree: &Tree, task: &Task, start: &str) -> Result<()> {
        let baseline = Baseline {
            deliverables: task.deliverables.clone(),
            files: task.files.clone(),
            onto: self.base.branch.clone(),
            start: Some(start.to_string()),
            made: Some(SystemTime::now()),
            ..Baseline::default()
        };
        baseline.save(&tree.baseline)
    }

    /// Lists the new outputs of a worktree, but for its manifests, below its root.
    fn list_outputs(&self, tree: &Tree, baseline: &Baseline) -> Result<Vec<String>> {
        let git = self.git_in(&tree.top);
        let folder = self.inside.join(OUTPUT_DIR);
        let below = pathspec("top,literal", &folder);
        let start = baseline.start.as_deref().unwrap_or("HEAD");
        let mut found = git.list(Words::with(&format!("{DIFF} {start} --"), [&below]))?;
        found.extend(git.list(Words::with(&format!("{OTHERS} --"), [&below]))?);
        let is_manifest = |path: &Path| {
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            let is_one = name.starts_with("MANIFEST") && name.ends_with(".jsonl");
            is_one && path.parent() == Some(&folder)
        };
        found.retain(|path| {
            let is_there = tree.top.join(path).symlink_metadata().is_ok();
            // A name that is not UTF-8 is another one here.
            (is_there || path.contains(char::REPLACEMENT_CHARACTER))
                && !is_manifest(Path::new(path))
        });
        if found.len() > OUTPUTS_MAX {
            let folder = tree.top.join(folder);
            let message = format!(
                "{} holds more new files than are copied to the workspace, {OUTPUTS_MAX}",
                folder.display()
            );
            return Err(refuse(message, "du -a", &folder));
        }
        let names = found
            .iter()
            .filter_map(|path| Path::new(path).strip_prefix(&self.inside).ok());
        Ok(names
            .map(|path| path.to_string_lossy().into_owned())
            .collect())
    }

    /// Compares what a worktree reports with the workspace: outputs, and deliverables that git ignores.
    fn compare_outputs(&self, tree: &Tree, baseline: &Baseline) -> Result<Vec<Pair>> {
        let home = self.root_in_checkout();
        let mut names = self.list_outputs(tree, baseline)?;
        names.retain(|name| is_regular(&tree.root.join(name)));
        names
            .iter()
            .try_for_each(|name| require_folders(&home, name))?;
        names.extend(self.list_ignored(tree, baseline));
        let compare = |name: &String| baseline.compare_file(tree, &home, name);
        names.iter().map(compare).collect()
    }

    /// Copies a report from the workspace into a worktree, so that both are checked together.
    pub(in crate::coordinator) fn show(
        &self,
        tree: &Tree,
        output: &str,
        entry: &str,
    ) -> Result<()> {
        if !tree.is_there() {
            return Ok(());
        }
        let home = self.root_in_checkout();
        let mut baseline = Baseline::load(&tree.baseline);
        // The check of the worktree reports a file that its agent replaced by something else.
        if let Ok(pair) = baseline.compare_file(tree, &home, output) {
            let is_wanted = pair.own.is_none() || baseline.has_copied(output, &pair.own);
            if is_wanted && pair.own != pair.theirs && is_regular(&pair.there) {
                copy(&home, &pair.there, pair.theirs.as_deref(), &pair.here)?;
                baseline.note_copied(&pair, &pair.theirs);
                baseline.save(&tree.baseline)?;
            }
        }
        // No link of the agent's leads a line elsewhere.
        match open_below(&tree.top, &tree.root.join(MANIFEST)) {
            Err(cause) if cause.kind() != ErrorKind::NotFound => Ok(()),
            _ => copy_lines(&home, &tree.root, Some(entry)),
        }
    }

    /// Copies the reports of a worktree to the workspace: outputs, ignored deliverables, and manifest lines
    /// with new ids. Files that somebody else has changed stay, and the version of the worktree is put aside;
    /// so is a file of the workspace that the agent did not see. Both are added to `aside`, also on failure.
    pub(in crate::coordinator) fn report(&self, tree: &Tree, aside: &mut Vec<Error>) -> Result<()> {
        let mut baseline = Baseline::load(&tree.baseline);
        let mut failed = None;
        for pair in self.compare_outputs(tree, &baseline)? {
            match self.copy_to_workspace(tree, &mut baseline, &pair) {
                Ok(told) => aside.extend(told),
                // The others come anyway.
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        baseline.save(&tree.baseline)?;
        failed.map_or(Ok(()), Err)?;
        copy_lines(&tree.root, &self.root_in_checkout(), None)
    }

    /// Copies a file of a worktree to the workspace, and returns what is to be told of it.
    fn copy_to_workspace(
        &self,
        tree: &Tree,
        baseline: &mut Baseline,
        pair: &Pair,
    ) -> Result<Option<Error>> {
        let told = match pair.change {
            Change::Conflict => return put_aside(tree, pair).map(Some),
            Change::Replacement => self.keep_replaced(tree, baseline, pair)?,
            // The time of a file proves the work of an attempt, also where it was written again word for word.
            Change::None if pair.own != pair.theirs || !is_newer(pair) => return Ok(None),
            Change::None | Change::New => None,
        };
        copy(&tree.top, &pair.here, pair.own.as_deref(), &pair.there)?;
        baseline.note_copied(pair, &pair.own);
        Ok(told)
    }

    /// Saves a file of the workspace that is about to be replaced by one whose agent did not see it, and returns
    /// the error that says so.
    fn keep_replaced(
        &self,
        tree: &Tree,
        baseline: &Baseline,
        pair: &Pair,
    ) -> Result<Option<Error>> {
        let (name, start) = (&pair.name, baseline.start.as_deref().unwrap_or_default());
        let path = self.inside.join(name);
        let seen = Words::with("cat-file -e", [format!("{start}:{}", path.display())]);
        let same = Words::with(
            &format!("diff --quiet {start} --"),
            [pathspec("top,literal", &path)],
        );
        if self.succeeds(seen)? && self.succeeds(same)? {
            return Ok(None);
        }
        let former = tree.place_copy("replaced", name)?;
        copy(
            &self.root_in_checkout(),
            &pair.there,
            pair.theirs.as_deref(),
            &former,
        )?;
        let message = format!(
            "{name} was there before, and an agent that did not see it wrote another; the former one is kept in {}",
            former.display()
        );
        let [former, there] = [&former, &pair.there].map(|path| quote(&path.to_string_lossy()));
        let error = Error::new(Code::FileChanged, message).fix(format!("diff {former} {there}"));
        Ok(Some(error))
    }

    /// Refuses a worktree with files that somebody else has changed in the workspace.
    pub(in crate::coordinator) fn require_reportable(&self, tree: &Tree) -> Result<()> {
        let pairs = self.compare_outputs(tree, &Baseline::load(&tree.baseline))?;
        match pairs.iter().find(|pair| pair.change == Change::Conflict) {
            Some(pair) => Err(put_aside(tree, pair)?),
            None => Ok(()),
        }
    }

    /// Refuses to remove a worktree with outputs that are neither in the workspace nor put aside.
    pub(super) fn require_copied(&self, tree: &Tree) -> Result<()> {
        let baseline = Baseline::load(&tree.baseline);
        for pair in self.compare_outputs(tree, &baseline)? {
            let folder = tree.baseline.with_extension("");
            let is_safe = match pair.change {
                Change::None => true,
                Change::New | Change::Replacement => false,
                Change::Conflict => {
                    let kept = digest_file(&folder, &folder.join(&pair.name));
                    kept.is_ok_and(|kept| kept == pair.own)
                }
            };
            if !is_safe {
                let message = format!(
                    "{} was not copied to the workspace: it came too late, or the run does not have the task any more",
                    pair.here.display()
                );
                return Err(refuse(message, "ls -l", &pair.here));
            }
        }
        let names = self.list_outputs(tree, &baseline)?;
        let mut places = names.iter().map(|name| tree.root.join(name));
        match places.find(|place| !is_regular(place)) {
            None => Ok(()),
            Some(place) => {
                let what = match place.is_symlink() {
                    true => "is a link",
                    false => "is a repository, or has a name that is not UTF-8",
                };
                let message = format!(
                    "{} {what}, and only files with plain names are copied to the workspace",
                    place.display()
                );
                Err(refuse(message, "ls -la", place.parent().unwrap_or(&place)))
            }
        }
    }

    pub(super) fn root_in_checkout(&self) -> PathBuf {
        self.top.join(&self.inside)
    }
}

/// Keeps what an agent wrote where somebody else has changed the file too.
fn put_aside(tree: &Tree, pair: &Pair) -> Result<Error> {
    let aside = tree.place_copy("", &pair.name)?;
    copy(&tree.top, &pair.here, pair.own.as_deref(), &aside)?;
    let message = format!(
        "{} was changed in the workspace while an agent wrote it too; what the agent wrote is kept in {}",
        pair.name,
        aside.display()
    );
    let [there, aside] = [&pair.there, &aside].map(|path| quote(&path.to_string_lossy()));
    Ok(Error::new(Code::FileChanged, message).fix(format!("diff {there} {aside}")))
}

fn is_newer(pair: &Pair) -> bool {
    let time = |path: &Path| path.metadata().and_then(|there| there.modified()).ok();
    time(&pair.here) > time(&pair.there)
}

/// Refuses an output when something else, such as a link, is in the place of its folder in the workspace.
fn require_folders(home: &Path, path: &str) -> Result<()> {
    let top = home.join(OUTPUT_DIR);
    let file = home.join(path);
    let mut way = file.ancestors().skip(1).take_while(|above| *above != top);
    let is_in_the_way = |folder: &&Path| folder.symlink_metadata().is_ok_and(|it| !it.is_dir());
    match way.find(is_in_the_way) {
        None => Ok(()),
        Some(other) => {
            let place = other.display();
            let message =
                format!("{path} cannot be copied to the workspace: {place} is not a folder");
            let look = format!("ls -ld {}", quote(&other.to_string_lossy()));
            Err(Error::new(Code::FileUnwritable, message).fix(look))
        }
    }
}

/// Copies manifest lines to another workspace: the named entry, or all with ids that the other lacks.
fn copy_lines(from: &Path, to: &Path, entry: Option<&str>) -> Result<()> {
    let (source, target) = (from.join(MANIFEST), to.join(MANIFEST));
    let mut known = HashSet::new();
    log::scan(&target, |line| {
        if let Line::Entry(_, draft) = line {
            known.extend(draft.id().map(str::to_string));
        }
    })?;
    let mut missing = Vec::new();
    log::scan(&source, |line| {
        let Line::Entry(_, draft) = line else { return };
        // A faulty one is told of where it lies.
        let Ok(one) = draft.entry() else { return };
        let is_wanted = entry.is_none_or(|id| id == one.id);
        if is_wanted && known.insert(one.id.clone()) {
            missing.push(one);
        }
    })?;
    for entry in &missing {
        log::append(&target, entry)?;
    }
    Ok(())
}
