//! Finishes or undoes a move of the checkout that a process was killed in, and rolls back what was not proven.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use walkdir::WalkDir;

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
const NAMES_AT_ONCE: usize = 500;

/// The file that a commit has at a path: its mode and id.
type Held = Option<(String, String)>;
/// The paths that differ between two commits.
type Changes = BTreeMap<String, [Held; 2]>;

/// The content of a path after a move was killed.
enum Holds {
    Old,
    /// The new content, the beginning of it, or nothing.
    Written,
    Other,
}

enum Kind {
    Nothing,
    File(Metadata),
    /// Something that the move knows nothing of is there, or in the way.
    Foreign,
}

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
                let edited = self.list_edited(&step)?;
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
        let held = self.look_at_paths(step)?;
        let is_written = |held: &Holds| matches!(held, Holds::Written);
        let (ours, theirs): (BTreeMap<_, _>, BTreeMap<_, _>) =
            held.into_iter().partition(|(_, held)| is_written(held));
        let (mut ours, theirs) = (
            Paths::from_iter(ours.into_keys()),
            Paths::from_iter(theirs.into_keys()),
        );
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

    /// Lists paths of a move that hold something else than it found or writes.
    fn list_edited(&self, step: &Move) -> Result<Paths> {
        let held = self.look_at_paths(step)?.into_iter();
        let edited = held.filter(|(_, held)| matches!(held, Holds::Other));
        Ok(edited.map(|(path, _)| path).collect())
    }

    /// Looks at what every path of a move holds, byte for byte: what git sees of a file is less where filters drop lines or
    /// where it was told to see no changes.
    fn look_at_paths(&self, step: &Move) -> Result<BTreeMap<String, Holds>> {
        let changes = self.list_changes(step)?;
        let modes = self.ask("config --type=bool core.fileMode")?;
        let has_modes = modes.is_ok_and(|said| said != "false");
        let mut held = BTreeMap::new();
        let mut files = Vec::new();
        for path in changes.keys() {
            match self.find_kind(path, &changes) {
                Kind::Nothing => drop(held.insert(path.clone(), Holds::Written)),
                Kind::Foreign => drop(held.insert(path.clone(), Holds::Other)),
                Kind::File(there) => files.push((path, there)),
            }
        }
        let ids = self.hash_files(&files)?;
        for ((path, there), id) in files.into_iter().zip(ids) {
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
            let [old, new] = &changes[path];
            let is_same =
                |commit: &Held| fits(commit) && commit.as_ref().map(|it| &it.1) == id.as_ref();
            let holds = match () {
                () if is_same(old) => Holds::Old,
                () if is_same(new) => Holds::Written,
                () => self.compare(step, path, fits(old), fits(new))?,
            };
            held.insert(path.clone(), holds);
        }
        Ok(held)
    }

    /// Compares a file with what the commits of a move check out, or what is there after a kill: the beginning of it.
    fn compare(
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

    /// Finds what is at a path, and what is in its way: files above or below it that the move knows nothing of.
    fn find_kind(&self, path: &str, changes: &Changes) -> Kind {
        let name = |path: &Path| {
            let path = path.strip_prefix(&self.top).unwrap_or(path);
            path.to_string_lossy().into_owned()
        };
        let file = self.top.join(path);
        let above = file.ancestors().skip(1);
        let mut above = above.take_while(|above| *above != self.top);
        let is_in_way = |above: &&Path| above.symlink_metadata().is_ok_and(|there| !there.is_dir());
        if let Some(above) = above.find(is_in_way) {
            return match changes.contains_key(&name(above)) {
                true => Kind::Nothing,
                false => Kind::Foreign,
            };
        }
        match file.symlink_metadata() {
            Err(cause) if cause.kind() == ErrorKind::NotFound => Kind::Nothing,
            Ok(there) if there.is_file() || there.is_symlink() => Kind::File(there),
            Ok(there) if there.is_dir() => {
                let below = WalkDir::new(&file).into_iter();
                let mut below = below.filter(|entry| {
                    let is_dir = entry.as_ref().is_ok_and(|entry| entry.file_type().is_dir());
                    !is_dir
                });
                let is_known = |entry: walkdir::Result<walkdir::DirEntry>| {
                    entry.is_ok_and(|entry| changes.contains_key(&name(entry.path())))
                };
                match below.all(is_known) {
                    true => Kind::Nothing,
                    false => Kind::Foreign,
                }
            }
            _ => Kind::Foreign,
        }
    }

    /// Hashes files as they are, without filters; none for links and what cannot be read.
    fn hash_files(&self, files: &[(&String, Metadata)]) -> Result<Vec<Option<String>>> {
        let mut ids = Vec::with_capacity(files.len());
        for files in files.chunk_by(|a, b| a.1.is_symlink() == b.1.is_symlink()) {
            for files in files.chunks(NAMES_AT_ONCE) {
                let names = files.iter().map(|(path, _)| path);
                let hashed = match files.iter().any(|(_, there)| there.is_symlink()) {
                    true => None,
                    false => self
                        .ask(Words::with("hash-object --no-filters --", names))?
                        .ok(),
                };
                let hashed = hashed.unwrap_or_default();
                let mut hashed = hashed.lines().map(str::to_string);
                ids.extend(files.iter().map(|_| hashed.next()));
            }
        }
        Ok(ids)
    }

    /// Lists the paths that differ between the commits of a move, with what each commit has there.
    fn list_changes(&self, step: &Move) -> Result<Changes> {
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

    /// Removes files that an interrupted move has added and not yet indexed.
    fn remove_untracked(&self, step: &Move, ours: &Paths) -> Result<()> {
        let added = self.list_changed(&["--diff-filter=A", &step.old, &step.new])?;
        let known = self.list("ls-files -z")?.into_iter().collect();
        for path in &(&added & ours) - &known {
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

    /// Keeps the merge of a task that is done by now, which the next turn would revert as not proven.
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
