//! The operations of cleo, for every face. Each function takes the [`Context`] and returns plain data.

pub(crate) mod agent_tasks;
pub(crate) mod agents;
pub(crate) mod answers;
pub(crate) mod api;
pub(crate) mod chat;
pub(crate) mod config;
pub(crate) mod conversations;
pub(crate) mod doctor;
pub(crate) mod executions;
pub(crate) mod hook;
pub(crate) mod init;
pub(crate) mod log;
pub(crate) mod manifest;
pub(crate) mod operation;
pub(crate) mod orchestrator;
pub(crate) mod phases;
pub(crate) mod plans;
pub(crate) mod proof;
pub(crate) mod research;
pub(crate) mod review;
pub(crate) mod route;
pub(crate) mod runs;
pub(crate) mod sessions;
pub(crate) mod skills;
pub(crate) mod spawn;
pub(crate) mod suggest;
mod surroundings;
pub(crate) mod tasks;
pub(crate) mod tokens;
pub(crate) mod transfer;
pub(crate) mod trust;
pub(crate) mod undo;
pub(crate) mod work;
pub(crate) mod workers;
pub(crate) mod workspace;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

pub(crate) use self::surroundings::{
    Assignment, Defaults, Rights, Scope, Surroundings, checks_users,
};
use self::work::{Scenes, Tracks};
use crate::catalogue::Catalogue;
use crate::error::{Code, Error, Result, quote};
use crate::id::TaskId;
use crate::store::{Database, Store, Tasks};
use crate::task::Task;
use crate::tree::root_in_worktree;
use crate::workspace::Workspace;

/// Runs and tasks as they were read last; that of a server outlives each call.
#[derive(Default)]
pub(crate) struct Cache {
    pub(crate) tracks: Mutex<Tracks>,
    pub(crate) scenes: Mutex<Scenes>,
    /// Claims that wait; only a server has several at a time.
    pub(crate) claims: Option<tasks::ClaimGroups>,
}

pub(crate) struct Context {
    pub(crate) workspace: Workspace,
    pub(crate) surroundings: Surroundings,
    pub(crate) store: Database,
    pub(crate) cache: Arc<Cache>,
    /// A task, and the time of its last change that the caller read: a later one refuses the operation.
    pub(crate) expected: Option<(TaskId, String)>,
    /// Whether requests are only checked: nothing is committed.
    pub(crate) only_checks: bool,
    /// The required sections of outputs, once they are read.
    sections: OnceCell<Vec<String>>,
    pub(crate) notes: Notes,
}

/// The notes of an operation beside its reply.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) warnings: Vec<String>,
    /// Number of the last operation that was committed.
    pub(crate) operation: Option<u64>,
    /// The error of a check that failed.
    pub(crate) failure: Option<Error>,
    /// Whether nothing was written because it was a dry run.
    pub(crate) is_rehearsed: bool,
}

impl Notes {
    pub(crate) fn warn(&mut self, warnings: impl IntoIterator<Item = String>) {
        self.warnings.extend(warnings);
    }
}

impl Context {
    pub(crate) fn open(surroundings: Surroundings) -> Result<Context> {
        let workspace = surroundings.workspace()?;
        let store = workspace.open_store()?;
        Ok(Context {
            workspace,
            surroundings,
            store,
            cache: Arc::default(),
            expected: None,
            only_checks: false,
            sections: OnceCell::new(),
            notes: Notes::default(),
        })
    }

    /// Returns the workspace whose files prove the work on a task: in the worktree that the caller was given for
    /// it, else in the worktree of the working directory. After a merge the main workspace is judged again. Fails
    /// if neither belongs to the repository of the workspace.
    pub(crate) fn find_judged_workspace(&self, task: TaskId) -> Result<Workspace> {
        if self.surroundings.judges_workspace {
            return Ok(self.workspace.clone());
        }
        if let Some(given) = self.find_given_worktree(task)? {
            return Ok(given);
        }
        let here = &self.surroundings.directory;
        let tree = root_in_worktree(&self.workspace.root, here)?;
        Ok(tree.map_or_else(|| self.workspace.clone(), |tree| self.worktree(tree)))
    }

    /// Returns the worktree that the caller was given for a task, unless it belongs to another workspace. Refuses
    /// one that does not exist any more or was replaced.
    fn find_given_worktree(&self, task: TaskId) -> Result<Option<Workspace>> {
        let assigned = &self.surroundings.assignment;
        let is_for = assigned.task.is_none_or(|own| own == task);
        let Some(root) = assigned.worktree.as_ref().filter(|_| is_for) else {
            return Ok(None);
        };
        let real = |path: &Path| path.canonicalize().ok();
        let home = Workspace::from(root.clone()).home_of_run();
        if home.is_some_and(|home| real(&home.root) != real(&self.workspace.root)) {
            return Ok(None);
        }
        match root_in_worktree(&self.workspace.root, root)? {
            Some(tree) if real(root).as_ref() == Some(&tree) => Ok(Some(self.worktree(tree))),
            None if real(root).is_some() && real(root) == real(&self.workspace.root) => Ok(None),
            _ => {
                let message = format!(
                    "CLEO_WORKTREE is {}, which does not belong to the workspace {}",
                    root.display(),
                    self.workspace.root.display()
                );
                Err(Error::new(Code::TreeUnknown, message).fix("git worktree list"))
            }
        }
    }

    /// Returns the sections that outputs must have, by the protocols in reach.
    pub(crate) fn load_sections(&self) -> Result<&[String]> {
        if let Some(sections) = self.sections.get() {
            return Ok(sections);
        }
        let places = self.surroundings.places(Some(&self.workspace));
        let sections = Catalogue::load_past_base(&places)?.base.sections;
        Ok(self.sections.get_or_init(|| sections))
    }

    /// Refuses a working directory in a linked worktree unless the caller names a root: agents would change the
    /// files of the main checkout.
    pub(crate) fn refuse_other_checkout(&self) -> Result<()> {
        let (here, root) = (&self.surroundings.directory, &self.workspace.root);
        let is_agent = Workspace::from(here.clone()).home_of_run().is_some();
        match root_in_worktree(root, here) {
            Ok(Some(tree)) if self.surroundings.root.is_none() && !is_agent => {
                let message = format!(
                    "agents would work in the checkout {}, not in your worktree {}",
                    root.display(),
                    tree.display()
                );
                let fix = format!("cd {}", quote(&root.to_string_lossy()));
                Err(Error::new(Code::TreeUnknown, message).fix(fix))
            }
            _ => Ok(()),
        }
    }

    fn worktree(&self, root: PathBuf) -> Workspace {
        Workspace {
            root,
            main: Some(self.workspace.root.clone()),
            server: self.workspace.server.clone(),
            user: self.workspace.user.clone(),
        }
    }

    /// Returns the only user whose rows the caller sees; none: everybody's.
    pub(crate) fn visible_user(&self) -> Option<String> {
        self.surroundings.visible_user().map(String::from)
    }

    /// Runs `work` in a transaction that only reads.
    pub(crate) fn read<T>(
        &mut self,
        work: impl FnOnce(&dyn crate::store::Transaction) -> Result<T>,
    ) -> Result<T> {
        let transaction = self.store.read()?;
        work(&*transaction)
    }

    /// Runs `work` in a transaction that is committed only when `work` says so.
    pub(crate) fn write_if<T>(
        &mut self,
        work: impl FnOnce(&mut dyn crate::store::Transaction) -> Result<(T, bool)>,
    ) -> Result<T> {
        let stamp = self.surroundings.stamp();
        // It may verify, by commands that are trusted.
        if !stamp.command.starts_with("verify") {
            self.surroundings.assignment.refuse_verifier()?;
        }
        let mut transaction = self.store.write(&stamp)?;
        // The next write of the same operation finds its own change.
        if let Some((id, expected)) = self.expected.take() {
            let at = require(&*transaction, id)?.updated_at;
            if at != expected {
                let message = format!("{id} was changed at {at}, after {expected}");
                return Err(Error::new(Code::TaskChanged, message).fix(format!("cleo show {id}")));
            }
        }
        let (done, keep) = work(&mut *transaction)?;
        if self.only_checks {
            return Err(error!(Internal, "the request was only checked"));
        }
        if keep {
            let operation = transaction.commit()?;
            self.notes.operation = operation.or(self.notes.operation);
        }
        Ok(done)
    }

    /// Runs `work` in a transaction and commits it; an error leaves nothing behind.
    pub(crate) fn write<T>(
        &mut self,
        work: impl FnOnce(&mut dyn crate::store::Transaction) -> Result<T>,
    ) -> Result<T> {
        self.write_if(|transaction| work(transaction).map(|done| (done, true)))
    }

    /// Trusts the commands that the caller gave, and warns of those that could not be trusted.
    pub(crate) fn trust_given(&mut self, items: &[trust::Item]) {
        let warnings = trust::trust_given(&self.surroundings, &self.workspace, items);
        self.notes.warn(warnings);
    }

    pub(crate) fn move_warnings(&mut self, warnings: &mut Vec<String>) {
        self.notes.warnings.append(warnings);
    }

    pub(crate) fn now(&self) -> String {
        self.surroundings.clock.timestamp()
    }
}

/// Reads a task, or fails if there is none.
pub(crate) fn require(tasks: &dyn Tasks, id: TaskId) -> Result<Task> {
    tasks.task(id)?.ok_or_else(|| no_task(id))
}

pub(crate) fn no_task(id: TaskId) -> Error {
    Error::new(Code::TaskNotFound, format!("there is no task {id}")).fix("cleo list")
}
