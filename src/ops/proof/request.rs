//! Requests about gates and criteria.

use std::time::Duration;

use clap::{ArgGroup, Args};
use serde::Deserialize;

use super::standing::{TaskGates, gates};
use super::verify::{Requirement, Verification};
use crate::error::{Code, Error, Result};
use crate::gate::Gate;
use crate::id::TaskId;
use crate::ops::{Context, Scope};
#[cfg(feature = "schemas")]
use crate::task::schema;

/// Longest time that the command of a gate may take, in seconds.
const TIME_LIMIT_MAX: u64 = 86_400;

// The value of a gate, and its evidence. A doc comment would become the help of the command.
#[derive(Args, Default, Deserialize, schemars::JsonSchema)]
#[command(group(ArgGroup::new("evidence").multiple(true)))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct GateRequest {
    #[arg(skip)]
    #[serde(rename = "id")]
    pub(crate) task: TaskId,

    /// Gate to pass: implemented, testsPassed, qaPassed, cleanupDone, securityPassed, documented
    #[arg(
        long,
        value_name = "GATE",
        requires = "task",
        group = "subject",
        default_value = "",
        hide_default_value = true
    )]
    #[schemars(with = "Gate")]
    pub(crate) gate: String,

    /// Command that decides the gate, run without a shell; processes it leaves behind are stopped
    /// (repeat for more)
    #[arg(long, value_name = "COMMAND", requires = "gate", group = "runs")]
    #[schemars(description = "A command in words; no shell runs it.")]
    pub(crate) run: Vec<String>,

    /// Commands to run, in words, one after the other until one fails.
    #[arg(skip)]
    #[serde(skip)]
    pub(crate) commands: Vec<Vec<String>>,

    /// File whose digest is recorded as evidence (repeat for more)
    #[arg(
        long = "file",
        value_name = "PATH",
        requires = "subject",
        group = "evidence"
    )]
    pub(crate) files: Vec<String>,

    /// Existing commit, recorded as evidence (repeat for more)
    #[arg(
        long = "commit",
        value_name = "REVISION",
        requires = "subject",
        group = "evidence"
    )]
    #[schemars(inner(regex(pattern = schema::REVISION)))]
    pub(crate) commits: Vec<String>,

    /// URL, recorded as evidence and never opened (repeat for more)
    #[arg(
        long = "url",
        value_name = "URL",
        requires = "subject",
        group = "evidence"
    )]
    #[schemars(inner(length(max = 2_000), regex(pattern = schema::ADDRESS)))]
    pub(crate) urls: Vec<String>,

    /// Note, recorded as evidence (repeat for more)
    #[arg(
        long = "note",
        value_name = "TEXT",
        requires = "subject",
        group = "evidence"
    )]
    #[schemars(transform = schema::note)]
    pub(crate) notes: Vec<String>,

    /// State of the gate without a command [default: true]
    #[arg(
        long = "value",
        value_name = "BOOL",
        requires = "gate",
        conflicts_with = "run"
    )]
    pub(crate) passed: Option<bool>,

    /// Your role: planner, coder, testing, qa, cleanup, security or docs
    #[arg(long = "agent", value_name = "AGENT", requires = "gate")]
    #[schemars(extend("pattern" = schema::one_of(&crate::gate::AGENTS)))]
    pub(crate) role: Option<String>,

    /// Time limit of each command in seconds, at most a day [default: the setting gates.timeLimit,
    /// 600]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=TIME_LIMIT_MAX), requires = "runs")]
    #[schemars(range(min = 1, max = TIME_LIMIT_MAX))]
    pub(crate) time_limit: Option<u64>,

    /// Pass the gate although an earlier one is open (recorded in the log)
    #[arg(long, requires = "gate")]
    pub(crate) force: bool,

    /// Epoch of your claim (or CLEO_EPOCH); fails if the claim was lost
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) epoch: Option<u32>,
}

/// A criterion to accept, and why.
#[derive(Default, Deserialize, schemars::JsonSchema)]
#[schemars(transform = schema::require_one("anyOf", serde_json::json!({
        "notes": {"minItems": 1}, "files": {"minItems": 1}, "commits": {"minItems": 1}, "urls": {"minItems": 1},
    })))]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Acceptance {
    #[serde(rename = "id")]
    pub(crate) task: TaskId,
    /// Number of the criterion, from 1.
    #[schemars(range(min = 1))]
    pub(crate) criterion: usize,
    /// Files whose digests are recorded as evidence.
    pub(crate) files: Vec<String>,
    /// Existing commits, recorded as evidence.
    #[schemars(inner(regex(pattern = schema::REVISION)))]
    pub(crate) commits: Vec<String>,
    /// URLs, recorded as evidence and never opened.
    #[schemars(inner(length(max = 2_000), regex(pattern = schema::ADDRESS)))]
    pub(crate) urls: Vec<String>,
    /// Notes, recorded as evidence.
    #[schemars(transform = schema::note)]
    pub(crate) notes: Vec<String>,
    pub(crate) epoch: Option<u32>,
}

/// The gates and criteria to run again.
#[derive(Default, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct RenewalRequest {
    #[serde(rename = "id")]
    pub(crate) task: TaskId,
    /// Only what is stale, of gates and criteria.
    pub(crate) stale_only: bool,
    /// Only the criterion with this number, also when it is proven.
    #[schemars(range(min = 1))]
    pub(crate) only: Option<usize>,
    /// How long each command may take, in seconds.
    #[schemars(range(min = 1, max = TIME_LIMIT_MAX))]
    pub(crate) time_limit: Option<u64>,
    pub(crate) epoch: Option<u32>,
    /// Also criteria that are proven, and gates whose commands are trusted; others are the word of an agent.
    #[serde(skip)]
    pub(crate) all: bool,
    /// Takes precedence over the time limit.
    #[serde(skip)]
    pub(crate) limit: Option<Duration>,
}

/// Sets a gate to the result of its commands, or to what the caller says, and trusts the command that the caller
/// gave.
pub(crate) fn set_gate(context: &mut Context, mut request: GateRequest) -> Result<TaskGates> {
    context.surroundings.assignment.refuse_verifier()?;
    let run = std::mem::take(&mut request.run);
    let commands = &mut request.commands;
    commands.extend(Some(run).filter(|words| !words.is_empty()));
    if !commands.is_empty() {
        context.surroundings.rights.require(Scope::Admin)?;
    }
    // A corrected name would pass a gate as soon as it is pasted.
    let show = |error: Error| error.fix(format!("cleo verify {}", request.task));
    let gate = Gate::read(&request.gate).map_err(show)?;
    let verification = Verification {
        of: Requirement::Gate(gate),
        limit: bound(context, request.time_limit)?,
        request,
    };
    let result = verification.run(context)?;
    context.trust_given(&result.commands(gate));
    Ok(result)
}

/// Records a statement, and other evidence, for a criterion without a command.
pub(crate) fn accept_criterion(context: &mut Context, request: Acceptance) -> Result<TaskGates> {
    context.surroundings.assignment.refuse_verifier()?;
    let (task, number) = (request.task, request.criterion);
    let texts = [
        &request.files,
        &request.commits,
        &request.urls,
        &request.notes,
    ];
    if texts.iter().all(|texts| texts.is_empty()) {
        let message = "add how it is known: `notes`, `files`, `commits` or `urls`";
        return Err(Error::new(Code::InputInvalid, message));
    }
    let standing = gates(context, task)?;
    let one = standing.criterion(number)?;
    if one.command.is_some() {
        let message = format!("criterion {number} of {task} has a command, which decides");
        let run = format!("cleo verify {task} --only {number}");
        return Err(Error::new(Code::InputInvalid, message).fix(run));
    }
    let verification = Verification {
        of: Requirement::Criterion(Box::new(one.clone())),
        request: GateRequest {
            task,
            files: request.files,
            commits: request.commits,
            urls: request.urls,
            notes: request.notes,
            epoch: request.epoch,
            ..GateRequest::default()
        },
        limit: Duration::ZERO,
    };
    verification.run(context)
}

/// Returns how long a command may take, by default as the setting says.
pub(super) fn bound(context: &Context, seconds: Option<u64>) -> Result<Duration> {
    match seconds {
        None => Ok(context.surroundings.defaults.time_limit),
        Some(seconds @ 1..=TIME_LIMIT_MAX) => Ok(Duration::from_secs(seconds)),
        Some(seconds) => {
            let message =
                format!("timeLimit is {seconds}; it can be 1 to {TIME_LIMIT_MAX} seconds");
            Err(Error::new(Code::InputInvalid, message))
        }
    }
}
