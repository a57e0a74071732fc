//! Creates a workspace, and the files that tell agents about it: all of them or none.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::config;
use super::surroundings::{parse_address, refuse_password};
use super::trust::{Item, list_client_items, trust_given};
use super::{Notes, Surroundings};
use crate::agent_files::{self, Client};
use crate::catalogue::list_known_protocols;
use crate::config::STORE_URL;
use crate::error::{Code, Error, Result, quote};
use crate::file::{self, unwritable, write_whole};
use crate::workspace::Workspace;

/// Maximum size of a file of a project, in bytes.
const FILE_MAX: u64 = 16 << 20;

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Options {
    /// Also write instruction files for these agents, separated by commas
    #[arg(long, value_name = "AGENT", value_delimiter = ',')]
    pub(crate) agents: Vec<Agents>,

    /// Also add hooks to their settings, so that no agent ends before its work verifies
    #[arg(long, requires = "agents")]
    pub(crate) hooks: bool,

    /// Overwrite agent files that were edited
    #[arg(long, requires = "agents")]
    pub(crate) force: bool,

    /// Keep the tasks in a database of this PostgreSQL server: postgres://USER@HOST:PORT/DATABASE
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,

    /// Show what would be written
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Agents {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// All of them
    All,
}

impl From<Client> for Agents {
    fn from(client: Client) -> Agents {
        match client {
            Client::Claude => Agents::Claude,
            Client::Codex => Agents::Codex,
        }
    }
}

impl Options {
    fn clients(&self) -> Vec<Client> {
        let is_wanted = |client: &Client| {
            self.agents.contains(&Agents::All) || self.agents.contains(&Agents::from(*client))
        };
        Client::ALL.iter().copied().filter(is_wanted).collect()
    }
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Initialized {
    pub(crate) root: String,
    /// New files, relative to the folder.
    pub(crate) created: Vec<String>,
    /// Files that existed and are changed.
    pub(crate) updated: Vec<String>,
    /// Agent files that are up to date.
    pub(crate) unchanged: Vec<String>,
    /// True if nothing was written.
    pub(crate) dry_run: bool,
}

/// Creates a workspace and the files of agents. A dry run notes a refusal as the failure.
pub(crate) fn init(
    surroundings: &Surroundings,
    notes: &mut Notes,
    options: Options,
) -> Result<Initialized> {
    let root = match &surroundings.root {
        Some(root) => surroundings.directory.join(root),
        None => surroundings.directory.clone(),
    };
    // Fails before writing if this program cannot use the database.
    let mut workspace = Workspace::from(root.clone());
    workspace.server = match &options.store {
        Some(url) => {
            refuse_password(url)?;
            let address = parse_address(surroundings.settings()?, url)?;
            Some(Arc::new(Ok(address)))
        }
        None => surroundings.find_server(&workspace),
    };
    if options.store.is_some() && workspace.database().exists() {
        let message = format!("{} has a database in a file", root.display());
        return Err(Error::new(Code::Exists, message).fix("cleo store copy --help"));
    }
    if workspace.store_if_there()?.is_none()
        && let Ok(around) = Workspace::find(&root)
        && around.root != root
    {
        let (inner, outer) = (root.display(), around.root.display());
        let warning =
            format!("{inner} belongs to the workspace {outer}: a second one has other tasks");
        notes.warn([warning]);
    }
    let clients = options.clients();
    let planned = plan_files(&root, &clients, options.hooks)?;
    let refusal = refuse_changed_files(&planned, &options);
    let created = match (options.dry_run, refusal) {
        (true, refusal) => {
            notes.failure = refusal;
            workspace.missing()
        }
        (false, Some(refusal)) => return Err(refusal),
        (false, None) => {
            let mut created = workspace.create_missing()?;
            write_all(&planned)?;
            if let Some(url) = &options.store {
                created.extend(note_store(surroundings, notes, &workspace, url)?);
            }
            // There may be commands of somebody else in settings that were there.
            let mut items = list_client_items(&workspace.root, None);
            let new = |file: &&Planned| file.there.is_none();
            items.retain(|item| {
                planned
                    .iter()
                    .filter(new)
                    .any(|file| file.path == item.name)
            });
            notes.warn(trust_given(surroundings, &workspace, &items));
            created
        }
    };
    let mut done = Initialized {
        root: root.to_string_lossy().into_owned(),
        created,
        updated: Vec::new(),
        unchanged: Vec::new(),
        dry_run: options.dry_run,
    };
    for file in planned {
        let list = match &file.there {
            None => &mut done.created,
            Some(_) if file.changes() => &mut done.updated,
            Some(_) => &mut done.unchanged,
        };
        list.push(file.path.to_string());
    }
    Ok(done)
}

/// Writes the address into the project's file, and trusts it: the user gave it. Returns the file if it is new.
fn note_store(
    surroundings: &Surroundings,
    notes: &mut Notes,
    workspace: &Workspace,
    url: &str,
) -> Result<Option<String>> {
    let file = ".cleo/config.yaml";
    let is_new = !workspace.root.join(file).exists();
    let files = config::Files {
        workspace: Some(workspace.root.clone()),
        config_home: None,
    };
    config::set(&files, STORE_URL, url, false)?;
    let item = Item::setting(STORE_URL, url);
    notes.warn(trust_given(surroundings, workspace, &[item]));
    Ok(is_new.then(|| file.to_string()))
}

struct Planned {
    path: &'static str,
    target: PathBuf,
    there: Option<String>,
    text: String,
    holds_changes: bool,
}

impl Planned {
    fn changes(&self) -> bool {
        self.there.as_deref() != Some(&self.text)
    }
}

fn plan_files(root: &Path, clients: &[Client], with_hooks: bool) -> Result<Vec<Planned>> {
    if clients.is_empty() {
        return Ok(Vec::new());
    }
    let Some(base) = list_known_protocols()?.into_iter().next() else {
        return Err(Error::new(
            Code::Internal,
            "the program carries no base protocol",
        ));
    };
    let mut planned: Vec<Planned> = Vec::new();
    let mut files = agent_files::make_files(clients, &base.text)?;
    if with_hooks {
        files.extend(agent_files::hook_files(clients));
    }
    for file in files {
        let target = target(root, file.path)?;
        let there = read(&target)?;
        // If AGENTS.md or CLAUDE.md is a link to the other, its text is planned once.
        let is_known = planned.iter().any(|other| other.target == target);
        let outcome = file.update_text(there.as_deref().unwrap_or_default());
        let outcome = outcome.map_err(|why| no_settings(&target, &why, clients))?;
        let text = if is_known { there.clone() } else { None };
        planned.push(Planned {
            path: file.path,
            target,
            text: text.unwrap_or(outcome.text),
            holds_changes: outcome.holds_changes && !is_known,
            there,
        });
    }
    Ok(planned)
}

/// Returns the error for a settings file that cannot take hooks.
fn no_settings(path: &Path, why: &str, clients: &[Client]) -> Error {
    let message = format!(
        "hooks cannot be added to {}: {why}; nothing was written",
        path.display()
    );
    let shown = quote(&path.to_string_lossy());
    let names: Vec<&str> = clients.iter().map(|client| client.word()).collect();
    Error::new(Code::InputInvalid, message)
        .fix(format!("cleo init --agents {}", names.join(",")))
        .or("look at the file", format!("cat {shown}"))
}

/// Finds the file to write: behind a link that stays inside, so that the link itself stays.
fn target(root: &Path, relative: &str) -> Result<PathBuf> {
    if !root.exists() {
        return Ok(root.join(relative));
    }
    let workspace = Workspace::from(root.to_path_buf());
    let path = workspace.confine(relative)?;
    Ok(fs::canonicalize(&path).unwrap_or(path))
}

fn read(path: &Path) -> Result<Option<String>> {
    if !path.exists() {
        return Ok(None);
    }
    let bytes = file::read(path, FILE_MAX)?;
    String::from_utf8(bytes).map(Some).map_err(|cause| {
        let message = format!("{} is not valid UTF-8: {cause}", path.display());
        Error::new(Code::FileUnreadable, message)
    })
}

fn refuse_changed_files(planned: &[Planned], options: &Options) -> Option<Error> {
    let changed = planned.iter().filter(|file| file.holds_changes);
    let changed: Vec<&str> = changed.map(|file| file.path).collect();
    if options.force || changed.is_empty() {
        return None;
    }
    let message = format!(
        "changed files would be overwritten: {}; nothing was written; --force overwrites them",
        changed.join(", ")
    );
    Some(Error::new(Code::FileChanged, message))
}

/// Writes the files; if one fails, restores those before it.
fn write_all(planned: &[Planned]) -> Result<()> {
    let mut done: Vec<(&Planned, Vec<PathBuf>)> = Vec::new();
    for file in planned.iter().filter(|file| file.changes()) {
        let above = file.target.ancestors().skip(1);
        let missing = above.take_while(|folder| !folder.exists());
        let folders: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
        let written = write_whole(&file.target, &file.text);
        done.push((file, folders));
        if let Err(error) = written {
            done.iter()
                .rev()
                .for_each(|(file, folders)| restore_file(file, folders));
            return Err(error);
        }
    }
    Ok(())
}

/// Restores a file and removes its new folders, ignoring errors: the first error is reported.
fn restore_file(file: &Planned, folders: &[PathBuf]) {
    let _ = match &file.there {
        Some(text) => write_whole(&file.target, text),
        None => fs::remove_file(&file.target).map_err(|cause| unwritable(&file.target, cause)),
    };
    for folder in folders {
        let _ = fs::remove_dir(folder);
    }
}
