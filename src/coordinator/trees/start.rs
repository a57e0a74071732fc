//! Checks before a run with worktrees: a repository that cannot have worktrees is refused before anything is
//! claimed.

use std::fs::{self, File};
use std::path::Path;

use super::Trees;
use super::base::Base;
use crate::error::{Code, Error, Result, quote};
use crate::file::{open, unwritable};
use crate::tree::{RESERVED_BRANCH, refuse_branch, require_git_version};
use crate::workspace::Workspace;

const PROBE: &str = "T0-0";
const PROBE_FOLDER: &str = "probe-";
/// Keys of the settings of a clone that lacks objects.
const PARTIAL: &str = r"^(extensions\.partialclone|remote\..*\.promisor)$";

impl Trees {
    /// Returns what is checked out, or says why no worktree can be made here. Nothing is changed.
    pub(in crate::coordinator) fn require_startable(workspace: &Workspace) -> Result<Base> {
        let trees = Trees::open(workspace, &workspace.root, "", None)?;
        require_git_version(&trees.run("version")?)?;
        let refuse = |message: String, fix: &str| {
            let fix = format!("git -C {} {fix}", quote(&trees.top.to_string_lossy()));
            Err(Error::new(Code::InputInvalid, message).fix(fix))
        };
        let place = trees.top.display();
        if trees.run("rev-parse --is-inside-work-tree")? != "true" {
            let message = format!("worktrees need a checkout, and {place} is a bare repository");
            return refuse(message, "config core.bare");
        }
        if !trees.has("HEAD^{commit}")? {
            let why = match trees.has("HEAD")? {
                true => "HEAD names a commit that is not there",
                false => "nothing is committed in it",
            };
            let message = format!("worktrees need a git repository with a commit: {why}");
            return refuse(message, "log --oneline --all -5");
        }
        if let Some(what) = trees.operation_in_progress() {
            let message = format!("a {what} is in progress in {place}; finish it first");
            return refuse(message, "status");
        }
        if trees.has(RESERVED_BRANCH)? {
            return Err(refuse_branch());
        }
        let head = trees.find_proven_head()?;
        // All worktrees are checked out from it. A partial clone fetches what it lacks.
        let list = format!("rev-list --objects --no-walk --quiet {}", head.commit);
        if !trees.is_partial()?
            && let Err(said) = trees.ask(list)?
        {
            let message =
                format!("worktrees need all files of a commit, and {place} lacks some: {said}");
            return refuse(message, "fsck --connectivity-only");
        }
        match trees.find_other_checkout(&head)? {
            Some(other) => {
                let message = format!(
                    "the branch that is checked out in {place} is checked out in {other} too, whose files a \
                     merge would leave behind"
                );
                refuse(message, "worktree list")
            }
            None => Ok(Base {
                conversion: Some(trees.digest_conversion_settings(&trees.top)?),
                ..head
            }),
        }
    }

    /// Creates and removes a worktree, so that problems appear before the run begins. In a partial clone the
    /// files are checked out too.
    pub(in crate::coordinator) fn probe(workspace: &Workspace, base: &Base) -> Result<()> {
        let above = workspace.root.join(".cleo");
        remove_old_probes(workspace, &above);
        let folder = tempfile::Builder::new()
            .prefix(PROBE_FOLDER)
            .tempdir_in(&above);
        let folder = folder.map_err(|cause| unwritable(&above, cause))?;
        // The system releases the lock of a killed process.
        let locked = File::open(folder.path()).and_then(|lock| lock.lock().map(|()| lock));
        let _lock = locked.map_err(|cause| unwritable(folder.path(), cause))?;
        let name = folder.path().file_name().unwrap_or_default();
        let trees = Trees::open(workspace, folder.path(), &name.to_string_lossy(), None)?;
        let options = if trees.is_partial()? {
            ""
        } else {
            "--no-checkout"
        };
        let tree = trees.tree(PROBE);
        let made = trees.add_worktree(&tree, &base.commit, options);
        let made = made.and_then(|()| trees.require_same_conversion(&tree, base));
        let ended = trees.remove_worktree(&tree);
        made.and(ended).map(drop)
    }

    fn is_partial(&self) -> Result<bool> {
        self.succeeds(format!("config --get-regexp {PARTIAL}"))
    }

    /// Refuses a run whose branches are there already, as an earlier one left them: their names would be taken.
    pub(in crate::coordinator) fn require_unused(&self) -> Result<()> {
        let name = format!("refs/heads/cleo/{}", self.run);
        let list = "for-each-ref --count=1 --format=%(refname:short)";
        match self.run(format!("{list} {name}"))?.as_str() {
            "" => Ok(()),
            branch => {
                let message =
                    format!("the branch {branch} is there already, which this run would need");
                let look = format!("git log --oneline {}", quote(branch));
                Err(Error::new(Code::InputInvalid, message).fix(look))
            }
        }
    }
}

/// Removes the probe worktrees of killed processes.
fn remove_old_probes(workspace: &Workspace, above: &Path) {
    for entry in fs::read_dir(above).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_left_behind = || open(&entry.path()).is_ok_and(|lock| lock.try_lock().is_ok());
        if name.starts_with(PROBE_FOLDER) && is_left_behind() {
            if let Ok(trees) = Trees::open(workspace, &entry.path(), &name, None) {
                let _ = trees.remove_worktree(&trees.tree(PROBE));
            }
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
