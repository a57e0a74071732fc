//! Git worktrees: each task works in one of its own, on a branch of its own, and what verifies is merged
//! into the branch that is checked out in the workspace.
//!
//! The repository's own settings and filters count, as they do for everybody who works in it. One process at a time
//! (`lock`) changes files that are checked out in the workspace, and the next one finishes or undoes the work of a killed
//! one (`recovery`). Worktrees begin on the branch that was checked out when the run began, and nothing is merged into
//! another one (`base`). A worktree is only removed once its branch holds all that was done in it (`commit`), and its
//! reports (`reports`) and ignored files (`ignored`) are kept.

mod base;
mod baseline;
mod checkout;
mod conversion;
mod copy;
mod git;
mod ignored;
mod merge;
mod recovery;

mod commit;
mod lock;
mod reports;
mod start;

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{Code, Error, Result, quote};
use crate::file::{create_private_folder, unreadable, unwritable};
use crate::id::TaskId;
use crate::run::event::Base;
use crate::task::Task;
use crate::tree::find_top;
use crate::workspace::{OUTPUT_DIR, Workspace};
use git::{Answer, Words, refuse_git};
pub(super) use lock::LOCK_TIMEOUT;

/// Names of worktrees that are being removed begin with this, which no worktree of a task does.
const REMOVED: &str = "removed-";

pub(super) struct Trees {
    top: PathBuf,
    inside: PathBuf,
    folder: PathBuf,
    pub(super) run: String,
    /// The lock of the files of the repository, in which moves of the checkout are noted.
    lock_file: PathBuf,
    /// The checkout when the run began.
    pub(super) base: Base,
    pub(super) warnings: RefCell<Vec<String>>,
}

#[derive(Clone, Debug)]
pub(super) struct Tree {
    top: PathBuf,
    pub(super) root: PathBuf,
    pub(super) branch: String,
    /// Where it is noted which outputs there were when it was made; what was put aside lies beside it.
    baseline: PathBuf,
}

impl Tree {
    pub(super) fn display_path(&self) -> String {
        self.top.to_string_lossy().into_owned()
    }

    pub(super) fn is_there(&self) -> bool {
        let there = self.top.symlink_metadata();
        there.is_ok_and(|there| there.is_dir())
    }

    pub(super) fn task(&self) -> Option<TaskId> {
        task_of(&self.branch)
    }

    pub(super) fn name(&self) -> &str {
        self.branch.rsplit('/').next().unwrap_or_default()
    }

    /// Returns whether cleo was killed while it made the worktree: then there is nothing to keep, and files that git had
    /// not written would count as deleted.
    pub(super) fn is_half_made(&self) -> bool {
        let prompt = format!("{}.prompt.md", self.name());
        !self.baseline.exists() && !self.run_folder().join(prompt).exists()
    }

    /// Returns the places of the baselines of earlier worktrees of the task.
    fn list_earlier_baselines(&self) -> impl Iterator<Item = PathBuf> {
        let (task, number) = self.name().rsplit_once('-').unwrap_or_default();
        let earlier = 1..number.parse::<u32>().unwrap_or(1);
        earlier.map(move |number| {
            self.baseline
                .with_file_name(format!("{task}-{number}.json"))
        })
    }
}

/// Makes the error of something that stays in a worktree, with a command that shows a place.
fn refuse(message: String, command: &str, place: &Path) -> Error {
    let look = format!("{command} {}", quote(&place.to_string_lossy()));
    Error::new(Code::InputInvalid, message).fix(look)
}

pub(super) fn task_of(branch: &str) -> Option<TaskId> {
    let (_, name) = branch.rsplit_once('/')?;
    name.rsplit_once('-')?.0.parse().ok()
}

impl Trees {
    /// Opens the worktrees of a run. They begin, and work is merged, only on `base`.
    pub(super) fn open(
        workspace: &Workspace,
        folder: &Path,
        run: &str,
        base: Base,
    ) -> Result<Trees> {
        let root = fs::canonicalize(&workspace.root)
            .map_err(|cause| unreadable(&workspace.root, cause))?;
        let top = find_top(&root).ok_or_else(|| {
            let message = "worktrees need a git repository with a commit: there is none here";
            Error::new(Code::InputInvalid, message)
        })?;
        let mut trees = Trees {
            inside: root
                .strip_prefix(top)
                .unwrap_or(Path::new(""))
                .to_path_buf(),
            top: top.to_path_buf(),
            folder: folder.join("trees"),
            run: run.to_string(),
            lock_file: PathBuf::new(),
            base,
            warnings: RefCell::default(),
        };
        trees.lock_file = trees.find_lock_file()?;
        Ok(trees)
    }

    fn warn(&self, warning: String) {
        let mut warnings = self.warnings.borrow_mut();
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    /// Creates the worktree of an attempt from the branch of the run. Nothing is left of it on failure. A branch
    /// of that number with work that no event mentions stays.
    pub(super) fn create_worktree(&self, task: &Task, attempt: u32) -> Result<Tree> {
        let from = self.require_base()?;
        // Nothing that an agent would be paid for could be merged.
        self.require_conversion(&self.top)?;
        let taken = self.list_unmerged_branches()?;
        let mut trees = (attempt..).map(|number| self.tree(&format!("{}-{number}", task.id)));
        let tree = trees.find(|tree| !taken.contains(&tree.branch));
        let tree = tree.unwrap_or_else(|| self.tree(&format!("{}-{attempt}", task.id)));
        let made = self.add_worktree(&tree, &from).and_then(|()| {
            self.require_conversion(&tree.top)?;
            let outputs = tree.root.join(OUTPUT_DIR);
            fs::create_dir_all(&outputs).map_err(|cause| unwritable(&outputs, cause))?;
            self.save_baseline(&tree, task, &from)
        });
        if let Err(error) = made {
            let _ = self.remove_worktree(&tree);
            return Err(error);
        }
        Ok(tree)
    }

    /// Checks a commit out into the folder of a worktree, on a branch of its own.
    fn add_worktree(&self, tree: &Tree, from: &str) -> Result<()> {
        create_private_folder(&self.folder).map_err(|cause| unwritable(&self.folder, cause))?;
        let add = format!("worktree add --quiet -B {}", tree.branch);
        let add = Words::with(&add, [tree.top.as_os_str(), from.as_ref()]);
        self.ask(add)?.map(drop).map_err(|said| {
            let message = format!("no worktree can be made: {said}");
            let top = quote(&self.top.to_string_lossy());
            Error::new(Code::FileUnwritable, message).fix(format!("git -C {top} fsck"))
        })
    }

    pub(super) fn find_tree(&self, task: TaskId) -> Option<Tree> {
        let mut all = self.list_trees().into_iter();
        all.rfind(|tree| tree.task() == Some(task))
    }

    pub(super) fn list_trees(&self) -> Vec<Tree> {
        let names = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        let names = names.filter(|name| !name.starts_with(REMOVED));
        let mut names: Vec<String> = names.collect();
        names.sort_by_cached_key(|name| {
            let (task, number) = name.rsplit_once('-')?;
            Some((task.parse::<TaskId>().ok()?, number.parse::<u32>().ok()?))
        });
        names.iter().map(|name| self.tree(name)).collect()
    }

    fn tree(&self, name: &str) -> Tree {
        let top = self.folder.join(name);
        let notes = self.folder.with_file_name("outputs");
        Tree {
            root: top.join(&self.inside),
            top,
            branch: format!("cleo/{}/{name}", self.run),
            baseline: notes.join(format!("{name}.json")),
        }
    }

    /// Removes a worktree. A branch with unmerged commits stays and is returned.
    pub(super) fn remove_worktree(&self, tree: &Tree) -> Result<Option<String>> {
        // Renamed first: after a kill no task is judged by the rest of it.
        let removed = self.folder.join(format!("{REMOVED}{}", tree.name()));
        match fs::rename(&tree.top, &removed) {
            Err(cause) if cause.kind() != ErrorKind::NotFound => {
                return Err(unwritable(&removed, cause));
            }
            _ => self.discard_removed(),
        }
        if !self.succeeds(Words::with("worktree remove --force --force", [&tree.top]))? {
            self.run("worktree prune")?;
        }
        let Some(branch) = self.find_branch(tree)? else {
            return Ok(None);
        };
        if self.is_ahead(tree)? {
            return Ok(Some(branch));
        }
        let told = self.delete_branch(&branch)?;
        told.map_err(|said| refuse_git(&self.top, &said))?;
        Ok(None)
    }

    /// Deletes a merged branch. A lock that stays, such as that of a killed git, only keeps it.
    fn delete_branch(&self, name: &str) -> Result<Answer> {
        match self.ask(format!("branch --quiet -D {name}")) {
            Err(error) if error.code == Code::LockTimeout => {
                let why = error.message;
                self.warn(format!("the merged branch {name} was not deleted: {why}"));
                Ok(Ok(String::new()))
            }
            told => told,
        }
    }

    fn discard_removed(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let is_removed = entry.file_name().to_string_lossy().starts_with(REMOVED);
            if is_removed && let Err(cause) = fs::remove_dir_all(entry.path()) {
                let place = entry.path();
                let place = place.display();
                self.warn(format!(
                    "the rest of a removed worktree, {place}, could not be removed: {cause}"
                ));
            }
        }
        let _ = fs::remove_dir(&self.folder);
    }

    pub(super) fn lock_worktree(&self, tree: &Tree) -> Option<String> {
        // Git prunes no locked worktree, even when it does not look like one any more.
        let _ = self.ask(Words::with("worktree lock", [&tree.top]));
        self.find_branch(tree).ok().flatten()
    }

    pub(super) fn find_branch(&self, tree: &Tree) -> Result<Option<String>> {
        let is_there = self.has(&format!("refs/heads/{}", tree.branch))?;
        Ok(is_there.then(|| tree.branch.clone()))
    }

    pub(super) fn explain_removal(&self, tree: &Tree) -> Error {
        let removed = format!("{} was removed meanwhile", tree.display_path());
        let branch = self.find_branch(tree).ok().flatten();
        let error = |message: String| Error::new(Code::FileUnreadable, message);
        match branch.filter(|_| self.is_ahead(tree).unwrap_or(false)) {
            Some(branch) => error(format!(
                "{removed}; only what was committed there is left, on the branch {branch}"
            ))
            .fix(format!("git log HEAD..{}", quote(&branch))),
            None => {
                let message = format!("{removed}, and nothing was committed there");
                error(message).fix("git worktree list")
            }
        }
    }

    /// Removes a worktree once its branch holds all that was done in it, and if `may_report` its reports are in the
    /// workspace; what somebody else has changed there is added to `aside`. A branch with unmerged commits stays and is
    /// returned.
    pub(super) fn remove(
        &self,
        tree: &Tree,
        message: &str,
        may_report: bool,
        aside: &mut Vec<Error>,
    ) -> Result<Option<String>> {
        if tree.is_there() {
            tree.require_baseline()?;
            if may_report {
                self.report(tree, aside)?;
            }
            self.require_copied(tree)?;
            self.commit(tree, message)?;
            aside.extend(self.list_left_elsewhere(tree)?);
            aside.extend(self.keep_ignored(tree)?);
        }
        self.remove_worktree(tree)
    }

    /// Has git forget what is gone, deletes merged branches, and returns those with work; `kept` are those of worktrees
    /// that stay.
    pub(super) fn prune(&self, kept: &HashSet<String>) -> Result<Vec<String>> {
        self.discard_removed();
        self.run("worktree prune")?;
        // Git itself keeps a branch that is checked out somewhere.
        for name in self.branches(&format!("--merged={}", self.merge_target()?))? {
            if !kept.contains(&name) {
                let _ = self.delete_branch(&name)?;
            }
        }
        let mut left = self.list_unmerged_branches()?;
        left.retain(|name| !kept.contains(name));
        Ok(left)
    }

    pub(super) fn list_unmerged_branches(&self) -> Result<Vec<String>> {
        self.branches(&format!("--no-merged={}", self.merge_target()?))
    }

    fn branches(&self, which: &str) -> Result<Vec<String>> {
        let list = "for-each-ref --format=%(refname:lstrip=2)";
        let told = self.run(format!("{list} {which} refs/heads/cleo/{}", self.run))?;
        Ok(told.lines().map(str::to_string).collect())
    }
}
