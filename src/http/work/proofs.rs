//! The skill, the prompt and the receipt of a task; what its agent left; gates and evidence.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::call::Call;
use super::super::extract::{Json, OptionalJson, Query, StrictJson, Verdict};
use super::super::route::Route;
use super::{Done, Warned, change_task, context_as, task};
use crate::dispatch::Decision;
use crate::error::{Code, Error, Result};
use crate::gate::Gate;
use crate::ops::Context;
use crate::ops::gates::{self, Given, Setting, TaskGates};
use crate::ops::skills;
use crate::ops::spawn::{self, Options, Spawned, Why};
use crate::ops::tokens::Scope;
use crate::ops::trust::vouch;
use crate::ops::verify::{self, OutputVerdict};
use crate::ops::work::{self, Left};

/// Longest time that the command of a gate may take, in seconds.
const TIME_LIMIT_MAX: u64 = 86_400;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/work/tasks/{id}/dispatch", dispatch)
            .about("Shows which skill a task gets, and why no other"),
        Route::get("/api/work/tasks/{id}/prompt", prompt)
            .about("Shows the prompt that a task would get; records nothing"),
        Route::post("/api/work/tasks/{id}/spawn", spawned)
            .about("Prepares the prompt of a task and records its receipt"),
        Route::get("/api/work/tasks/{id}/why", why)
            .about("Replays the receipt of a task and says what differs"),
        Route::get("/api/work/tasks/{id}/manifest", manifest).about(
            "Shows what the agent of a task left, and what is wrong with it; records nothing",
        ),
        Route::get("/api/work/tasks/{id}/gates", standing)
            .about("Shows gates, evidence and criteria of a task"),
        Route::post("/api/work/tasks/{id}/gates/{gate}", set)
            .about("Sets a gate; a command, which only admins may give, decides by how it ends"),
        Route::post("/api/work/tasks/{id}/verify", checked)
            .about("Checks what the agent of a task left, and records what was found")
            .answers::<Refused>(422),
    ]
}

/// Which skill to use.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Template {
    /// This skill instead of the one that dispatch finds.
    template: Option<String>,
}

/// Under which claim.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Epoch {
    /// Who acts.
    agent: Option<String>,
    /// Number of the claim.
    epoch: Option<u32>,
}

/// A check that failed.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
struct Refused {
    result: OutputVerdict,
    error: serde_json::Value,
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

fn dispatch(call: &Call, Query(query): Query<Template>) -> Result<Json<Warned<Decision>>> {
    let id = task(call)?;
    let context = &mut *call.context("skills.dispatch")?;
    let template = query.template.as_deref();
    let (result, warnings) = skills::dispatch_task(context, id, template, true)?;
    Ok(Json(Warned { result, warnings }))
}

fn prompt(call: &Call, Query(query): Query<Template>) -> Result<Json<Warned<Spawned>>> {
    let id = task(call)?;
    let options = Options {
        template: query.template,
        dry_run: true,
        ..Options::default()
    };
    let mut result = spawn::spawn(&mut *call.context("spawn")?, id, &options)?;
    let warnings = std::mem::take(&mut result.warnings);
    Ok(Json(Warned { result, warnings }))
}

fn spawned(
    call: &Call,
    OptionalJson(options): OptionalJson<Options>,
) -> Result<Json<Done<Spawned>>> {
    let prepare = |context: &mut _, id| spawn::spawn(context, id, &options);
    let (mut result, operation) = change_task(call, "spawn", options.agent.as_deref(), prepare)?;
    let warnings = std::mem::take(&mut result.warnings);
    Ok(Done::reply(result, warnings, operation))
}

fn why(call: &Call) -> Result<Json<Why>> {
    let id = task(call)?;
    Ok(Json(spawn::why(&mut *call.context("why")?, id)?))
}

fn manifest(call: &Call) -> Result<Json<Left>> {
    let id = task(call)?;
    Ok(Json(work::left(&mut *call.context("verify.output")?, id)?))
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

fn checked(call: &Call, OptionalJson(body): OptionalJson<Epoch>) -> Result<Verdict<OutputVerdict>> {
    let id = task(call)?;
    let context = &mut *context_as(call, "verify.output", body.agent.as_deref())?;
    let verdict = verify::output(context, id, body.epoch)?;
    let error = verdict.verdict.error(&id.to_string());
    Ok(Verdict(verdict, error))
}
