//! Finishes or undoes a move of the checkout that a process was killed in, and rolls back what was not proven.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::base::reference;
use super::checkout::{BOTH, Changes, Held, Move, Paths, Stage};
use super::git::{Words, can_be_held};
use super::merge::list_names;
use super::{Tree, Trees};
use crate::error::Result;
use crate::file::{read_start, read_within, unwritable};
use crate::id::TaskId;
use crate::runner::orphans;
use crate::tree::MERGES;

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

pub(super) enum Kind {
    Nothing,
    File(Metadata),
    /// The move has no part in what is there or in the way, at this path.
    Foreign(String),
}

impl Trees {
    /// Finishes or undoes a move that a process was killed in, and rolls a merge back that it did not prove. Its
    /// git is ended first.
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
        let mut left = None;
        match step.stage {
            // A revert of an unproven merge is tried again.
            Stage::Trial if !step.is_merge => drop(self.make_move(step.clone())?),
            Stage::Write if self.is_at(&step, &step.old)? => {
                let mut held = self.compare_paths(&step)?;
                let paths = held.keys().cloned().collect();
                held.retain(|_, held| matches!(held, Holds::Other));
                match held.is_empty() {
                    true => {
                        self.restore(&step.new, &paths, BOTH)?;
                        drop(self.move_branch(&step)?);
                    }
                    false => {
                        self.undo(&step)?;
                        let names = list_names(held.into_keys().collect());
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
            self.warn(format!(
                "the merge {merge} was not proven and stays, because what changed since is in the way; `git revert \
                 -m 1 {merge}` takes it back"
            ));
        }
        Ok(())
    }

    /// Has the files that hold what the move has written hold what is checked out. Others stay, but for what the move has
    /// staged of them.
    pub(super) fn undo(&self, step: &Move) -> Result<()> {
        let (mut ours, mut theirs) = (Paths::new(), Paths::new());
        for (path, held) in self.compare_paths(step)? {
            match held {
                Holds::Written => ours.insert(path),
                Holds::Old | Holds::Other => theirs.insert(path),
            };
        }
        self.remove_untracked(step, &ours)?;
        ours.retain(|path| {
            let path = format!("{path}/");
            let mut below = theirs.range(path.clone()..);
            below.next().is_none_or(|next| !next.starts_with(&path))
        });
        self.restore("HEAD", &ours, BOTH)?;
        let staged = &theirs - &self.list_changed(&["--cached", &step.new])?;
        self.restore("HEAD", &staged, "--staged")
    }

    /// Looks at what every path of a move holds, byte for byte: what git sees of a file is less where filters drop lines or
    /// where it was told to see no changes.
    fn compare_paths(&self, step: &Move) -> Result<BTreeMap<String, Holds>> {
        let changes = self.list_changes(step)?;
        let modes = self.ask("config --type=bool core.fileMode")?;
        let has_modes = modes.is_ok_and(|said| said != "false");
        let (mut held, mut files) = (BTreeMap::new(), BTreeMap::new());
        for path in changes.keys() {
            match self.find_kind(path, &changes) {
                Kind::Nothing => drop(held.insert(path.clone(), Holds::Written)),
                Kind::Foreign(_) => drop(held.insert(path.clone(), Holds::Other)),
                Kind::File(there) => drop(files.insert(path, there)),
            }
        }
        let ids = self.hash_files(&files)?;
        for (path, there) in &files {
            let mode = match there.mode() & 0o100 {
                _ if there.is_symlink() => "120000",
                0 => "100644",
                _ => "100755",
            };
            let has_mode = |other: &str| {
                let is_file = !there.is_symlink() && other.starts_with("100");
                other == mode || (!has_modes && is_file)
            };
            let fits = |commit: &Held| commit.as_ref().is_some_and(|(mode, _)| has_mode(mode));
            let [old, new] = &changes[*path];
            let is_same =
                |commit: &Held| fits(commit) && commit.as_ref().map(|it| &it.1) == ids.get(*path);
            let holds = match () {
                () if is_same(old) => Holds::Old,
                () if is_same(new) => Holds::Written,
                () => self.compare_with_move(step, path, fits(old), fits(new))?,
            };
            held.insert(path.to_string(), holds);
        }
        Ok(held)
    }

    /// Compares a file with what the commits of a move check out, or what is there after a kill: the beginning of it.
    fn compare_with_move(
        &self,
        step: &Move,
        path: &str,
        may_be_old: bool,
        may_be_new: bool,
    ) -> Result<Holds> {
        let file = self.top.join(path);
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
        if may_be_old && check_out(&step.old)?.is_some_and(|old| old == held) {
            return Ok(Holds::Old);
        }
        let is_written =
            may_be_new && check_out(&step.new)?.is_some_and(|new| new.starts_with(&held));
        Ok(if is_written {
            Holds::Written
        } else {
            Holds::Other
        })
    }

    /// Finds what is at a path, or in its way: files above or below it that the move does not know.
    pub(super) fn find_kind(&self, path: &str, changes: &Changes) -> Kind {
        let name = |path: &Path| {
            let path = path.strip_prefix(&self.top).unwrap_or(path);
            path.to_string_lossy().into_owned()
        };
        let is_known = |path: &Path| changes.contains_key(&name(path));
        let file = self.top.join(path);
        let above = file.ancestors().skip(1);
        let mut above = above.take_while(|above| *above != self.top);
        let is_in_way = |above: &&Path| above.symlink_metadata().is_ok_and(|there| !there.is_dir());
        if let Some(above) = above.find(is_in_way) {
            return match is_known(above) {
                true => Kind::Nothing,
                false => Kind::Foreign(name(above)),
            };
        }
        match file.symlink_metadata() {
            Err(cause) if cause.kind() == ErrorKind::NotFound => Kind::Nothing,
            Ok(there) if there.is_file() || there.is_symlink() => Kind::File(there),
            Ok(there) if there.is_dir() => {
                let mut below = WalkDir::new(&file)
                    .into_iter()
                    .filter_map(|entry| match entry {
                        Ok(entry) if entry.file_type().is_dir() || is_known(entry.path()) => None,
                        Ok(entry) => Some(name(entry.path())),
                        Err(error) => Some(name(error.path().unwrap_or(&file))),
                    });
                below.next().map_or(Kind::Nothing, Kind::Foreign)
            }
            _ => Kind::Foreign(path.to_string()),
        }
    }

    /// Hashes files as they are, without filters. Links, files that cannot be read, and names that git would unquote have
    /// no hash.
    fn hash_files<'a>(
        &self,
        files: &BTreeMap<&'a String, Metadata>,
    ) -> Result<BTreeMap<&'a String, String>> {
        let is_plain = |name: &str| !name.starts_with('"') && !name.contains('\n');
        let files = files
            .iter()
            .filter(|(name, there)| !there.is_symlink() && is_plain(name));
        let paths: Vec<&String> = files.map(|(name, _)| *name).collect();
        let names: Vec<&str> = paths.iter().map(|name| name.as_str()).collect();
        let hash = Words::with_names("hash-object --no-filters --stdin-paths", &names, "\n");
        let hashed = self.ask(hash)?.unwrap_or_default();
        let hashed = hashed.lines().map(str::to_string);
        Ok(paths.into_iter().zip(hashed).collect())
    }

    /// Removes files that an interrupted move has added and not yet indexed.
    fn remove_untracked(&self, step: &Move, ours: &Paths) -> Result<()> {
        let changes = self.list_changes(step)?.into_iter();
        let added = changes.filter(|(path, [old, _])| old.is_none() && ours.contains(path));
        let known: Paths = self.list("ls-files -z")?.into_iter().collect();
        for (path, _) in added.filter(|(path, _)| !known.contains(path)) {
            let file = self.top.join(path);
            if file.symlink_metadata().is_ok_and(|there| !there.is_dir()) {
                fs::remove_file(&file).map_err(|cause| unwritable(&file, cause))?;
            }
        }
        Ok(())
    }

    /// Takes a merge back that is noted and not proven. Returns its commit where it stays, because somebody changed or
    /// committed something since.
    pub(in crate::coordinator) fn roll_back(&self) -> Result<Option<String>> {
        let mut left = None;
        if let Some(step) = self.read_move()
            && self.is_waiting_for_proof(&step, &step.new)?
        {
            let merge = step.new.clone();
            let branch = self.find_reference(step.branch.as_ref())?;
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

    /// Removes the locks of the killed git of a noted move: of the index, of HEAD, of the branch and of the merge. They are no older
    /// than the note, no process holds them, and they are empty or name a commit of the move. A git that waits for an
    /// editor has written its index and closed it, and may run where its process is not seen, so such a lock stays for
    /// the user.
    pub(super) fn unlock_checkout(&self, step: &Move) -> Result<()> {
        let beside = |name| self.lock_file.with_file_name(name);
        let mut locks = vec![beside("index.lock"), beside("HEAD.lock")];
        let common = self.run("rev-parse --path-format=absolute --git-common-dir")?;
        let of_name = |name: &str| Path::new(&common).join(format!("{name}.lock"));
        locks.push(of_name(&format!("{MERGES}/{}", step.run)));
        let branch = reference(step.branch.as_ref());
        if step.branch.is_some() && self.has(&branch)? {
            locks.push(of_name(&branch));
        }
        let noted = self.lock_file.metadata().and_then(|noted| noted.modified());
        for lock in &locks {
            let (Ok(there), Ok(noted)) = (lock.symlink_metadata(), &noted) else {
                continue;
            };
            let is_younger = there.modified().is_ok_and(|at| at >= *noted);
            if !there.is_file() || !is_younger || can_be_held(&there, None) {
                continue;
            }
            let text = read_start(lock, COMMIT_MAX).unwrap_or_default();
            let text = text.trim_ascii();
            if [&b""[..], step.old.as_bytes(), step.new.as_bytes()].contains(&text) {
                fs::remove_file(lock).map_err(|cause| unwritable(lock, cause))?;
            }
        }
        Ok(())
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
        for lock in &locks {
            let there = lock.symlink_metadata();
            let is_dead = there.is_ok_and(|it| it.is_file() && !can_be_held(&it, Some(&tree.top)));
            if is_dead {
                fs::remove_file(lock).map_err(|cause| unwritable(lock, cause))?;
            }
        }
        Ok(())
    }
}
