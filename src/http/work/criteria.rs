//! Criteria of a task: taken at somebody's word, or shown to hold by their commands.

use serde::Deserialize;

use super::super::call::Call;
use super::super::extract::{Json, OptionalJson, StrictJson};
use super::super::route::Route;
use super::proofs::time_limit;
use super::{Done, change_task};
use crate::error::{Code, Error, Result};
use crate::ops::gates::{self, Extent, Given, Renewal, Renewed, TaskGates};
use crate::ops::tokens::Scope;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/api/work/tasks/{id}/accept", accept).about(
            "Takes somebody's word, and what else is given, for a criterion without a command",
        ),
        Route::post("/api/work/tasks/{id}/renew", renew)
            .about("Runs the commands of all criteria that are not proven, and again what is stale")
            .scope(Scope::Admin),
    ]
}

/// What to accept, and why.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Accepting {
    /// Who acts.
    agent: Option<String>,
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
    /// Remarks.
    #[serde(default)]
    notes: Vec<String>,
    /// Number of the claim.
    epoch: Option<u32>,
}

/// What to run.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Renewing {
    /// Who acts.
    agent: Option<String>,
    /// Only what is stale, of gates and criteria.
    stale_only: bool,
    /// Only the criterion with this number, also when it is proven.
    only: Option<usize>,
    /// How long each command may take, in seconds.
    time_limit: Option<u64>,
    /// Number of the claim.
    epoch: Option<u32>,
}

fn accept(call: &Call, StrictJson(body): StrictJson<Accepting>) -> Result<Json<Done<TaskGates>>> {
    let given = Given {
        commands: Vec::new(),
        files: body.files,
        commits: body.commits,
        urls: body.urls,
        notes: body.notes,
    };
    if given.is_empty() {
        let message = "say how it is known: `notes`, `files`, `commits` or `urls`";
        return Err(Error::new(Code::InputInvalid, message));
    }
    let (number, epoch) = (body.criterion, body.epoch);
    let accept = |context: &mut _, id| gates::accept(context, id, number, &given, epoch);
    let (mut result, operation) = change_task(call, "verify", body.agent.as_deref(), accept)?;
    let warnings = std::mem::take(&mut result.warnings);
    Ok(Done::reply(result, warnings, operation))
}

fn renew(call: &Call, OptionalJson(body): OptionalJson<Renewing>) -> Result<Json<Done<Renewed>>> {
    let renewal = Renewal {
        extent: match body.stale_only {
            true => Extent::Stale,
            false => Extent::Open,
        },
        only: body.only,
        bounds: time_limit(call, body.time_limit)?.into(),
        epoch: body.epoch,
    };
    let renew = |context: &mut _, id| gates::renew(context, id, &renewal, &mut |_| {});
    let (mut result, operation) = change_task(call, "verify", body.agent.as_deref(), renew)?;
    let warnings = std::mem::take(&mut result.standing.warnings);
    Ok(Done::reply(result, warnings, operation))
}
