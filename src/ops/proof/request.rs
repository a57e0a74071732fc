//! Requests about gates and criteria.

use std::time::Duration;

use clap::Args;
use serde::Deserialize;

use super::evidence::Given;
use super::prove::{Extent, Renewal, Renewed, Requirement, Showing, find_criterion, renew};
use super::standing::{TaskGates, gates};
use crate::error::{Code, Error, Result};
use crate::gate::Gate;
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::tokens::Scope;

/// Longest time that the command of a gate may take, in seconds.
const TIME_LIMIT_MAX: u64 = 86_400;

// What to set a gate to, and by what. A doc comment would become the help of the command.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Args, Default, Deserialize)]
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
    #[cfg_attr(feature = "schemas", schemars(with = "Gate"))]
    pub(crate) gate: String,

    /// Command that decides the gate, run without a shell; processes it leaves behind are stopped
    /// (repeat for more)
    #[arg(long, value_name = "COMMAND", requires = "gate", group = "runs")]
    #[cfg_attr(
        feature = "schemas",
        schemars(description = "A command in words; no shell runs it.")
    )]
    pub(crate) run: Vec<String>,

    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) given: Given,

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
    pub(crate) role: Option<String>,

    /// Time limit of each command in seconds, at most a day [default: the setting gates.timeLimit,
    /// 600]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=TIME_LIMIT_MAX), requires = "runs")]
    #[cfg_attr(feature = "schemas", schemars(range(min = 1, max = TIME_LIMIT_MAX)))]
    pub(crate) time_limit: Option<u64>,

    /// Pass the gate although an earlier one is open (recorded in the log)
    #[arg(long, requires = "gate")]
    pub(crate) force: bool,

    /// Epoch of your claim (or CLEO_EPOCH); fails if the claim was lost
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) epoch: Option<u32>,
}

/// A criterion to accept, and why.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Acceptance {
    #[serde(rename = "id")]
    pub(crate) task: TaskId,
    /// Number of the criterion, from 1.
    #[cfg_attr(feature = "schemas", schemars(range(min = 1)))]
    pub(crate) criterion: usize,
    #[serde(flatten)]
    pub(crate) given: Given,
    pub(crate) epoch: Option<u32>,
}

/// What to run again.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct RenewalRequest {
    #[serde(rename = "id")]
    pub(crate) task: TaskId,
    /// Only what is stale, of gates and criteria.
    pub(crate) stale_only: bool,
    /// Only the criterion with this number, also when it is proven.
    #[cfg_attr(feature = "schemas", schemars(range(min = 1)))]
    pub(crate) only: Option<usize>,
    /// How long each command may take, in seconds.
    #[cfg_attr(feature = "schemas", schemars(range(min = 1, max = TIME_LIMIT_MAX)))]
    pub(crate) time_limit: Option<u64>,
    pub(crate) epoch: Option<u32>,
}

/// Sets a gate to what its commands' result is, or to what the caller says, and trusts the command that the caller
/// gave. The reply says when a failure came after the last round.
pub(crate) fn set_gate(context: &mut Context, mut request: GateRequest) -> Result<TaskGates> {
    let run = std::mem::take(&mut request.run);
    let commands = &mut request.given.commands;
    commands.extend(Some(run).filter(|words| !words.is_empty()));
    if !commands.is_empty() {
        context.surroundings.rights.require(Scope::Admin)?;
    }
    // A right name in its place would pass a gate as soon as it is pasted.
    let shows = |error: Error| error.fix(format!("cleo verify {}", request.task));
    let gate = Gate::read(&request.gate).map_err(shows)?;
    let showing = Showing {
        of: Requirement::Gate(gate),
        bounds: time_limit(context, request.time_limit)?.into(),
        request,
    };
    let result = showing.carry_out(context)?;
    context.vouch(&result.commands(gate));
    Ok(result)
}

/// Takes somebody's word, and what else is given, for a criterion without a command.
pub(crate) fn accept_criterion(context: &mut Context, request: Acceptance) -> Result<TaskGates> {
    let (task, number) = (request.task, request.criterion);
    if request.given.is_empty() {
        let message = "add how it is known: `notes`, `files`, `commits` or `urls`";
        return Err(Error::new(Code::InputInvalid, message));
    }
    let standing = gates(context, task)?;
    let one = find_criterion(&standing, number)?;
    if one.command.is_some() {
        let message = format!("criterion {number} of {task} has a command, which decides");
        let run = format!("cleo verify {task} --only {number}");
        return Err(Error::new(Code::InputInvalid, message).fix(run));
    }
    let Acceptance { given, epoch, .. } = request;
    let showing = Showing {
        of: Requirement::Criterion(one.clone()),
        request: GateRequest {
            task,
            given,
            epoch,
            ..GateRequest::default()
        },
        bounds: Duration::ZERO.into(),
    };
    showing.carry_out(context)
}

/// Runs commands again; `begin` is told before what is done.
pub(crate) fn renew_proofs(
    context: &mut Context,
    request: RenewalRequest,
    begin: &mut dyn FnMut(&str),
) -> Result<Renewed> {
    let renewal = Renewal {
        extent: match request.stale_only {
            true => Extent::Stale,
            false => Extent::Open,
        },
        only: request.only,
        bounds: time_limit(context, request.time_limit)?.into(),
        epoch: request.epoch,
    };
    renew(context, request.task, &renewal, begin)
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
