//! Moves the checkout of the workspace between commits, to merge and to roll a merge back. The move is noted
//! in the lock file of the turn before it begins: after a crash it is finished or undone. The note of a merge
//! stays until its commands have passed; the next turn rolls an unproven one back.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Trees;
use super::base::{Base, reference};
use super::git::{Answer, DIFF, Words, refuse_git};
use super::merge::list_names;
use super::recovery::Kind;
use crate::error::Result;
use crate::file::{open_regular, open_to_write, unwritable};
use crate::run;
use crate::tree::MERGES;

const NOTE_MAX: u64 = 1 << 20;
/// The mode of a submodule (gitglossary, "gitlink").
pub(super) const GITLINK: &str = "160000";
/// Options of `git restore` for index and files.
pub(super) const BOTH: &str = "--staged --worktree";
/// Files outside of a sparse checkout belong to the commit, too.
const UPDATE: &str = "-m -u --no-sparse-checkout";
/// Words of git about files that it would overwrite, before it writes any (unpack-trees.c, `unpack_plumbing_errors`).
const REFUSALS: [&str; 3] = [
    "Cannot merge.",
    "would lose untracked files",
    "Untracked working tree file",
];

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(in crate::coordinator) struct Move {
    pub(super) run: String,
    pub(super) place: PathBuf,
    pub(super) branch: Option<String>,
    pub(super) old: String,
    pub(super) new: String,
    pub(super) stage: Stage,
    /// True for a merge, whose commands have to pass in the workspace too.
    pub(super) is_merge: bool,
}

/// How far a move is. The words have one length: a reader without the turn sees the one or the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::coordinator) enum Stage {
    /// Git is asked whether the move can be made: only its locks may be left of that.
    Trial,
    Write,
    /// The merge is made, and its commands have not passed yet.
    Prove,
}

pub(super) enum Moved {
    Done,
    /// Something is in its way, and nothing was changed; what.
    Refused(String),
    /// Somebody has committed or switched meanwhile, and nothing of it is left.
    Overtaken,
}

pub(super) type Paths = BTreeSet<String>;
/// The file that a commit has at a path: its mode and id.
pub(super) type Held = Option<(String, String)>;
/// The paths that differ between two commits, and the file that each commit has there.
pub(super) type Changes = BTreeMap<String, [Held; 2]>;

impl Trees {
    /// Moves the checkout from the commit `old`, which it must be on, to `new`. The move to a merge stays noted
    /// until [`Trees::forget_move`].
    pub(super) fn move_checkout(&self, old: &str, new: &str, is_merge: bool) -> Result<Moved> {
        let branch = match &self.base {
            Some(base) => base.branch.clone(),
            None => self.head()?.branch,
        };
        self.make_move(Move {
            run: self.run.clone(),
            place: self.git_mark_path(),
            branch,
            old: old.to_string(),
            new: new.to_string(),
            stage: Stage::Trial,
            is_merge,
        })
    }

    /// Makes a move. Right before git writes files, it compares all of them with its index, so that what a user saved since
    /// [`Trees::find_refusal`] stays and the move is refused. A window remains from there to the replacement of each file,
    /// because no file system replaces a file only if it is as before; and ignored files that are new since are overwritten.
    pub(super) fn make_move(&self, mut step: Move) -> Result<Moved> {
        let old = &step.old.clone();
        if !self.is_at(&step, old)? {
            self.forget_move()?;
            return Ok(Moved::Overtaken);
        }
        self.note_move(&step)?;
        let held = self.hold_merge(&step);
        let refusal = held.and_then(|()| self.find_refusal(&step));
        // The next turn undoes a move whose trial failed.
        if matches!(refusal, Ok(Some(_))) || (refusal.is_err() && step.is_merge) {
            // Its git may have been killed alone.
            self.unlock_checkout(&step)?;
            self.forget_move()?;
        }
        if let Some(why) = refusal? {
            return self.refuse_move(&step, why);
        }
        step.stage = Stage::Write;
        self.note_move(&step)?;
        let moved = match self.ask(format!("read-tree {UPDATE} {old} {}", step.new)) {
            Ok(Err(said)) if REFUSALS.iter().any(|refusal| said.contains(refusal)) => {
                self.forget_move()?;
                return self.refuse_move(&step, said);
            }
            Ok(Err(said)) => Err(refuse_git(&self.top, &said)),
            Ok(Ok(_)) => self.move_branch(&step),
            Err(error) => Err(error),
        };
        // An error after the branch has moved: where this question fails too, the note stays, and the next turn knows.
        let moved = match moved {
            Err(_) if self.is_at(&step, &step.new)? => Ok(Moved::Done),
            moved => moved,
        };
        if !matches!(moved, Ok(Moved::Done)) {
            // Where that fails too, the note stays, for the next holder of the lock.
            self.unlock_checkout(&step)?;
            self.undo(&step)?;
        }
        if step.is_merge && matches!(moved, Ok(Moved::Done)) {
            step.stage = Stage::Prove;
            self.note_move(&step)?;
        } else {
            self.forget_move()?;
        }
        moved
    }

    /// Gives the commit of a merge a name as long as it is noted, so that no `git gc` removes it before a branch has it.
    fn hold_merge(&self, step: &Move) -> Result<()> {
        if !step.is_merge {
            return Ok(());
        }
        let name = format!("{MERGES}/{}", step.run);
        self.run(format!("update-ref --no-deref {name} {}", step.new))
            .map(drop)
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
            return match noted {
                Some(step) if self.is_waiting_for_proof(&step, &head.commit)? => Ok(Base {
                    commit: step.old,
                    ..head
                }),
                // Its files may be reverted already, and its branch not yet.
                Some(step) if !step.is_merge && step.old == head.commit => Ok(Base {
                    commit: step.new,
                    ..head
                }),
                _ => Ok(head),
            };
        }
    }

    pub(super) fn is_waiting_for_proof(&self, step: &Move, commit: &str) -> Result<bool> {
        if !step.is_merge || step.stage == Stage::Trial || step.new != commit {
            return Ok(false);
        }
        let parent = self.ask(format!("rev-parse {commit}^1"))?;
        Ok(parent.is_ok_and(|parent| parent == step.old))
    }

    /// Returns why the checkout cannot be moved. Locks are waited for; changed files, be they staged,
    /// untracked or ignored, are never overwritten.
    fn find_refusal(&self, step: &Move) -> Result<Option<String>> {
        // Changes nothing and takes the same locks.
        if let Err(said) = self.update_branch(step, &step.old)? {
            return Ok(Some(said));
        }
        let changes = self.list_changes(step)?;
        if let Some(name) = changes.keys().find(|name| name.contains('\u{fffd}')) {
            return Ok(Some(format!("the name of {name} is not UTF-8")));
        }
        let is_link = |held: &Held| held.as_ref().is_some_and(|(mode, _)| mode == GITLINK);
        if step.is_merge
            && let Some((path, _)) = changes.iter().find(|(_, [old, _])| is_link(old))
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
        for (path, _) in changes.iter().filter(|(_, [old, _])| old.is_none()) {
            let obstacle = match self.find_kind(path, &changes) {
                Kind::Nothing => continue,
                Kind::File(_) => path.clone(),
                Kind::Foreign(place) => place,
            };
            return Ok(Some(format!(
                "{obstacle} is there in the workspace, and git does not track it; move it away before a merge, which \
                 may overwrite it"
            )));
        }
        let try_out = format!("read-tree --dry-run {UPDATE} {} {}", step.old, step.new);
        Ok(self.ask(try_out)?.err())
    }

    /// Moves the branch after the files.
    pub(super) fn move_branch(&self, step: &Move) -> Result<Moved> {
        if !self.is_at(step, &step.old)? {
            return Ok(Moved::Overtaken);
        }
        if let Err(said) = self.update_branch(step, &step.new)? {
            return match self.is_at(step, &step.old)? {
                true => Err(refuse_git(&self.top, &said)),
                false => Ok(Moved::Overtaken),
            };
        }
        // A user who has switched at this very moment keeps the files of the other branch.
        if !self.is_at(step, &step.new)? {
            self.undo(step)?;
        }
        Ok(Moved::Done)
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

    fn update_branch(&self, step: &Move, commit: &str) -> Result<Answer> {
        let name = reference(step.branch.as_ref());
        let words = ["cleo: merge", &name, commit, &step.old];
        self.ask(Words::with("update-ref -m", words))
    }

    pub(super) fn is_at(&self, step: &Move, commit: &str) -> Result<bool> {
        let head = self.head()?;
        Ok(head.branch == step.branch && head.commit == commit)
    }

    /// Lists the paths that differ between the commits of a move, with what each commit has there.
    pub(super) fn list_changes(&self, step: &Move) -> Result<Changes> {
        let list = format!("diff-tree -r -z --no-renames {} {}", step.old, step.new);
        let listed = self.list(list)?;
        let changes = listed.chunks_exact(2).map(|one| {
            let words: Vec<&str> = one[0].trim_start_matches(':').split(' ').collect();
            let held = |at: usize| {
                let mode = words.get(at).filter(|mode| **mode != "000000")?;
                Some((mode.to_string(), words.get(at + 2)?.to_string()))
            };
            (one[1].clone(), [held(0), held(1)])
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
        let are_ids = [&step.old, &step.new].into_iter().all(|id| is_id(id));
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
        let noted = self.read_move();
        self.release_merge(noted.as_ref().map_or(&self.run, |step| &step.run))?;
        let emptied = open_to_write(&self.lock_file).and_then(|file| file.set_len(0));
        emptied.map_err(|cause| unwritable(&self.lock_file, cause))
    }
}

/// Returns whether a text is the full id of a commit, and nothing that git takes for an option.
pub(super) fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit())
}
