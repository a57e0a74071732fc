//! Undoes a move of the checkout that a process was killed in, and rolls back what was not proven.

use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::base::reference;
use super::checkout::{BOTH, Changes, Move, Paths};
use super::git::{Words, can_be_held};
use super::merge::list_names;
use super::{Tree, Trees};
use crate::error::Result;
use crate::file::{read_start, read_within, unwritable};
use crate::id::TaskId;
use crate::runner::orphans;

/// Largest file that is compared with what a killed move wrote; what is larger counts as edited.
const FILE_MAX: u64 = 64 << 20;

/// Longest id of a commit with its line end, and a byte more.
const COMMIT_MAX: u64 = 66;

/// The content of a path after a move was killed.
enum Holds {
    Old,
    /// The new content, the beginning of it, or nothing.
    Written,
    Other,
}

impl Trees {
    /// Undoes a move that a process was killed in, and takes a merge back that it did not prove. Its git is ended first.
    pub(super) fn recover(&self) -> Result<()> {
        let Some(step) = self.read_move() else {
            return Ok(());
        };
        orphans::end_agents_of_run(&step.run, &step.place, &[]);
        self.unlock_checkout(&step)?;
        let has = |id: &str| self.has(&format!("{id}^{{commit}}"));
        if !has(&step.old)? || !has(&step.new)? {
            let (place, run) = (self.lock_file.display(), step.run.escape_debug());
            self.warn(format!(
                "{place} noted an interrupted move of the run {run} from the commit {} to {}, which git does not have \
                 any more, so the note was removed; see `git status`",
                step.old, step.new
            ));
            return self.forget_move();
        }
        let is_made = match step.is_merge {
            true => self.is_ancestor(&step.new, &self.find_reference(step.branch.as_ref())?)?,
            false => self.is_at(&step, &step.new)?,
        };
        if !is_made {
            let edited = self.undo(&step)?;
            if !edited.is_empty() {
                let names = list_names(edited.into_iter().collect());
                self.warn(format!(
                    "a merge was killed while it wrote; its files are as before, but for {names}, edited since: see `git \
                     status`"
                ));
            }
        }
        if let Some(merge) = self.roll_back()? {
            self.warn(format!(
                "the merge {merge} was not proven and stays, because what changed since is in the way; `git revert \
                 -m 1 {merge}` takes it back"
            ));
        }
        Ok(())
    }

    /// Has the files that hold what the move has written hold what is checked out. Others stay, but for what the move has
    /// staged of them; returned are those that somebody has edited.
    pub(super) fn undo(&self, step: &Move) -> Result<Paths> {
        let changes = self.list_changes(step)?;
        let (mut ours, mut theirs, mut edited) = (Paths::new(), Paths::new(), Paths::new());
        for path in changes.keys().cloned() {
            match self.compare(step, &path, &changes)? {
                Holds::Written => ours.insert(path),
                Holds::Old => theirs.insert(path),
                Holds::Other => edited.insert(path.clone()) && theirs.insert(path),
            };
        }
        self.remove_untracked(&changes, &ours)?;
        ours.retain(|path| {
            let path = format!("{path}/");
            let mut below = theirs.range(path.clone()..);
            below.next().is_none_or(|next| !next.starts_with(&path))
        });
        self.restore("HEAD", &ours, BOTH)?;
        let staged = &theirs - &self.list_changed(&["--cached", &step.new])?;
        self.restore("HEAD", &staged, "--staged")?;
        Ok(edited)
    }

    /// Compares a path with what the commits of a move check out, byte for byte: what git sees of a file is less where
    /// filters drop lines.
    fn compare(&self, step: &Move, path: &str, changes: &Changes) -> Result<Holds> {
        let file = self.top.join(path);
        match self.find_obstacle(path, changes) {
            None => return Ok(Holds::Written),
            Some(place) if place != path => return Ok(Holds::Other),
            Some(_) => {}
        }
        let held = match fs::read_link(&file) {
            Ok(target) => Some(target.into_os_string().into_vec()),
            Err(_) => read_within(&file, FILE_MAX).ok().flatten(),
        };
        let Some(held) = held else {
            return Ok(Holds::Other);
        };
        let check_out = |commit: &str| {
            let show = Words::with("cat-file --filters", [format!("{commit}:{path}")]);
            self.git_in(&self.top).read(show)
        };
        if check_out(&step.new)?.is_some_and(|new| new.starts_with(&held)) {
            return Ok(Holds::Written);
        }
        let is_old = check_out(&step.old)? == Some(held);
        Ok(if is_old { Holds::Old } else { Holds::Other })
    }

    /// Removes files that an interrupted move has added and not yet indexed.
    fn remove_untracked(&self, changes: &Changes, ours: &Paths) -> Result<()> {
        let added = changes.iter();
        let added = added.filter(|(path, [old, _])| old.is_none() && ours.contains(*path));
        let known: Paths = self.list("ls-files -z")?.into_iter().collect();
        for (path, _) in added.filter(|(path, _)| !known.contains(*path)) {
            let file = self.top.join(path);
            if file.symlink_metadata().is_ok_and(|there| !there.is_dir()) {
                fs::remove_file(&file).map_err(|cause| unwritable(&file, cause))?;
            }
        }
        Ok(())
    }

    /// Takes a merge back that is noted and not proven, also where that was begun. Returns its commit where it stays,
    /// because somebody changed or committed something since.
    pub(in crate::coordinator) fn roll_back(&self) -> Result<Option<String>> {
        let mut left = None;
        if let Some(step) = self.read_move() {
            let (merge, before) = match step.is_merge {
                true => (step.new.clone(), step.old.clone()),
                false => (step.old.clone(), step.new.clone()),
            };
            let parent = self
                .ask(format!("rev-parse {merge}^1"))?
                .unwrap_or_default();
            let branch = self.find_reference(step.branch.as_ref())?;
            if parent != before {
                return self.forget_move().map(|()| None);
            }
            if self.is_at(&step, &merge)? {
                let back = Move {
                    old: merge.clone(),
                    new: before,
                    is_merge: false,
                    ..step
                };
                self.make_move(&back)?;
            }
            let is_there =
                self.is_ancestor(&merge, &branch)? && self.find_revert(&merge, &branch)?.is_none();
            left = is_there.then_some(merge);
        }
        self.forget_move()?;
        Ok(left)
    }

    /// Keeps the merge of a task that is done by now, which the next turn would revert as not proven.
    pub(in crate::coordinator) fn keep_merge_of(&self, task: TaskId, since: &str) -> Result<()> {
        let merge = self.find_merge(task, since)?;
        match merge.is_some() && self.read_move().map(|step| step.new) == merge {
            true => self.forget_move(),
            false => Ok(()),
        }
    }

    /// Removes the locks of the killed git of a noted move: of the index, of HEAD and of the branch. They are no older
    /// than the note, no process holds them, and they are empty or name a commit of the move. A git that waits for an
    /// editor has written its index and closed it, and may run where its process is not seen, so such a lock stays for
    /// the user.
    pub(super) fn unlock_checkout(&self, step: &Move) -> Result<()> {
        let beside = |name| self.lock_file.with_file_name(name);
        let mut locks = vec![beside("index.lock"), beside("HEAD.lock")];
        let common = self.run("rev-parse --path-format=absolute --git-common-dir")?;
        let of_name = |name: &str| Path::new(&common).join(format!("{name}.lock"));
        let branch = reference(step.branch.as_ref());
        if step.branch.is_some() && self.has(&branch)? {
            locks.push(of_name(&branch));
        }
        let noted = self.lock_file.metadata().and_then(|noted| noted.modified());
        let is_of_move = |lock: &Path, there: &Metadata| {
            let noted = noted.as_ref().ok();
            let is_younger = there
                .modified()
                .is_ok_and(|at| noted.is_some_and(|it| at >= *it));
            let text = read_start(lock, COMMIT_MAX).unwrap_or_default();
            let known = [&b""[..], step.old.as_bytes(), step.new.as_bytes()];
            is_younger && known.contains(&text.trim_ascii())
        };
        remove_dead_locks(&locks, None, is_of_move)
    }

    /// Removes the locks that a killed git left in a worktree that no agent works in: no process holds them or is there,
    /// as a git that waits for an editor or a hook.
    pub(in crate::coordinator) fn unlock(&self, tree: &Tree) -> Result<()> {
        self.require_own(tree)?;
        let places = "rev-parse --path-format=absolute --git-path index.lock --git-path HEAD.lock --git-common-dir";
        let places = self.git_in(&tree.top).run(places)?;
        let mut locks: Vec<PathBuf> = places.lines().map(PathBuf::from).collect();
        // Where git keeps branches in tables, there is no such file.
        if let Some(common) = locks.last_mut() {
            common.push(format!("refs/heads/{}.lock", tree.branch));
        }
        remove_dead_locks(&locks, Some(&tree.top), |_, _| true)
    }
}

/// Removes locks of git that no process holds, nor is in the folder for.
fn remove_dead_locks(
    locks: &[PathBuf],
    folder: Option<&Path>,
    is_meant: impl Fn(&Path, &Metadata) -> bool,
) -> Result<()> {
    for lock in locks {
        let is_dead =
            |it: &Metadata| it.is_file() && is_meant(lock, it) && !can_be_held(it, folder);
        if lock.symlink_metadata().is_ok_and(|it| is_dead(&it)) {
            fs::remove_file(lock).map_err(|cause| unwritable(lock, cause))?;
        }
    }
    Ok(())
}
