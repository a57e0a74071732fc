//! Requests about gates and criteria, for faces without options of their own for them.

use std::time::Duration;

use serde::Deserialize;

use super::{Extent, Given, Renewal, Renewed, Setting, TaskGates};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::tokens::Scope;

/// Longest time that the command of a gate may take, in seconds.
const TIME_LIMIT_MAX: u64 = 86_400;

/// What to set a gate to, and by what.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct GateRequest {
    #[serde(rename = "id")]
    task: TaskId,
    gate: String,
    /// The value without a command; true by default.
    passed: Option<bool>,
    /// A command in words; no shell runs it.
    run: Vec<String>,
    /// Files to digest.
    files: Vec<String>,
    /// Revisions that git must know.
    commits: Vec<String>,
    /// Addresses of web pages.
    urls: Vec<String>,
    notes: Vec<String>,
    /// Role of the caller.
    role: Option<String>,
    /// Pass it although an earlier one is open.
    force: bool,
    epoch: Option<u32>,
    /// How long the command may take, in seconds.
    time_limit: Option<u64>,
}

/// A criterion to accept, and why.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Acceptance {
    #[serde(rename = "id")]
    task: TaskId,
    /// Number of the criterion, from 1.
    criterion: usize,
    /// Files to digest.
    #[serde(default)]
    files: Vec<String>,
    /// Revisions that git must know.
    #[serde(default)]
    commits: Vec<String>,
    /// Addresses of web pages.
    #[serde(default)]
    urls: Vec<String>,
    #[serde(default)]
    notes: Vec<String>,
    epoch: Option<u32>,
}

/// What to run again.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct RenewalRequest {
    #[serde(rename = "id")]
    task: TaskId,
    /// Only what is stale, of gates and criteria.
    stale_only: bool,
    /// Only the criterion with this number, also when it is proven.
    only: Option<usize>,
    /// How long each command may take, in seconds.
    time_limit: Option<u64>,
    epoch: Option<u32>,
}

/// Sets a gate, and trusts the command that the caller gave.
pub(crate) fn set_gate(context: &mut Context, request: GateRequest) -> Result<TaskGates> {
    let gate = request.gate.parse()?;
    let time_limit = time_limit(context, request.time_limit)?;
    if !request.run.is_empty() {
        context.surroundings.rights.require(Scope::Admin)?;
    }
    let setting = Setting {
        gate,
        passed: request.passed.unwrap_or(true),
        given: Given {
            commands: Vec::from_iter(Some(request.run).filter(|words| !words.is_empty())),
            files: request.files,
            commits: request.commits,
            urls: request.urls,
            notes: request.notes,
        },
        bounds: time_limit.into(),
        agent: request.role,
        force: request.force,
        epoch: request.epoch,
    };
    let result = super::set(context, request.task, &setting)?;
    context.vouch(&result.commands(gate));
    Ok(result)
}

pub(crate) fn accept_criterion(context: &mut Context, request: Acceptance) -> Result<TaskGates> {
    let given = Given {
        commands: Vec::new(),
        files: request.files,
        commits: request.commits,
        urls: request.urls,
        notes: request.notes,
    };
    if given.is_empty() {
        let message = "add how it is known: `notes`, `files`, `commits` or `urls`";
        return Err(Error::new(Code::InputInvalid, message));
    }
    let (number, epoch) = (request.criterion, request.epoch);
    super::accept(context, request.task, number, &given, epoch)
}

pub(crate) fn renew_proofs(context: &mut Context, request: RenewalRequest) -> Result<Renewed> {
    let renewal = Renewal {
        extent: match request.stale_only {
            true => Extent::Stale,
            false => Extent::Open,
        },
        only: request.only,
        bounds: time_limit(context, request.time_limit)?.into(),
        epoch: request.epoch,
    };
    super::renew(context, request.task, &renewal, &mut |_| {})
}

fn time_limit(context: &Context, seconds: Option<u64>) -> Result<Duration> {
    let Some(seconds) = seconds else {
        return Ok(context.surroundings.defaults.time_limit);
    };
    if (1..=TIME_LIMIT_MAX).contains(&seconds) {
        return Ok(Duration::from_secs(seconds));
    }
    let message = format!("timeLimit is {seconds}; it can be 1 to {TIME_LIMIT_MAX} seconds");
    Err(Error::new(Code::InputInvalid, message))
}
