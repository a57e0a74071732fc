//! Copies what agents report to the workspace, file by file, because branches do not hold it: outputs, lines
//! of the manifest, and deliverables that git ignores. The baseline of the worktree shows which side changed
//! a file; the changes of others are never overwritten.

use std::collections::{BTreeMap, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::copying::held;
use super::outputs::{Outputs, require_way};
use super::outset::{Declared, Outset, Side, Way, digests, is_regular, way};
use super::{Tree, Trees};
use crate::error::{Code, Error, Result, quote};
use crate::file::open_below;
use crate::manifest::log::{self, Line};
use crate::workspace::MANIFEST;

impl Trees {
    pub(super) fn note(&self, tree: &Tree, declared: Declared, start: &str) -> Result<()> {
        let (home, empty) = (self.home(), Outset::default());
        let checked_out = Outputs::below(&tree.root, None);
        let mut here = checked_out.paths;
        here.extend(self.ignored(&tree.root, &declared));
        // What the workspace has alone is bounded: nobody knows how much that is.
        let mut there = Outputs::below(&home, Some(empty.known())).paths;
        there.extend(self.ignored(&home, &declared));
        there.extend_from_slice(&here);
        let others = checked_out.others.into_iter();
        let outset = Outset {
            home: digests(&home, &home, there),
            tree: digests(&tree.top, &tree.root, here),
            others: others.map(|other| other.mark).collect(),
            declared,
            onto: self.base.as_ref().and_then(|base| base.branch.clone()),
            start: Some(start.to_string()),
            ..empty
        };
        outset.keep(&tree.outset)
    }

    /// Finds what to copy from a worktree: outputs, and deliverables that git ignores. New outputs that
    /// cannot be copied, or too many of them, are an error.
    fn wares(&self, tree: &Tree, outset: &Outset) -> Result<Outputs> {
        let home = self.home();
        let mut wares = Outputs::below(&tree.root, Some(outset.known())).all()?;
        let mut changed = wares.changed.iter();
        changed.try_for_each(|path| require_way(&home, path))?;
        wares
            .paths
            .extend(self.ignored(&tree.root, &outset.declared));
        Ok(wares)
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
        let home = self.home();
        let mut outset = Outset::read(&tree.outset);
        // Where its agent has made something else of it, the check of the worktree says so.
        if let Ok((here, there)) = outset.sides(tree, &home, output) {
            let is_wanted = here.now.is_none() || way(&there, &here) == Way::Comes;
            if is_wanted && is_regular(&there.path) {
                outset.bring(output, &there, &here)?;
                outset.keep(&tree.outset)?;
            }
        }
        // No link of the agent's leads a line elsewhere.
        match open_below(&tree.top, &tree.root.join(MANIFEST)) {
            Err(cause) if cause.kind() != ErrorKind::NotFound => Ok(()),
            _ => lines(&home, &tree.root, Some(entry)),
        }
    }

    /// Copies the reports of a worktree to the workspace: outputs, ignored deliverables, and manifest lines
    /// with new ids. Files that somebody else has changed stay, and the version of the worktree is put aside;
    /// so is a file of the workspace that the agent did not see. Both are added to `aside`, also on failure.
    pub(in crate::coordinator) fn report(&self, tree: &Tree, aside: &mut Vec<Error>) -> Result<()> {
        let mut outset = Outset::read(&tree.outset);
        let paths = self.wares(tree, &outset)?.paths;
        let mut failed = None;
        for path in paths {
            match self.bring(tree, &mut outset, &path) {
                Ok(told) => aside.extend(told),
                // The others come anyway.
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        outset.keep(&tree.outset)?;
        self.pass_on(tree, &outset.brought)?;
        if let Some(error) = failed {
            return Err(error);
        }
        lines(&tree.root, &self.home(), None)
    }

    fn bring(&self, tree: &Tree, outset: &mut Outset, path: &str) -> Result<Option<Error>> {
        let home = self.home();
        let (here, there) = outset.sides(tree, &home, path)?;
        match way(&here, &there) {
            Way::Stays if require_way(&home, path).is_ok() => renew(tree, &here, &there)?,
            Way::Stays => {}
            Way::Comes => {
                let replaced = match is_own(tree, path, &there) {
                    true => None,
                    false => replaced(tree, path, &here, &there)?,
                };
                outset.bring(path, &here, &there)?;
                return Ok(replaced);
            }
            Way::Clashes => return put_aside(tree, path, &here, &there).map(Some),
        }
        Ok(None)
    }

    /// Tells later worktrees of a task which files came from this one, so that they do not count as changes
    /// of others.
    fn pass_on(&self, tree: &Tree, brought: &BTreeMap<String, String>) -> Result<()> {
        if brought.is_empty() {
            return Ok(());
        }
        let all = self.all_left().into_iter();
        let all = all.filter(|other| other.task() == tree.task() && other.outset.exists());
        for later in all.skip_while(|other| other.top != tree.top).skip(1) {
            let mut outset = Outset::read(&later.outset);
            outset.home.extend(brought.clone());
            outset.keep(&later.outset)?;
        }
        Ok(())
    }

    /// Refuses a worktree with files that somebody else has changed in the workspace.
    pub(in crate::coordinator) fn require_reportable(&self, tree: &Tree) -> Result<()> {
        let home = self.home();
        let outset = Outset::read(&tree.outset);
        for path in self.wares(tree, &outset)?.paths {
            let (here, there) = outset.sides(tree, &home, &path)?;
            if way(&here, &there) == Way::Clashes {
                return Err(put_aside(tree, &path, &here, &there)?);
            }
        }
        Ok(())
    }

    /// Refuses to remove a worktree with outputs that are neither in the workspace nor put aside.
    pub(in crate::coordinator) fn require_home(&self, tree: &Tree) -> Result<()> {
        let home = self.home();
        let outset = Outset::read(&tree.outset);
        let wares = self.wares(tree, &outset)?;
        for path in wares.paths {
            let (here, there) = outset.sides(tree, &home, &path)?;
            let is_safe = match way(&here, &there) {
                Way::Stays => true,
                Way::Comes => false,
                Way::Clashes => {
                    let folder = tree.outset.with_extension("");
                    let kept = held(&folder, &aside(tree, &path)).ok().flatten();
                    kept.is_some() && kept == here.now
                }
            };
            if !is_safe {
                return Err(not_home(&here.path));
            }
        }
        let other = wares.others.first();
        other.map_or(Ok(()), |other| Err(other.stays()))
    }

    pub(super) fn home(&self) -> PathBuf {
        self.top.join(&self.inside)
    }
}

fn put_aside(tree: &Tree, path: &str, here: &Side, there: &Side) -> Result<Error> {
    let aside = aside(tree, path);
    here.copy(&aside)?;
    let message = format!(
        "{path} was changed in the workspace while an agent wrote it too; what the agent wrote is \
         kept in {}",
        aside.display()
    );
    let [there, aside] = [&there.path, &aside].map(|path| quote(&path.to_string_lossy()));
    Ok(Error::new(Code::FileChanged, message).fix(format!("diff {there} {aside}")))
}

fn is_own(tree: &Tree, path: &str, there: &Side) -> bool {
    let (Some(name), Some(now)) = (tree.outset.file_stem(), &there.now) else {
        return false;
    };
    let name = name.to_string_lossy();
    let Some((task, number)) = name.rsplit_once('-') else {
        return false;
    };
    let earlier = 1..number.parse::<u32>().unwrap_or(1);
    let notes = earlier.map(|number| tree.outset.with_file_name(format!("{task}-{number}.json")));
    let mut notes = notes.filter(|note| note.exists());
    notes.any(|note| Outset::read(&note).tree.get(path) == Some(now))
}

/// Saves a file of the workspace that is about to be replaced by one whose agent did not see it, and returns
/// the error that says so.
fn replaced(tree: &Tree, path: &str, here: &Side, there: &Side) -> Result<Option<Error>> {
    if there.now.is_none() || here.before == there.now {
        return Ok(None);
    }
    let former = tree.outset.with_extension("replaced").join(path);
    there.copy(&former)?;
    let message = format!(
        "{path} was there before, and an agent that did not see it wrote another; the former one is kept in {}",
        former.display()
    );
    let [former, there] = [&former, &there.path].map(|path| quote(&path.to_string_lossy()));
    let error = Error::new(Code::FileChanged, message).fix(format!("diff {former} {there}"));
    Ok(Some(error))
}

fn aside(tree: &Tree, path: &str) -> PathBuf {
    tree.outset.with_extension("").join(path)
}

fn not_home(path: &Path) -> Error {
    let message = format!(
        "{} was not brought home: it came too late, or the run does not have the task any more",
        path.display()
    );
    let look = format!("ls -l {}", quote(&path.to_string_lossy()));
    Error::new(Code::InputInvalid, message).fix(look)
}

/// Updates the time of a file that an agent rewrote with the same content, because its time proves the work
/// of this attempt. Files that were checked out with the worktree do not count.
fn renew(tree: &Tree, here: &Side, there: &Side) -> Result<()> {
    let written = modified(&here.path);
    let is_new = here.before.is_none() || written > modified(&tree.outset);
    let is_same = there.now.is_none() || here.now == there.now;
    match is_new && is_same && written > modified(&there.path) {
        true => here.copy(&there.path),
        false => Ok(()),
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|there| there.modified()).ok()
}

/// Copies manifest lines to another workspace: the named entry, or all with ids that the other lacks.
fn lines(from: &Path, to: &Path, entry: Option<&str>) -> Result<()> {
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
