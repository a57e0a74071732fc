//! Checks everything that cleo depends on: what is wrong, and how to fix it. Nothing
//! is changed but by the removal of what is damaged.

mod clients;
mod damage;
mod database;
mod files;

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use serde::{Deserialize, Serialize};

use self::clients::program;
use super::agents::{LeftOut, load_in};
use super::init::{self, Options};
use super::{Context, Notes, Surroundings};
use crate::agent_files::Client;
use crate::config::{LLM_BASE_URL, Settings};
use crate::error::{Code, Error, Result, quote};
use crate::llm::Model;
use crate::llm::client::no_key;
use crate::runner::agent::Runners;
use crate::runner::probe::{self, Probed};
use crate::tree;
use crate::workspace::Workspace;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) enum Status {
    /// As it should be.
    Ok,
    /// It works, and somebody should look at it.
    Warn,
    /// It is broken.
    Fail,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Finding {
    /// What was looked at, such as `database.integrity`.
    pub(crate) check: &'static str,
    pub(crate) status: Status,
    /// What was found. May hold text from strangers.
    pub(crate) message: String,
    /// A command that mends it or shows more, when something is wrong.
    pub(crate) fix: Option<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Examined {
    pub(crate) findings: Vec<Finding>,
    pub(crate) total: usize,
    /// How many only deserve a look.
    pub(crate) warned: usize,
    pub(crate) failed: usize,
}

impl Finding {
    fn ok(check: &'static str, message: impl Into<String>) -> Finding {
        Finding::new(check, Status::Ok, message.into(), None)
    }

    fn warn(check: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding::new(check, Status::Warn, message.into(), Some(fix.into()))
    }

    fn fail(check: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding::new(check, Status::Fail, message.into(), Some(fix.into()))
    }

    /// Makes a finding of an error: what it says, with its way out.
    fn from_error(check: &'static str, error: Error) -> Finding {
        // Doctor has just looked.
        let fix = error.fix.filter(|fix| !fix.ends_with("cleo doctor"));
        let fix = fix.unwrap_or(format!("cleo explain {}", error.code.name()));
        Finding::fail(check, error.message, fix)
    }

    fn new(check: &'static str, status: Status, message: String, fix: Option<String>) -> Finding {
        Finding {
            check,
            status,
            message,
            fix,
        }
    }
}

// What to do besides. A doc comment would become the help of the command.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Args, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Examination {
    /// First remove runs, events, conversations, messages and records of the chat that cannot be
    /// read, a run with its events and a conversation with its messages, and the note of lost commits
    #[arg(long)]
    #[serde(skip)]
    remove_damaged: bool,
}

/// Looks at everything, and notes what is broken as the failure.
pub(crate) fn examine(
    surroundings: &Surroundings,
    notes: &mut Notes,
    wanted: Examination,
) -> Result<Examined> {
    let mut findings = Vec::new();
    if wanted.remove_damaged {
        let assignment = &surroundings.assignment;
        assignment.refuse_agent("removes no damaged rows")?;
        findings = damage::remove(&surroundings.workspace()?)?;
    }
    findings.extend(look(surroundings));
    Ok(verdict(findings, notes))
}

fn look(surroundings: &Surroundings) -> Vec<Finding> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut runners = Runners::default();
    let mut findings = match surroundings.settings() {
        Ok(settings) => {
            let ok = Finding::ok("settings", "every layer can be read");
            let mut findings = vec![ok, look_at_model(settings)];
            match Runners::from(settings) {
                Ok(of_settings) => runners = of_settings,
                Err(error) => findings.push(Finding::from_error("runners", error)),
            }
            findings
        }
        Err(error) => vec![Finding::from_error("settings", error)],
    };
    match surroundings.workspace() {
        Ok(workspace) => {
            let around = Surroundings {
                root: Some(workspace.root.clone()),
                ..surroundings.clone()
            };
            findings.extend(files::look_at_folders(&workspace));
            findings.extend(database::look(surroundings, &workspace));
            findings.extend(damage::look(&workspace));
            findings.extend(files::skills(&around));
            findings.push(match Context::open(around.clone()) {
                Ok(mut context) => files::manifest(&mut context),
                Err(error) => Finding {
                    status: Status::Warn,
                    message: "it cannot be judged without the database".to_string(),
                    ..Finding::from_error("manifest", error)
                },
            });
            findings.extend(look_at_agent_files(&around, &workspace));
            findings.extend(check_left_out(&workspace));
            findings.push(look_at_git(&path, &workspace.root));
        }
        Err(error) => findings.push(Finding::from_error("workspace", error)),
    }
    findings.extend(clients::look(&path, &runners));
    findings
}

fn verdict(findings: Vec<Finding>, notes: &mut Notes) -> Examined {
    let number = |status| {
        findings
            .iter()
            .filter(|finding| finding.status == status)
            .count()
    };
    let (warned, failed) = (number(Status::Warn), number(Status::Fail));
    let first = findings
        .iter()
        .find(|finding| finding.status == Status::Fail);
    notes.failure = first.map(|first| {
        let others = match failed {
            1 => String::new(),
            n => format!(" (and {} more)", n - 1),
        };
        let message = format!("{}: {}{others}", first.check, first.message);
        let error = Error::new(Code::DoctorFound, message);
        match &first.fix {
            Some(fix) => error.fix(fix),
            None => error,
        }
    });
    Examined {
        total: findings.len(),
        warned,
        failed,
        findings,
    }
}

fn to_finding(check: &'static str, found: Result<Finding>) -> Finding {
    found.unwrap_or_else(|error| Finding::from_error(check, error))
}

/// How long git may take to say its version.
const LIMIT: Duration = Duration::from_secs(30);

/// Looks at git and at the repository of a workspace. Nothing else needs git, so a fault is a warning.
fn look_at_git(path: &OsStr, root: &Path) -> Finding {
    let check = "git";
    let Some(git) = program(path, "git") else {
        return Finding::ok(
            check,
            "git is not on the PATH; only `run --isolate worktree` needs it",
        );
    };
    let version = match probe::ask(&git, &["version"], path, LIMIT) {
        Probed::Said(text) => text.trim().to_string(),
        Probed::Failed(why) => {
            let message = format!("{} {why}", git.display());
            return Finding::warn(check, message, "git --version");
        }
    };
    match require(&version, root) {
        Ok(()) => Finding::ok(check, "git can make worktrees for runs"),
        Err(error) => {
            let fix = error.fix.unwrap_or_default();
            Finding::warn(check, error.message, fix)
        }
    }
}

fn require(version: &str, root: &Path) -> Result<()> {
    tree::require_git_version(version)?;
    match tree::commit(root, tree::RESERVED_BRANCH) {
        Ok(_) => Err(tree::refuse_branch()),
        Err(_) => Ok(()),
    }
}

const MODEL: &str = "model";

fn look_at_model(settings: &Settings) -> Finding {
    let model = match Model::from(settings) {
        Err(error) => return Finding::from_error(MODEL, error),
        Ok(None) => {
            let message = "none is configured; agents answer offline until llm.provider is set";
            return Finding::ok(MODEL, message);
        }
        Ok(Some(model)) => model,
    };
    let key = model.key_variable.as_deref();
    let key = key.map(|name| {
        (
            name,
            std::env::var_os(name).is_some_and(|key| !key.is_empty()),
        )
    });
    match key {
        Some((name, false)) if model.needs_key => {
            let error = no_key(&model, name);
            Finding::warn(MODEL, error.message, error.fix.unwrap_or_default())
        }
        Some((name, true)) if !model.is_safe() => {
            let server = &model.base_url;
            let message = format!("the key in {name} goes to {server} without encryption");
            Finding::warn(MODEL, message, format!("cleo config get {LLM_BASE_URL}"))
        }
        _ => {
            let name = model.name.as_deref().unwrap_or("each agent's own model");
            let (provider, server) = (model.provider.word(), &model.base_url);
            Finding::ok(
                MODEL,
                format!("{name} of {provider} at {server}; not asked"),
            )
        }
    }
}

fn look_at_agent_files(surroundings: &Surroundings, workspace: &Workspace) -> Vec<Finding> {
    let own_file = |client: &Client| match client {
        Client::Claude => ".claude/agents/cleo-subagent.md",
        Client::Codex => ".codex/agents/cleo-subagent.toml",
    };
    let there = Client::ALL
        .into_iter()
        .filter(|client| workspace.root.join(own_file(client)).exists());
    let findings: Vec<Finding> = there
        .map(|client| judge_client(surroundings, client))
        .collect();
    if findings.is_empty() {
        return vec![Finding::ok(
            "agents",
            "no agent files, which `cleo init --agents` would write",
        )];
    }
    findings
}

/// Looks at the files of agents that cannot be used: whoever is asked for one of theirs finds nobody.
fn check_left_out(workspace: &Workspace) -> Vec<Finding> {
    let finding = |file: LeftOut| {
        let path = workspace.root.join(&file.file);
        let fix = format!("cat {}", quote(&path.to_string_lossy()));
        Finding::warn("agents.files", file.why, fix)
    };
    // What is wrong with the store is told by the look at it.
    let known = load_in(workspace).unwrap_or_default();
    known.left_out.into_iter().map(finding).collect()
}

fn judge_client(surroundings: &Surroundings, client: Client) -> Finding {
    let check = "agents";
    let options = Options {
        agents: vec![client.into()],
        dry_run: true,
        ..Options::default()
    };
    let command = format!("cleo init --agents {}", client.name());
    let mut notes = Notes::default();
    match init::init(surroundings, &mut notes, options) {
        Err(error) => Finding::from_error(check, error),
        Ok(done) => match notes.failure {
            Some(refusal) => Finding::warn(check, refusal.message, format!("{command} --dry-run")),
            None if done.created.is_empty() && done.updated.is_empty() => Finding::ok(
                check,
                format!("the files for {} are up to date", client.name()),
            ),
            None => {
                let paths = [done.created, done.updated].concat().join(", ");
                Finding::warn(check, format!("missing or outdated: {paths}"), command)
            }
        },
    }
}
