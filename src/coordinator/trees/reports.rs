//! Copies what agents report to the workspace, file by file, because branches do not hold it: outputs, lines
//! of the manifest, and deliverables that git ignores. The baseline of the worktree shows which side changed
//! a file; the changes of others are never overwritten.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::baseline::{Baseline, Change, Declared, Pair, change, digests, is_regular};
use super::copy::digest_file;
use super::outputs::{Outputs, refuse_other, require_folders};
use super::{Tree, Trees, refuse};
use crate::error::{Code, Error, Result, quote};
use crate::file::open_below;
use crate::manifest::log::{self, Line};
use crate::workspace::MANIFEST;

impl Trees {
    pub(super) fn save_baseline(&self, tree: &Tree, declared: Declared, start: &str) -> Result<()> {
        let home = self.root_in_checkout();
        let checked_out = Outputs::find(&tree.root, None);
        let mut here = checked_out.paths;
        here.extend(self.list_ignored(&tree.root, &declared));
        // Outputs that only the workspace has are bounded: there may be any number of them.
        let mut there = Outputs::find(&home, Some(&Baseline::default())).paths;
        there.extend(self.list_ignored(&home, &declared));
        there.extend_from_slice(&here);
        let others = checked_out.others.into_iter();
        let baseline = Baseline {
            home: digests(&home, &home, there),
            tree: digests(&tree.top, &tree.root, here),
            others: others.map(|(_, mark)| mark).collect(),
            declared,
            onto: self.base.as_ref().and_then(|base| base.branch.clone()),
            start: Some(start.to_string()),
            needed: String::new(),
        };
        baseline.save(&tree.baseline)
    }

    /// Finds what to copy from a worktree: outputs, and deliverables that git ignores. New outputs that
    /// cannot be copied, or too many of them, are an error.
    fn find_outputs(&self, tree: &Tree, baseline: &Baseline) -> Result<Outputs> {
        let home = self.root_in_checkout();
        let mut outputs = Outputs::find(&tree.root, Some(baseline)).all()?;
        let mut changed = outputs.changed.iter();
        changed.try_for_each(|path| require_folders(&home, path))?;
        let ignored = self.list_ignored(&tree.root, &baseline.declared);
        outputs.paths.extend(ignored);
        Ok(outputs)
    }

    /// Compares what a worktree has with the workspace.
    fn compare_outputs(&self, tree: &Tree) -> Result<(Vec<Pair>, Outputs)> {
        let (home, baseline) = (self.root_in_checkout(), Baseline::load(&tree.baseline));
        let outputs = self.find_outputs(tree, &baseline)?;
        let compare = |path: &String| baseline.compare_file(tree, &home, path);
        let pairs: Result<Vec<Pair>> = outputs.paths.iter().map(compare).collect();
        Ok((pairs?, outputs))
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
        if let Ok(Pair { here, there, .. }) = baseline.compare_file(tree, &home, output) {
            let is_wanted = here.now.is_none() || change(&there, &here) == Change::New;
            if is_wanted && is_regular(&there.path) {
                baseline.copy_file(output, &there, &here)?;
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
        let home = self.root_in_checkout();
        let mut baseline = Baseline::load(&tree.baseline);
        let mut failed = None;
        for path in self.find_outputs(tree, &baseline)?.paths {
            let pair = baseline.compare_file(tree, &home, &path);
            match pair.and_then(|pair| copy_to_workspace(tree, &home, &mut baseline, &pair)) {
                Ok(told) => aside.extend(told),
                // The others come anyway.
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        baseline.save(&tree.baseline)?;
        failed.map_or(Ok(()), Err)?;
        copy_lines(&tree.root, &home, None)
    }

    /// Refuses a worktree with files that somebody else has changed in the workspace.
    pub(in crate::coordinator) fn require_reportable(&self, tree: &Tree) -> Result<()> {
        let (pairs, _) = self.compare_outputs(tree)?;
        match pairs.iter().find(|pair| pair.change() == Change::Conflict) {
            Some(pair) => Err(put_aside(tree, pair)?),
            None => Ok(()),
        }
    }

    /// Refuses to remove a worktree with outputs that are neither in the workspace nor put aside.
    pub(super) fn require_copied(&self, tree: &Tree) -> Result<()> {
        let (pairs, outputs) = self.compare_outputs(tree)?;
        for pair in &pairs {
            let is_safe = match pair.change() {
                Change::None => true,
                Change::New => false,
                Change::Conflict => {
                    let folder = tree.baseline.with_extension("");
                    let kept = digest_file(&folder, &folder.join(&pair.name));
                    pair.here.now.is_some() && kept.is_ok_and(|kept| kept == pair.here.now)
                }
            };
            if !is_safe {
                let place = &pair.here.path;
                let message = format!(
                    "{} was not copied to the workspace: it came too late, or the run does not have the task any more",
                    place.display()
                );
                return Err(refuse(message, "ls -l", place));
            }
        }
        let other = outputs.others.first();
        other.map_or(Ok(()), |(place, _)| Err(refuse_other(place)))
    }

    pub(super) fn root_in_checkout(&self) -> PathBuf {
        self.top.join(&self.inside)
    }
}

/// Copies a file of a worktree to the workspace, and returns what is to be told of it.
fn copy_to_workspace(
    tree: &Tree,
    home: &Path,
    baseline: &mut Baseline,
    pair: &Pair,
) -> Result<Option<Error>> {
    match pair.change() {
        Change::None if require_folders(home, &pair.name).is_ok() => {
            update_file_time(tree, pair).map(|()| None)
        }
        Change::None => Ok(None),
        Change::New => {
            let replaced = keep_replaced(tree, pair)?;
            baseline.copy_file(&pair.name, &pair.here, &pair.there)?;
            Ok(replaced)
        }
        Change::Conflict => put_aside(tree, pair).map(Some),
    }
}

fn put_aside(tree: &Tree, pair: &Pair) -> Result<Error> {
    let aside = tree.place_copy("", &pair.name)?;
    pair.here.copy(&aside)?;
    let message = format!(
        "{} was changed in the workspace while an agent wrote it too; what the agent wrote is kept in {}",
        pair.name,
        aside.display()
    );
    let [there, aside] = [&pair.there.path, &aside].map(|path| quote(&path.to_string_lossy()));
    Ok(Error::new(Code::FileChanged, message).fix(format!("diff {there} {aside}")))
}

/// Saves a file of the workspace that is about to be replaced by one whose agent did not see it, and returns
/// the error that says so.
fn keep_replaced(tree: &Tree, pair: &Pair) -> Result<Option<Error>> {
    let (name, here, there) = (&pair.name, &pair.here, &pair.there);
    if there.now.is_none() || here.before == there.now {
        return Ok(None);
    }
    let former = tree.place_copy("replaced", name)?;
    there.copy(&former)?;
    let message = format!(
        "{name} was there before, and an agent that did not see it wrote another; the former one is kept in {}",
        former.display()
    );
    let [former, there] = [&former, &there.path].map(|path| quote(&path.to_string_lossy()));
    let error = Error::new(Code::FileChanged, message).fix(format!("diff {former} {there}"));
    Ok(Some(error))
}

/// Updates the time of a file that an agent rewrote with the same content, because its time proves the work
/// of this attempt. Files that were checked out with the worktree do not count.
fn update_file_time(tree: &Tree, Pair { here, there, .. }: &Pair) -> Result<()> {
    let written = modified_at(&here.path);
    let is_new = here.before.is_none() || written > modified_at(&tree.baseline);
    let is_same = there.now.is_none() || here.now == there.now;
    match is_new && is_same && written > modified_at(&there.path) {
        true => here.copy(&there.path),
        false => Ok(()),
    }
}

fn modified_at(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|there| there.modified()).ok()
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
