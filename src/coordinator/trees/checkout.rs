//! Moves the checkout of the workspace between commits, to merge and to roll a merge back. The move is noted
//! in the lock file of the turn before it begins: after a crash it is undone. The note of a merge
//! stays until its commands have passed; the next turn rolls an unproven one back.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use walkdir::WalkDir;

use super::Trees;
use super::base::reference;
use super::git::{DIFF, Words, refuse_git};
use super::merge::list_names;
use crate::error::Result;
use crate::file::{open_regular, open_to_write, unwritable};
use crate::run;
use crate::run::event::Base;
use crate::tree::is_commit_id;

const NOTE_MAX: u64 = 1 << 20;
/// The mode of a submodule (gitglossary, "gitlink").
pub(super) const GITLINK: &str = "160000";
/// Options of `git restore` for index and files.
pub(super) const BOTH: &str = "--staged --worktree";
/// Words of git about files that it would overwrite, before it writes any (unpack-trees.c, `unpack_plumbing_errors`).
const REFUSALS: [&str; 3] = [
    "Cannot merge.",
    "would lose untracked files",
    "Untracked working tree file",
];

/// A move of the checkout from a commit to another one.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::coordinator) struct Move {
    pub(super) run: String,
    pub(super) place: PathBuf,
    pub(super) branch: Option<String>,
    pub(super) old: String,
    pub(super) new: String,
    /// True for a merge, whose commands have to pass in the workspace too; false where one is reverted.
    pub(super) is_merge: bool,
}

pub(super) enum Moved {
    Done,
    /// Something is in its way, and nothing was changed; what.
    Refused(String),
    /// Somebody has committed or switched meanwhile, and nothing of it is left.
    Overtaken,
}

pub(super) type Paths = BTreeSet<String>;
/// The paths that differ between two commits, and the mode that each commit has there.
pub(super) type Changes = BTreeMap<String, [Option<String>; 2]>;

impl Trees {
    /// Merges: moves the checkout from the commit `old`, which it must be on, to `new`. That stays noted until
    /// [`Trees::forget_move`].
    pub(super) fn move_checkout(&self, old: &str, new: &str) -> Result<Moved> {
        self.make_move(&Move {
            run: self.run.clone(),
            place: self.git_mark_path(),
            branch: self.base.branch.clone(),
            old: old.to_string(),
            new: new.to_string(),
            is_merge: true,
        })
    }

    /// Makes a move: notes it, has git write the files, and moves the branch. Right before git writes files, it compares all
    /// of them with its index, so that what a user saved since [`Trees::find_refusal`] stays and the move is refused. A window
    /// remains from there to the replacement of each file, because no file system replaces a file only if it is as before.
    pub(super) fn make_move(&self, step: &Move) -> Result<Moved> {
        if let Some(why) = self.find_refusal(step)? {
            return self.refuse_move(step, why);
        }
        if !self.is_at(step, &step.old)? {
            return Ok(Moved::Overtaken);
        }
        self.note_move(step)?;
        // Files outside of a sparse checkout belong to the commit, too.
        let write = format!(
            "read-tree -m -u --no-sparse-checkout {} {}",
            step.old, step.new
        );
        let moved = match self.ask(write) {
            Ok(Err(said)) if REFUSALS.iter().any(|refusal| said.contains(refusal)) => {
                self.forget_move()?;
                return self.refuse_move(step, said);
            }
            Ok(Err(said)) => Err(refuse_git(&self.top, &said)),
            Ok(Ok(_)) => self.move_branch(step),
            Err(error) => Err(error),
        };
        // An error may come after the branch has moved.
        let is_done = match &moved {
            Ok(moved) => matches!(moved, Moved::Done),
            Err(_) => self.is_at(step, &step.new)?,
        };
        // Where something of this fails, the note stays, for the next holder of the lock.
        if !is_done {
            self.unlock_checkout(step)?;
        }
        // A user who has switched at this very moment keeps the files of the other branch.
        if !self.is_at(step, &step.new)? {
            self.undo(step)?;
        }
        if !is_done || !step.is_merge {
            self.forget_move()?;
        }
        if is_done { Ok(Moved::Done) } else { moved }
    }

    /// Says why nothing was written; somebody may have committed meanwhile.
    fn refuse_move(&self, step: &Move, why: String) -> Result<Moved> {
        Ok(match self.is_at(step, &step.old)? {
            true => Moved::Refused(why),
            false => Moved::Overtaken,
        })
    }

    /// Reads what is checked out, without a merge that is not proven yet and may be reverted.
    pub(super) fn find_proven_head(&self) -> Result<Base> {
        loop {
            let head = self.head()?;
            let noted = self.read_move();
            // A merge may have been reverted before its note was read.
            if self.head()? != head {
                continue;
            }
            let commit = match noted {
                Some(step) if step.is_merge && step.new == head.commit => step.old,
                // Its files may be reverted already, and its branch not yet.
                Some(step) if !step.is_merge && step.old == head.commit => step.new,
                _ => head.commit,
            };
            return Ok(Base { commit, ..head });
        }
    }

    /// Returns why the checkout cannot be moved: changed files, be they staged, untracked or ignored, are never overwritten.
    fn find_refusal(&self, step: &Move) -> Result<Option<String>> {
        let changes = self.list_changes(step)?;
        if let Some(name) = changes.keys().find(|name| name.contains('\u{fffd}')) {
            return Ok(Some(format!("the name of {name} is not UTF-8")));
        }
        let mut links = changes
            .iter()
            .filter(|(_, [old, _])| old.as_deref() == Some(GITLINK));
        if step.is_merge
            && let Some((path, _)) = links.next()
        {
            return Ok(Some(format!(
                "{path} is a submodule, which is changed there and whose files a merge does not check out"
            )));
        }
        let mut theirs = &self.list_changed(&["--cached", &step.old])? | &self.list_changed(&[])?;
        theirs.retain(|path| changes.contains_key(path));
        if !theirs.is_empty() {
            let names = list_names(theirs.into_iter().collect());
            return Ok(Some(format!("{names} changed in the workspace")));
        }
        // Git would overwrite ignored files.
        let mut added = changes.iter().filter(|(_, [old, _])| old.is_none());
        Ok(added.find_map(|(path, _)| self.find_obstacle(path, &changes)).map(|obstacle| {
            format!(
                "{obstacle} is there in the workspace, and git does not track it; move it away before a merge, which \
                 may overwrite it"
            )
        }))
    }

    /// Finds a file that is at a path, or in its way above or below it, and in which the move has no part.
    pub(super) fn find_obstacle(&self, path: &str, changes: &Changes) -> Option<String> {
        let file = self.top.join(path);
        let name = |path: &Path| {
            let path = path.strip_prefix(&self.top).unwrap_or(path);
            path.to_string_lossy().into_owned()
        };
        let is_known = |place: &Path| place != file && changes.contains_key(&name(place));
        let is_in_way = |place: &&Path| place.symlink_metadata().is_ok_and(|it| !it.is_dir());
        let way = file.ancestors().take_while(|place| *place != self.top);
        if let Some(place) = way.filter(is_in_way).last() {
            return (!is_known(place)).then(|| name(place));
        }
        let below = WalkDir::new(&file).into_iter();
        let mut below = below.filter_map(|entry| match entry {
            Ok(entry) if entry.file_type().is_dir() || is_known(entry.path()) => None,
            Ok(entry) => Some(name(entry.path())),
            Err(error) if error.depth() == 0 => None,
            Err(error) => Some(name(error.path().unwrap_or(&file))),
        });
        below.next()
    }

    /// Moves the branch after the files.
    fn move_branch(&self, step: &Move) -> Result<Moved> {
        if !self.is_at(step, &step.old)? {
            return Ok(Moved::Overtaken);
        }
        let name = reference(step.branch.as_ref());
        let words = ["cleo: merge", &name, &step.new, &step.old];
        match self.ask(Words::with("update-ref -m", words))? {
            Ok(_) => Ok(Moved::Done),
            Err(_) if !self.is_at(step, &step.old)? => Ok(Moved::Overtaken),
            Err(said) => Err(refuse_git(&self.top, &said)),
        }
    }

    pub(super) fn restore(&self, commit: &str, paths: &Paths, places: &str) -> Result<()> {
        let differ = &self.list_changed(&["--cached", commit])? | &self.list_changed(&[])?;
        let paths = paths & &differ;
        let gone = self.list_changed(&["--cached", "--diff-filter=A", commit])?;
        // A file that takes the place of a folder, or a folder that of a file, needs that removed first.
        for paths in [&paths & &gone, &paths - &gone] {
            if paths.is_empty() {
                continue;
            }
            // Files outside of a sparse checkout belong to the commit, too.
            let restore = format!(
                "--literal-pathspecs restore --quiet {places} --source={commit} --pathspec-file-nul \
                 --ignore-skip-worktree-bits --pathspec-from-file=-"
            );
            let names: Vec<&str> = paths.iter().map(String::as_str).collect();
            self.run(Words::with_names(&restore, &names, "\0"))?;
        }
        Ok(())
    }

    pub(super) fn is_at(&self, step: &Move, commit: &str) -> Result<bool> {
        let head = self.head()?;
        Ok(head.branch == step.branch && head.commit == commit)
    }

    /// Lists the paths that differ between the commits of a move.
    pub(super) fn list_changes(&self, step: &Move) -> Result<Changes> {
        let list = format!("diff-tree -r -z --no-renames {} {}", step.old, step.new);
        let listed = self.list(list)?;
        let changes = listed.chunks_exact(2).map(|one| {
            let mut modes = one[0].trim_start_matches(':').split(' ');
            let mut mode = || {
                modes
                    .next()
                    .filter(|mode| *mode != "000000")
                    .map(String::from)
            };
            (one[1].clone(), [mode(), mode()])
        });
        Ok(changes.collect())
    }

    pub(super) fn list_changed(&self, between: &[&str]) -> Result<Paths> {
        let between = between.join(" ");
        let names = self.list(format!("{DIFF} --ignore-submodules=dirty {between} --"))?;
        Ok(names.into_iter().collect())
    }

    pub(in crate::coordinator) fn read_move(&self) -> Option<Move> {
        let mut noted = Vec::new();
        let file = open_regular(&self.lock_file).ok()?;
        file.take(NOTE_MAX).read_to_end(&mut noted).ok()?;
        let step: Move = serde_json::from_slice(&noted).ok()?;
        let are_ids = [&step.old, &step.new]
            .into_iter()
            .all(|id| is_commit_id(id));
        (are_ids && run::is_id(&step.run)).then_some(step)
    }

    pub(in crate::coordinator) fn note_move(&self, step: &Move) -> Result<()> {
        let text = serde_json::to_vec(step).unwrap_or_default();
        let note = || {
            let mut file = open_to_write(&self.lock_file)?;
            file.write_all(&text)?;
            file.set_len(text.len() as u64)
        };
        note().map_err(|cause| unwritable(&self.lock_file, cause))
    }

    pub(in crate::coordinator) fn forget_move(&self) -> Result<()> {
        let emptied = open_to_write(&self.lock_file).and_then(|file| file.set_len(0));
        emptied.map_err(|cause| unwritable(&self.lock_file, cause))
    }
}
