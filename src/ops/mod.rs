//! What cleo can do, for every face. Each function takes the [`Context`] and returns plain data.

pub(crate) mod agent_tasks;
pub(crate) mod agents;
pub(crate) mod answers;
pub(crate) mod api;
pub(crate) mod ask;
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
pub(crate) mod tasks;
pub(crate) mod tokens;
pub(crate) mod transfer;
pub(crate) mod trust;
pub(crate) mod undo;
pub(crate) mod work;
pub(crate) mod workers;
pub(crate) mod workspace;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use self::tokens::Scope;
use self::trust::Registrant;
use self::work::{Scenes, Tracks};
use crate::catalogue::{Catalogue, Places};
use crate::claim::Lease;
use crate::clock::Clock;
use crate::config::{CLAIMS_LEASE, GATES_TIME_LIMIT, Settings};
use crate::error::{Code, Error, Result, quote};
use crate::id::TaskId;
use crate::runner::agent::GateVariables;
use crate::session::SessionId;
use crate::store::sqlite::SqliteStore;
use crate::store::{Stamp, Store, Tasks};
use crate::task::Task;
use crate::tree::root_in_worktree;
use crate::workspace::Workspace;

/// What surrounds a command, gathered by the face that runs it.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    pub(crate) command: &'static str,
    pub(crate) directory: PathBuf,
    /// Root that the user named, if any.
    pub(crate) root: Option<PathBuf>,
    pub(crate) clock: Clock,
    /// Who calls: `CLEO_AGENT`, else user and host.
    pub(crate) actor: String,
    /// What the caller was given to do.
    pub(crate) assignment: Assignment,
    /// Whether work is judged in the workspace wherever the caller stands: for runs and servers, whose
    /// agents work there.
    pub(crate) judges_workspace: bool,
    /// The variables of the user that the commands of gates and criteria get.
    pub(crate) gate_variables: GateVariables,
    /// Folders of skills that the user named.
    pub(crate) skills_dirs: Vec<PathBuf>,
    pub(crate) home: Option<PathBuf>,
    /// The user's data folder (XDG).
    pub(crate) data_home: Option<PathBuf>,
    pub(crate) rights: Rights,
    pub(crate) defaults: Defaults,
    /// The settings, or what is wrong with them.
    pub(crate) settings: Arc<Result<Settings>>,
}

/// What the caller may do and see; on the command line everything.
#[derive(Clone, Debug)]
pub(crate) struct Rights {
    pub(crate) scope: Scope,
    /// The only user whose agents and runs the caller sees; `None` for everybody's.
    pub(crate) user: Option<String>,
    /// As what the caller registers workers.
    pub(crate) registrant: Registrant,
}

impl Default for Rights {
    fn default() -> Rights {
        Rights {
            scope: Scope::Admin,
            user: None,
            registrant: Registrant::User,
        }
    }
}

impl Rights {
    pub(crate) fn require(&self, scope: Scope) -> Result<()> {
        if self.scope >= scope {
            return Ok(());
        }
        let message = format!(
            "this needs a token with the scope `{scope}`; this one has `{}`",
            self.scope
        );
        let fix = format!("cleo serve token create --scope {scope}");
        Err(Error::new(Code::Forbidden, message).fix(fix))
    }
}

/// Values from the settings that requests leave out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Defaults {
    pub(crate) lease: Lease,
    /// How long the command of a gate or criterion may take.
    pub(crate) time_limit: Duration,
    /// Tokens that an orchestrator may use.
    pub(crate) context_tokens: usize,
    /// Whether workers that are registered over HTTP may be on this machine or around it.
    pub(crate) allow_private: bool,
}

impl Default for Defaults {
    fn default() -> Defaults {
        Defaults::from(&Settings::default())
    }
}

impl From<&Settings> for Defaults {
    fn from(settings: &Settings) -> Defaults {
        let lease = settings.number(CLAIMS_LEASE).and_then(Lease::of_seconds);
        Defaults {
            lease: lease.unwrap_or_default(),
            time_limit: Duration::from_secs(settings.number(GATES_TIME_LIMIT).unwrap_or(600)),
            context_tokens: orchestrator::limit(settings),
            allow_private: answers::allows_private(settings),
        }
    }
}

/// What the environment says of the caller's work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Assignment {
    /// The run that an agent was started by (`CLEO_RUN_ID`), or a command to judge by (`CLEO_JUDGE`), where that run is
    /// one of the workspace.
    pub(crate) run: Option<String>,
    /// The task that an agent was started for (`CLEO_TASK_ID`).
    pub(crate) task: Option<TaskId>,
    /// Epoch of the claim under which it works (`CLEO_EPOCH`).
    pub(crate) epoch: Option<u32>,
    /// The session that it works in (`CLEO_SESSION`).
    pub(crate) session: Option<SessionId>,
    /// The workspace in the git worktree that it works on the task in (`CLEO_WORKTREE`).
    pub(crate) worktree: Option<PathBuf>,
    /// The criteria that tasks had when a run claimed them: only those count in the run.
    pub(crate) criteria: Arc<BTreeMap<TaskId, Vec<String>>>,
    /// Whether the environment tells of somebody else: a command that is run for the caller is not to see it.
    pub(crate) is_foreign: bool,
}

impl Assignment {
    /// The variables that tell it.
    pub(crate) const VARIABLES: [&'static str; 8] = [
        "CLEO_JUDGE",
        "CLEO_RUN_ID",
        "CLEO_TASK_ID",
        "CLEO_EPOCH",
        "CLEO_MANIFEST_ID",
        "CLEO_OUTPUT_FILE",
        "CLEO_SESSION",
        "CLEO_WORKTREE",
    ];

    /// That of callers who are others than who started this process.
    pub(crate) fn foreign() -> Assignment {
        Assignment {
            is_foreign: true,
            ..Assignment::default()
        }
    }

    /// Returns true for an agent that a run started: what it adds is not the word of the user.
    pub(crate) fn is_agent(&self) -> bool {
        self.run.is_some() || self.task.is_some()
    }

    /// Refuses an agent of a run what only a person does.
    pub(crate) fn refuse_agent(&self, what: &str) -> Result<()> {
        match self.is_agent() {
            false => Ok(()),
            true => {
                let message = format!("an agent of a run {what}: that is for a person to do");
                Err(Error::new(Code::Untrusted, message))
            }
        }
    }

    /// Returns the criteria of a task that count: of one that a run claimed, those that it had then.
    pub(crate) fn criteria_of(&self, task: &Task) -> Vec<String> {
        let claimed = self.criteria.get(&task.id);
        claimed.unwrap_or(&task.acceptance).clone()
    }

    pub(crate) fn variables(&self) -> &'static [&'static str] {
        match self.is_foreign {
            true => &[],
            false => &Assignment::VARIABLES,
        }
    }
}

impl Surroundings {
    pub(crate) fn workspace(&self) -> Result<Workspace> {
        match &self.root {
            Some(root) => Workspace::at(&self.directory.join(root)),
            None => Workspace::find(&self.directory),
        }
    }

    pub(crate) fn settings(&self) -> Result<&Settings> {
        self.settings.as_ref().as_ref().map_err(Error::clone)
    }

    /// Returns the only user whose rows the caller sees; none: everybody's.
    pub(crate) fn only(&self) -> Option<&str> {
        self.rights.user.as_deref()
    }

    /// Says where skills are looked for; without a workspace only named, the user's and our own.
    pub(crate) fn places(&self, workspace: Option<&Workspace>) -> Places {
        Places {
            named: self
                .skills_dirs
                .iter()
                .map(|folder| self.directory.join(folder))
                .collect(),
            project: workspace.map(|workspace| workspace.root.clone()),
            home: self.home.clone(),
            data_home: self.data_home.clone(),
            except: None,
        }
    }

    /// Writes a file, which is shown relative to the project or to the home, so that a command of
    /// the caller finds it: relative to where the caller is, or in full.
    pub(crate) fn path_for_command(&self, workspace: Option<&Workspace>, shown: &str) -> String {
        let file = self.places(workspace).file(shown);
        let near = file.strip_prefix(&self.directory).ok();
        // What begins with a dash would be taken for an option.
        let is_plain = |path: &&str| !path.is_empty() && !path.starts_with('-');
        let near = near.and_then(Path::to_str).filter(is_plain);
        quote(near.unwrap_or(&file.to_string_lossy()))
    }
}

/// Runs and tasks as they were read last; that of a server outlives each call.
#[derive(Default)]
pub(crate) struct Cache {
    pub(crate) tracks: Mutex<Tracks>,
    pub(crate) scenes: Mutex<Scenes>,
}

pub(crate) struct Context {
    pub(crate) workspace: Workspace,
    pub(crate) surroundings: Surroundings,
    pub(crate) store: SqliteStore,
    pub(crate) cache: Arc<Cache>,
    /// The sections that outputs must have, once they have been read.
    sections: OnceCell<Vec<String>>,
    pub(crate) notes: Notes,
}

/// What an operation leaves for its caller beside the reply.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) warnings: Vec<String>,
    /// Number of the last operation that was committed.
    pub(crate) operation: Option<u64>,
    /// The error of a check that failed.
    pub(crate) failure: Option<Error>,
    /// Whether nothing was kept, because it was only to be tried.
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
            sections: OnceCell::new(),
            notes: Notes::default(),
        })
    }

    /// Returns the workspace whose files show what was done on a task: in the worktree that the caller was
    /// given for it, wherever the caller stands, else in the one that the caller stands in. What is brought
    /// home from there is judged again. It is an error when no tree of the workspace's repository is either.
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

    /// Returns the worktree that the caller was given for a task. One of another workspace says nothing of
    /// this one; one that is gone or was made into something else is refused.
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
                    "CLEO_WORKTREE is {}, which is no git worktree of the workspace {}",
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

    /// Refuses a caller who stands in a linked worktree and names no other root: agents would change the files of the
    /// main checkout.
    pub(crate) fn refuse_other_checkout(&self) -> Result<()> {
        let (here, root) = (&self.surroundings.directory, &self.workspace.root);
        let is_agent = Workspace::from(here.clone()).home_of_run().is_some();
        match root_in_worktree(root, here) {
            Ok(Some(tree)) if self.surroundings.root.is_none() && !is_agent => {
                let message = format!(
                    "agents would work in the checkout {}, not in the worktree {} where you stand",
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
        }
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
        let stamp = self.stamp();
        let mut transaction = self.store.write(&stamp)?;
        let (done, keep) = work(&mut *transaction)?;
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

    /// Runs `work` as [`Context::write`] does and leaves nothing behind: to show what it would do.
    pub(crate) fn rehearse<T>(
        &mut self,
        work: impl FnOnce(&mut dyn crate::store::Transaction) -> Result<T>,
    ) -> Result<T> {
        self.write_if(|transaction| work(transaction).map(|done| (done, false)))
    }

    /// Trusts the commands that the caller gave, and notes what could not be trusted.
    pub(crate) fn vouch(&mut self, items: &[trust::Item]) {
        let warnings = trust::vouch(&self.surroundings, &self.workspace, items);
        self.notes.warn(warnings);
    }

    /// Notes warnings for the caller, which are taken from where they are.
    pub(crate) fn warn(&mut self, warnings: &mut Vec<String>) {
        self.notes.warnings.append(warnings);
    }

    fn stamp(&self) -> Stamp {
        Stamp {
            command: self.surroundings.command,
            at: self.now(),
            by: self.surroundings.actor.clone(),
        }
    }

    pub(crate) fn now(&self) -> String {
        self.surroundings.clock.timestamp()
    }
}

/// Reads a task that must be there.
pub(crate) fn require(tasks: &dyn Tasks, id: TaskId) -> Result<Task> {
    tasks.task(id)?.ok_or_else(|| no_task(id))
}

/// The error for an id that is no task's.
pub(crate) fn no_task(id: TaskId) -> Error {
    Error::new(Code::TaskNotFound, format!("there is no task {id}")).fix("cleo list")
}
