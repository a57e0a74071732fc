//! Gates of a task, and what proves them.

use std::time::Duration;

use serde::Deserialize;

use super::super::call::Call;
use super::super::extract::{Json, StrictJson};
use super::super::route::Route;
use super::{Done, change_task, task};
use crate::error::{Code, Error, Result};
use crate::gate::Gate;
use crate::ops::Context;
use crate::ops::gates::{self, Given, Setting, TaskGates};
use crate::ops::tokens::Scope;
use crate::ops::trust::vouch;

/// Longest time that the command of a gate may take, in seconds.
const TIME_LIMIT_MAX: u64 = 86_400;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/work/tasks/{id}/gates", standing)
            .about("Shows gates, evidence and criteria of a task"),
        Route::post("/api/work/tasks/{id}/gates/{gate}", set)
            .about("Sets a gate; a command, which only admins may give, decides by how it ends"),
    ]
}

/// How to set a gate.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GateBody {
    /// Who acts.
    agent: Option<String>,
    /// What to set it to, without a command; true unless told.
    passed: Option<bool>,
    /// A command in words; no shell runs it.
    #[serde(default)]
    run: Vec<String>,
    /// Files to digest.
    #[serde(default)]
    files: Vec<String>,
    /// Revisions that git must know.
    #[serde(default)]
    commits: Vec<String>,
    /// Addresses of web pages.
    #[serde(default)]
    urls: Vec<String>,
    /// Remarks.
    #[serde(default)]
    notes: Vec<String>,
    /// Role of who sets it.
    role: Option<String>,
    /// Pass it although an earlier one is open.
    #[serde(default)]
    force: bool,
    /// Number of the claim.
    epoch: Option<u32>,
    /// How long the command may take, in seconds.
    time_limit: Option<u64>,
}

fn standing(call: &Call) -> Result<Json<TaskGates>> {
    let id = task(call)?;
    Ok(Json(gates::gates(&mut *call.context("verify")?, id)?))
}

pub(super) fn time_limit(call: &Call, seconds: Option<u64>) -> Result<Duration> {
    let usual = || call.server.surroundings.defaults.time_limit.as_secs();
    let seconds = seconds.unwrap_or_else(usual);
    if (1..=TIME_LIMIT_MAX).contains(&seconds) {
        return Ok(Duration::from_secs(seconds));
    }
    let message = format!("timeLimit is {seconds}; it can be 1 to {TIME_LIMIT_MAX} seconds");
    Err(Error::new(Code::InputInvalid, message))
}

fn set(call: &Call, StrictJson(body): StrictJson<GateBody>) -> Result<Json<Done<TaskGates>>> {
    let gate: Gate = call.part("gate").parse()?;
    let time_limit = time_limit(call, body.time_limit)?;
    if !body.run.is_empty() {
        call.require(Scope::Admin)?;
    }
    let commands = Some(body.run).filter(|words| !words.is_empty());
    let setting = Setting {
        gate,
        passed: body.passed.unwrap_or(true),
        given: Given {
            commands: commands.into_iter().collect(),
            files: body.files,
            commits: body.commits,
            urls: body.urls,
            notes: body.notes,
        },
        bounds: time_limit.into(),
        agent: body.role,
        force: body.force,
        epoch: body.epoch,
    };
    let set = |context: &mut Context, id| {
        let mut result = gates::set(context, id, &setting)?;
        let items = result.commands(gate);
        let mut warnings = std::mem::take(&mut result.warnings);
        warnings.extend(vouch(&context.surroundings, &context.workspace, &items));
        Ok((result, warnings))
    };
    let agent = body.agent.as_deref();
    let ((result, warnings), operation) = change_task(call, "verify", agent, set)?;
    Ok(Done::reply(result, warnings, operation))
}
