//! Checks the installation and the workspace, with a fix for each problem. It only changes the store on
//! request, to repair it or to remove damaged rows.

mod clients;
mod damage;
mod database;
mod files;

use std::path::Path;
use std::time::Duration;

use clap::Args;
use serde::{Deserialize, Serialize};

use self::clients::find_program;
use super::agents::load_in;
use super::init::{self, Options};
use super::trust::{Trust, is_foreign};
use super::{Context, Notes, Surroundings};
use crate::agent_files::Client;
use crate::clock::timestamp;
use crate::config::{LLM_BASE_URL, LLM_PROVIDER, Settings};
use crate::error::{Error, Result, quote};
use crate::id::{self, TaskId};
use crate::llm::Model;
use crate::llm::client::no_key;
use crate::runner::agent::Runners;
use crate::runner::probe;
use crate::tree;
use crate::words::closed;
use crate::workspace::Workspace;

/// Time limit for each program that is asked for its version or help.
const PROBE_LIMIT: Duration = Duration::from_secs(30);

closed! {
    Status, "status of a check":
    /// No problem.
    Ok = "ok",
    /// It works, but needs attention.
    Warn = "warn",
    /// It is broken.
    Fail = "fail",
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Finding {
    /// The name of the check, such as `database.integrity`.
    pub(crate) check: &'static str,
    pub(crate) status: Status,
    /// The result of the check. May contain untrusted text.
    pub(crate) message: String,
    /// A command that fixes the problem or shows more of it.
    pub(crate) fix: Option<String>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Report {
    pub(crate) findings: Vec<Finding>,
    pub(crate) total: usize,
    pub(crate) warned: usize,
    pub(crate) failed: usize,
}

impl Finding {
    fn ok(check: &'static str, message: impl Into<String>) -> Finding {
        Finding {
            check,
            status: Status::Ok,
            message: message.into(),
            fix: None,
        }
    }

    fn warn(check: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding {
            status: Status::Warn,
            ..Finding::fail(check, message, fix)
        }
    }

    fn fail(check: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding {
            status: Status::Fail,
            fix: Some(fix.into()),
            ..Finding::ok(check, message)
        }
    }

    fn from_error(check: &'static str, error: Error) -> Finding {
        // A fix that runs doctor again shows nothing new.
        let fix = error.fix.filter(|fix| !fix.ends_with("cleo doctor"));
        let others = error.alternatives.into_iter().map(|other| other.command);
        let fix = fix.into_iter().chain(others).next();
        let fix = fix.unwrap_or(format!("cleo explain {}", error.code.name()));
        Finding::fail(check, error.message, fix)
    }

    fn warn_of(check: &'static str, error: Error) -> Finding {
        Finding {
            fix: error.fix,
            ..Finding::warn(check, error.message, "")
        }
    }
}

#[derive(Args, Default, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Checks {
    /// First remove unreadable runs, conversations and chat records, with their events and messages,
    /// and the note of lost commits
    #[arg(long)]
    #[serde(skip)]
    remove_damaged: bool,
    /// First make indexes, counts and words of the database anew; where pages are broken, save what
    /// can be read into a new file beside it; remove drafts of ended processes
    #[arg(long)]
    #[serde(skip)]
    fix: bool,
}

/// Runs all checks, and notes the first failed one as the failure.
pub(crate) fn examine(
    surroundings: &Surroundings,
    notes: &mut Notes,
    request: Checks,
) -> Result<Report> {
    let mut findings = Vec::new();
    let assignment = &surroundings.assignment;
    if request.fix {
        assignment.refuse_agent("repairs no database")?;
        let now = timestamp(surroundings.clock.now());
        let workspace = surroundings.workspace()?;
        findings = damage::repair(&workspace, &now)?;
        files::remove_leftovers(&workspace)?;
    }
    if request.remove_damaged {
        assignment.refuse_agent("removes no damaged rows")?;
        findings.extend(damage::remove(&surroundings.workspace()?)?);
    }
    let mut runners = Runners::default();
    match surroundings.settings() {
        Ok(settings) => {
            findings.push(Finding::ok("settings", "every layer can be read"));
            findings.push(check_model(settings));
            match Runners::from(settings) {
                Ok(of_settings) => runners = of_settings,
                Err(error) => findings.push(Finding::from_error("runners", error)),
            }
        }
        Err(error) => findings.push(Finding::from_error("settings", error)),
    }
    match surroundings.workspace() {
        Ok(workspace) => check_workspace(surroundings, &workspace, &mut findings),
        Err(error) => findings.push(Finding::from_error("workspace", error)),
    }
    findings.extend(clients::check(&runners));
    if request.fix {
        // It was just done, and says how to use what it saved.
        let again = ["cleo doctor --fix", "cleo explain E_STORE_CORRUPT"].map(Some);
        for finding in &mut findings {
            if again.contains(&finding.fix.as_deref()) {
                finding.fix = Some("cleo backup --help".to_string());
            }
        }
    }
    let count = |status| findings.iter().filter(|one| one.status == status).count();
    let (warned, failed) = (count(Status::Warn), count(Status::Fail));
    notes.failure = describe_failure(&findings, failed);
    Ok(Report {
        total: findings.len(),
        warned,
        failed,
        findings,
    })
}

fn describe_failure(findings: &[Finding], n_failed: usize) -> Option<Error> {
    let first = findings.iter().find(|one| one.status == Status::Fail)?;
    let others = match n_failed {
        1 => String::new(),
        n => format!(" (and {} more)", n - 1),
    };
    let error = error!(DoctorFound, "{}: {}{others}", first.check, first.message);
    Some(match &first.fix {
        Some(fix) => error.fix(fix),
        None => error,
    })
}

fn check_workspace(caller: &Surroundings, workspace: &Workspace, findings: &mut Vec<Finding>) {
    let surroundings = Surroundings {
        root: Some(workspace.root.clone()),
        ..caller.clone()
    };
    findings.extend(files::check_folders(workspace));
    findings.extend(database::check(caller, workspace));
    findings.extend(damage::check(workspace));
    findings.extend(files::check_skills(&surroundings));
    findings.push(match Context::open(surroundings.clone()) {
        Ok(mut context) => files::check_manifest(&mut context),
        Err(error) => Finding {
            status: Status::Warn,
            message: "it cannot be judged without the database".to_string(),
            ..Finding::from_error("manifest", error)
        },
    });
    findings.push(check_key(caller, workspace));
    findings.extend(check_proof(&surroundings).unwrap_or_default());
    findings.extend(check_agent_files(&surroundings, workspace));
    // The check of the database reports an error of the store.
    let agents = load_in(workspace).unwrap_or_default();
    findings.extend(agents.left_out.into_iter().map(|file| {
        let path = workspace.root.join(&file.file);
        let fix = format!("cat {}", quote(&path.to_string_lossy()));
        Finding::warn("agents.files", file.why, fix)
    }));
    findings.push(check_git(&workspace.root));
}

/// Checks the key of this user, without which nothing counts as verified.
fn check_key(surroundings: &Surroundings, workspace: &Workspace) -> Finding {
    let check = "evidence.key";
    match Trust::new(surroundings, workspace).load_key() {
        Ok(Some(_)) => Finding::ok(check, "the key for marks of evidence can be read"),
        Ok(None) => Finding::ok(check, "nothing was verified on this machine yet"),
        Err(error) => Finding::from_error(check, error),
    }
}

/// Finds outputs that were verified in another folder or for another user, as after a workspace was moved.
fn check_proof(surroundings: &Surroundings) -> Result<Option<Finding>> {
    let mut context = Context::open(surroundings.clone())?;
    let key = Trust::new(surroundings, &context.workspace).read_key();
    let mut foreign = context.read(|transaction| {
        let mut ids: Vec<TaskId> = transaction.nodes(None)?.iter().map(|it| it.id).collect();
        ids.sort_unstable();
        let spawned = transaction.spawn_verdicts(&ids)?.into_values();
        let foreign = spawned.filter(|it| is_foreign(key.as_ref(), it));
        Ok(Vec::from_iter(foreign.map(|it| it.task)))
    })?;
    foreign.sort_unstable();
    let tasks = id::list_first(&foreign, 5);
    let message = format!(
        "{tasks}: verified in another folder, or for another user; verify again to count it here"
    );
    Ok(foreign.first().map(|first| {
        Finding::warn(
            "evidence.marks",
            message,
            format!("cleo verify output {first}"),
        )
    }))
}

/// Checks git and the repository of a workspace. Only isolated runs need git, so a problem is a warning.
fn check_git(root: &Path) -> Finding {
    let check = "git";
    let Some(git) = find_program("git") else {
        let message = "git is not on the PATH; only `run --isolate worktree` needs it";
        return Finding::ok(check, message);
    };
    let version = match probe::probe_program(&git, &["version"], &clients::path(), PROBE_LIMIT) {
        Ok(text) => text.trim().to_string(),
        Err(why) => {
            let message = format!("{} {why}", git.display());
            return Finding::warn(check, message, "git --version");
        }
    };
    if let Err(error) = tree::require_git_version(&version) {
        return Finding::warn_of(check, error);
    }
    if tree::commit(root, tree::RESERVED_BRANCH).is_ok() {
        return Finding::warn_of(check, tree::refuse_branch());
    }
    Finding::ok(check, "git can make worktrees for runs")
}

fn check_model(settings: &Settings) -> Finding {
    let check = "model";
    let model = match Model::from(settings) {
        Err(error) => return Finding::from_error(check, error),
        Ok(None) => {
            let message = "none is configured; agents answer offline until OPENAI_API_KEY or llm.provider is set";
            return Finding::ok(check, message);
        }
        Ok(Some(model)) => model,
    };
    let has_key = |name: &str| std::env::var_os(name).is_some_and(|key| !key.is_empty());
    let server = &model.base_url;
    match model
        .key_variable
        .as_deref()
        .map(|name| (name, has_key(name)))
    {
        Some((name, false)) if model.needs_key => Finding::warn_of(check, no_key(&model, name)),
        Some((name, true)) if !model.is_safe() => {
            let message = format!("the key in {name} goes to {server} without encryption");
            Finding::warn(check, message, format!("cleo config get {LLM_BASE_URL}"))
        }
        _ => {
            let name = model.name.as_deref().unwrap_or("each agent's own model");
            let provider = model.provider.word();
            let chosen = match settings.variable(LLM_PROVIDER) {
                Some(variable) => format!(", chosen by {variable}"),
                None => String::new(),
            };
            let message = format!("{name} of {provider} at {server}{chosen}; not asked");
            Finding::ok(check, message)
        }
    }
}

fn check_agent_files(surroundings: &Surroundings, workspace: &Workspace) -> Vec<Finding> {
    let has_files = |client: &Client| {
        let file = match client {
            Client::Claude => ".claude/agents/cleo-subagent.md",
            Client::Codex => ".codex/agents/cleo-subagent.toml",
        };
        workspace.root.join(file).exists()
    };
    let clients = Client::ALL.iter().copied().filter(has_files);
    let mut findings: Vec<Finding> = clients
        .map(|client| check_client_files(surroundings, client))
        .collect();
    if findings.is_empty() {
        let message = "no agent files, which `cleo init --agents` would write";
        findings.push(Finding::ok("agents", message));
    }
    findings
}

fn check_client_files(surroundings: &Surroundings, client: Client) -> Finding {
    let (check, name) = ("agents", client.word());
    let options = Options {
        agents: vec![client.into()],
        dry_run: true,
        ..Options::default()
    };
    let command = format!("cleo init --agents {name}");
    let mut notes = Notes::default();
    let done = match init::init(surroundings, &mut notes, options) {
        Ok(done) => done,
        Err(error) => return Finding::from_error(check, error),
    };
    let paths = [done.created, done.updated].concat();
    match notes.failure {
        Some(refusal) => Finding::warn(check, refusal.message, format!("{command} --dry-run")),
        None if paths.is_empty() => {
            Finding::ok(check, format!("the files for {name} are up to date"))
        }
        None => {
            let message = format!("missing or outdated: {}", paths.join(", "));
            Finding::warn(check, message, command)
        }
    }
}
