//! Finishes or undoes a move of the checkout that a process was killed in, and rolls back what was not proven.

use std::fs;
use std::os::unix::ffi::OsStringExt;

use super::Trees;
use super::base::reference;
use super::checkout::{BOTH, Move, Paths, Stage};
use super::git::{Words, can_be_held};
use super::merging::list_names;
use crate::error::Result;
use crate::file::{read_within, unwritable};
use crate::id::TaskId;
use crate::runner::orphans;

/// Largest file that is compared with what a killed move wrote; what is larger counts as edited.
const FILE_MAX: u64 = 64 << 20;

impl Trees {
    /// Finishes or undoes a move that a process was killed in, and rolls a merge back that it did not prove. Its
    /// git is ended first.
    pub(super) fn recover(&self) -> Result<()> {
        let Some(step) = self.noted_move() else {
            return Ok(());
        };
        orphans::end(&step.run, &step.place, &[]);
        self.unlock_index()?;
        let has = |id: &str| self.has(&format!("{id}^{{commit}}"));
        if !has(&step.old)? || !has(&step.new)? {
            let (place, run) = (self.mark.display(), step.run.escape_debug());
            self.warnings.borrow_mut().push(format!(
                "{place} noted an interrupted move of the run {run} from the commit {} to {}, which git does not have \
                 any more, so the note was removed; see `git status`",
                step.old, step.new
            ));
            return self.forget_move();
        }
        let mut left = None;
        match step.stage {
            // What is taken back is not proven, so it is tried again.
            Stage::Trial if !step.is_merge => drop(self.make_move(step.clone())?),
            Stage::Write if self.is_at(&step, &step.old)? => {
                let added = self.list_changed(&["--diff-filter=A", &step.old, &step.new])?;
                let edited = &self.list_changed(&[&step.old])? | &added;
                let edited = &edited & &self.list_theirs(&step)?;
                match edited.is_empty() {
                    true => drop(self.finish(&step)?),
                    false => {
                        self.undo(&step)?;
                        let names = list_names(edited.into_iter().collect());
                        self.warn(format!(
                            "a merge was killed while it wrote; its files are as before, but for {names}, edited since: see \
                             `git status`"
                        ));
                        left = (!step.is_merge).then_some(step.old.clone());
                    }
                }
            }
            Stage::Write if !self.is_at(&step, &step.new)? => self.undo(&step)?,
            Stage::Trial | Stage::Write | Stage::Prove => {}
        }
        if let Some(merge) = self.roll_back()?.or(left) {
            self.warnings.borrow_mut().push(format!(
                "the merge {merge} was not proven and stays, because what changed since is in the way; `git revert \
                 -m 1 {merge}` takes it back"
            ));
        }
        Ok(())
    }

    /// Has the files that hold what the move has written hold what is checked out. Others stay, but for what the move has
    /// staged of them.
    pub(super) fn undo(&self, step: &Move) -> Result<()> {
        let theirs = self.list_theirs(step)?;
        self.remove_untracked(step, &theirs)?;
        let mut ours = &self.list_affected(step)? - &theirs;
        ours.retain(|path| {
            let path = format!("{path}/");
            let mut below = theirs.range(path.clone()..);
            below.next().is_none_or(|next| !next.starts_with(&path))
        });
        self.restore("HEAD", &ours, BOTH)?;
        let staged = &theirs - &self.list_changed(&["--cached", &step.new])?;
        self.restore("HEAD", &staged, "--staged")
    }

    /// Lists files that a move affects and that hold something else than it writes.
    fn list_theirs(&self, step: &Move) -> Result<Paths> {
        let removed = self.list_changed(&["--diff-filter=D", &step.old, &step.new])?;
        let differ = &self.list_changed(&[&step.new])? | &removed;
        let edited = self.list_changed(&[&step.old])?;
        let known = self.list_known()?;
        let mut theirs = Paths::new();
        for path in &self.list_affected(step)? & &differ {
            let is_known = known.contains(&path);
            let is_old = is_known && !edited.contains(&path);
            if self.is_file(&path) && (is_old || !self.is_written(step, &path, is_known)?) {
                theirs.insert(path);
            }
        }
        Ok(theirs)
    }

    /// Returns whether a file holds what the move writes, or the beginning of that, as after a kill. One that git knows
    /// holds it whole only where its mode differs.
    fn is_written(&self, step: &Move, path: &str, is_known: bool) -> Result<bool> {
        let file = self.top.join(path);
        let held = match fs::read_link(&file) {
            Ok(target) => Some(target.into_os_string().into_vec()),
            Err(_) => read_within(&file, FILE_MAX).ok().flatten(),
        };
        let show = Words::with("cat-file --filters", [format!("{}:{path}", step.new)]);
        let made = self.git_in(&self.top).read(show)?;
        Ok(held.zip(made).is_some_and(|(held, made)| {
            made.starts_with(&held) && !(is_known && made.len() == held.len())
        }))
    }

    fn is_file(&self, path: &str) -> bool {
        let there = self.top.join(path).symlink_metadata();
        there.is_ok_and(|there| !there.is_dir())
    }

    fn list_known(&self) -> Result<Paths> {
        Ok(self.list("ls-files -z")?.into_iter().collect())
    }

    /// Removes files that an interrupted move has added and not yet indexed.
    fn remove_untracked(&self, step: &Move, theirs: &Paths) -> Result<()> {
        let added = self.list_changed(&["--diff-filter=A", &step.old, &step.new])?;
        for path in &(&added - &self.list_known()?) - theirs {
            if self.is_file(&path) {
                let file = self.top.join(path);
                fs::remove_file(&file).map_err(|cause| unwritable(&file, cause))?;
            }
        }
        Ok(())
    }

    /// Takes a merge back that is noted and not proven. Returns its commit where it stays, because somebody changed or
    /// committed something since.
    pub(in crate::coordinator) fn roll_back(&self) -> Result<Option<String>> {
        let mut left = None;
        if let Some(step) = self.noted_move()
            && self.is_unproven_merge(&step, &step.new)?
        {
            let (merge, branch) = (step.new.clone(), reference(step.branch.as_ref()));
            if self.is_at(&step, &step.new)? {
                let back = Move {
                    old: step.new,
                    new: step.old,
                    stage: Stage::Trial,
                    is_merge: false,
                    ..step
                };
                self.make_move(back)?;
            }
            left = self.is_ancestor(&merge, &branch)?.then_some(merge);
        }
        self.forget_move()?;
        Ok(left)
    }

    /// Leaves a merge of a task that is done by now, which the next turn would take back as not proven.
    pub(in crate::coordinator) fn keep_merge_of(&self, task: TaskId, since: &str) -> Result<()> {
        let merge = self.find_merge(task, since)?;
        match merge.is_some() && self.noted_move().map(|step| step.new) == merge {
            true => self.forget_move(),
            false => Ok(()),
        }
    }

    /// Removes the index lock of the killed git of a noted move: it is empty, no older than the note, and no
    /// process holds it. A git that waits for an editor has written its lock and closed it, and may run where
    /// its process is not seen, so a written lock stays for the user.
    fn unlock_index(&self) -> Result<()> {
        let lock = self.mark.with_file_name("index.lock");
        let (Ok(there), Ok(noted)) = (lock.symlink_metadata(), self.mark.metadata()) else {
            return Ok(());
        };
        let is_younger = there.modified().ok() >= noted.modified().ok();
        match there.is_file() && there.len() == 0 && is_younger && !can_be_held(&there) {
            true => fs::remove_file(&lock).map_err(|cause| unwritable(&lock, cause)),
            false => Ok(()),
        }
    }
}
