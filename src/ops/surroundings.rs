//! The caller of an operation: its folder, rights, settings and assignment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::answers;
use super::trust::{Item, Registrant, Trust};
use crate::catalogue::Places;
use crate::claim::Lease;
use crate::clock::Clock;
use crate::config::{
    CLAIMS_LEASE, GATES_TIME_LIMIT, ORCHESTRATOR_CONTEXT_TOKENS, STORE_PASSWORD_ENV, STORE_URL,
    Settings, VERIFY_REQUIRED,
};
use crate::error::{Code, Error, Result, quote};
use crate::id::TaskId;
use crate::session::SessionId;
use crate::store::Stamp;
use crate::store::postgres::address::{Address, has_password};
use crate::task::Task;
use crate::task::rules::normalize_inside;
use crate::tree::root_in_worktree;
use crate::words::closed;
use crate::workspace::Workspace;

/// The environment of a command, gathered by the face that runs it.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    pub(crate) command: &'static str,
    pub(crate) directory: PathBuf,
    /// Root that the user named, if any.
    pub(crate) root: Option<PathBuf>,
    pub(crate) clock: Clock,
    /// The name of the caller: `CLEO_AGENT`, else user and host.
    pub(crate) actor: String,
    pub(crate) assignment: Assignment,
    /// Whether work is judged in the workspace and not in the working directory: for runs and servers.
    pub(crate) judges_workspace: bool,
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

closed! {
    /// Rights of a token; each scope includes the ones before it.
    Scope, "scope":
    Read = "read",
    /// Change what belongs to the caller or the workspace.
    Write = "write",
    /// Change what belongs to everybody, and see what belongs to others.
    Admin = "admin",
}

/// The operations and rows that the caller may use; on the command line all.
#[derive(Clone, Debug)]
pub(crate) struct Rights {
    pub(crate) scope: Scope,
    /// The only user whose agents and runs the caller sees; `None` for everybody's.
    pub(crate) user: Option<String>,
    /// The role in which the caller registers workers.
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
    /// Time limit for the command of a gate or criterion.
    pub(crate) time_limit: Duration,
    /// Tokens that an orchestrator may use.
    pub(crate) context_tokens: usize,
    /// Whether workers that are registered over HTTP may be on this machine or around it.
    pub(crate) allow_private: bool,
    /// Whether every task needs proof to be completed, not only one that was spawned.
    pub(crate) requires_proof: bool,
}

impl Default for Defaults {
    fn default() -> Defaults {
        Defaults::from(&Settings::default())
    }
}

impl From<&Settings> for Defaults {
    fn from(settings: &Settings) -> Defaults {
        let lease = settings.number(CLAIMS_LEASE).and_then(Lease::from_seconds);
        let tokens = settings.number(ORCHESTRATOR_CONTEXT_TOKENS);
        Defaults {
            lease: lease.unwrap_or_default(),
            time_limit: Duration::from_secs(settings.number(GATES_TIME_LIMIT).unwrap_or(600)),
            context_tokens: usize::try_from(tokens.unwrap_or(10_000)).unwrap_or(usize::MAX),
            allow_private: answers::allows_private(settings),
            requires_proof: settings.text(VERIFY_REQUIRED).as_deref() == Some("always"),
        }
    }
}

/// The work that the caller was started for, from the environment.
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
    /// Whether the environment belongs to another caller, so that commands may not inherit it.
    pub(crate) is_foreign: bool,
    /// Whether the caller is a command of a gate or criterion of the workspace (`CLEO_JUDGE` is its root): it may be
    /// anybody's code, and would change what it is to prove.
    pub(crate) is_verifier: bool,
}

impl Assignment {
    /// The variables that it is read from.
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

    /// Returns the assignment of a caller that did not start this process.
    pub(crate) fn for_caller() -> Assignment {
        Assignment {
            is_foreign: true,
            ..Assignment::default()
        }
    }

    /// Returns true for an agent that a run started, which has fewer rights than the user.
    pub(crate) fn is_agent(&self) -> bool {
        self.run.is_some() || self.task.is_some()
    }

    /// Refuses an action that only a person may take if the caller is an agent of a run.
    pub(crate) fn refuse_agent(&self, what: &str) -> Result<()> {
        let who = match (self.is_verifier, self.is_agent()) {
            (true, _) => "a command of a gate or criterion",
            (_, true) => "an agent of a run",
            _ => return Ok(()),
        };
        let message = format!("{who} {what}: that is for a person to do");
        Err(Error::new(Code::Untrusted, message))
    }

    /// Refuses a change by a command of a gate or criterion.
    pub(crate) fn refuse_verifier(&self) -> Result<()> {
        let message =
            "a command of a gate or criterion changes nothing in the workspace that it verifies";
        match self.is_verifier {
            true => Err(Error::new(Code::StatusRefused, message)),
            false => Ok(()),
        }
    }

    /// Returns the criteria of a task; of a claimed one those that it had when the run claimed it.
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

/// Reads an address, with the password of the variable that the user's settings name.
pub(crate) fn parse_address(settings: &Settings, url: &str) -> Result<Address> {
    let variable = settings.text(STORE_PASSWORD_ENV);
    let variable = variable.filter(|_| !settings.is_from_project(STORE_PASSWORD_ENV));
    Address::parse(url, variable.as_deref())
}

/// Refuses an address for a project's file that has a password: everybody with the project would know it.
pub(crate) fn refuse_password(url: &str) -> Result<()> {
    if !has_password(url) {
        return Ok(());
    }
    let message = format!(
        "{STORE_URL} of a project has a password, which everybody with the project could read; leave it out, \
         and set PGPASSWORD or write it into ~/.pgpass"
    );
    Err(Error::new(Code::ConfigInvalid, message))
}

/// Returns whether cleo itself keeps foreign rows from a caller. A test leaves that to row-level security alone.
pub(crate) fn checks_users() -> bool {
    cfg!(not(feature = "faults")) || std::env::var_os("CLEO_UNCHECKED_USERS").is_none()
}

impl Surroundings {
    pub(crate) fn workspace(&self) -> Result<Workspace> {
        let mut workspace = match &self.root {
            Some(root) => Workspace::at(&self.directory.join(root)),
            None => Workspace::find(&self.directory),
        }?;
        workspace.server = self.find_server(&workspace);
        workspace.user = self.rights.user.as_deref().map(Arc::from);
        Ok(workspace)
    }

    /// Returns the address of the database on a server, if the settings name one, or why it cannot be used.
    pub(crate) fn find_server(&self, workspace: &Workspace) -> Option<Arc<Result<Address>>> {
        let settings = match self.settings() {
            Ok(settings) => settings,
            // The address would be one of the settings.
            Err(error) if workspace.is_on_server() => return Some(Arc::new(Err(error))),
            Err(_) => return None,
        };
        let url = settings.text(STORE_URL)?;
        Some(Arc::new(self.read_address(workspace, settings, &url)))
    }

    fn read_address(
        &self,
        workspace: &Workspace,
        settings: &Settings,
        url: &str,
    ) -> Result<Address> {
        if settings.is_from_project(STORE_URL) {
            refuse_password(url)?;
            Trust::new(self, workspace).require(&Item::store(settings))?;
        }
        parse_address(settings, url)
    }

    /// Makes paths that count from the current folder count from the root. A path that leads out is refused
    /// later.
    pub(crate) fn count_from_root<'a>(&self, paths: impl Iterator<Item = &'a mut String>) {
        let here = self.directory.canonicalize().unwrap_or_default();
        let root = self
            .workspace()
            .ok()
            .and_then(|it| it.root.canonicalize().ok());
        // A linked worktree has the files of the workspace at the same places.
        let tree = root.as_deref().map(|root| root_in_worktree(root, &here));
        let root = tree.and_then(|tree| tree.ok().flatten()).or(root);
        let Some(below) = root.and_then(|root| here.strip_prefix(root).ok().map(Path::to_path_buf))
        else {
            return;
        };
        for path in paths.filter(|path| !path.trim().is_empty()) {
            let whole = below.join(path.trim()).to_string_lossy().into_owned();
            *path = normalize_inside(&whole).unwrap_or(whole);
        }
    }

    pub(crate) fn settings(&self) -> Result<&Settings> {
        self.settings.as_ref().as_ref().map_err(Error::clone)
    }

    pub(crate) fn stamp(&self) -> Stamp {
        Stamp {
            command: self.command,
            at: self.clock.timestamp(),
            by: self.actor.clone(),
        }
    }

    /// Returns the only user whose rows the caller sees; none: everybody's.
    pub(crate) fn visible_user(&self) -> Option<&str> {
        self.rights.user.as_deref().filter(|_| checks_users())
    }

    /// Returns the folders of skills; without a workspace only those that were named, the user's and the embedded ones.
    pub(crate) fn places(&self, workspace: Option<&Workspace>) -> Places {
        let named = self.skills_dirs.iter();
        Places {
            named: named.map(|folder| self.directory.join(folder)).collect(),
            project: workspace.map(|workspace| workspace.root.clone()),
            home: self.home.clone(),
            data_home: self.data_home.clone(),
            except: None,
        }
    }

    /// Writes a file, which is shown relative to the project or to the home, so that a command of
    /// the caller finds it: relative to where the caller is, or in full.
    pub(crate) fn path_for_command(&self, workspace: Option<&Workspace>, shown: &str) -> String {
        let file = self.places(workspace).resolve(shown);
        let near = file.strip_prefix(&self.directory).ok();
        // A path that begins with a dash would be read as an option.
        let is_plain = |path: &&str| !path.is_empty() && !path.starts_with('-');
        let near = near.and_then(Path::to_str).filter(is_plain);
        quote(near.unwrap_or(&file.to_string_lossy()))
    }
}
