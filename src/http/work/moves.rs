//! What is done with a task: started, completed, claimed, released, undone.

use serde::Deserialize;

use super::super::call::Call;
use super::super::extract::{Json, OptionalJson, StrictJson};
use super::super::route::Route;
use super::{Done, Warned, change_task, context_as};
use crate::claim::Lease;
use crate::config::CLAIMS_LEASE;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::claims::{self, Claimed};
use crate::ops::complete::complete as complete_task;
use crate::ops::tasks::{self, Moved};
use crate::ops::undo::{self, Undone};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/api/work/tasks/{id}/start", start)
            .about("Starts the work on a task and claims it"),
        Route::post("/api/work/tasks/{id}/complete", complete)
            .about("Marks a task done, if it verifies"),
        Route::post("/api/work/tasks/{id}/reopen", reopen).about("Takes a closed task up again"),
        Route::post("/api/work/tasks/{id}/cancel", cancel).about("Gives a task up"),
        Route::post("/api/work/tasks/{id}/claim", claim).about("Claims a task"),
        Route::post("/api/work/tasks/{id}/heartbeat", heartbeat)
            .about("Extends the lease of a claim"),
        Route::post("/api/work/tasks/{id}/release", release).about("Gives a task back"),
        Route::post("/api/work/claim", claim_next).about("Claims the most urgent ready task"),
        Route::post("/api/work/undo", undo_operation).about("Undoes an operation on tasks"),
    ]
}

/// How to work on a task.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Work {
    /// Who acts.
    agent: Option<String>,
    /// How long the claim holds, in seconds.
    lease: Option<u64>,
    /// The claim under which it is done.
    epoch: Option<u32>,
    /// Do it although something speaks against it, which is recorded.
    force: bool,
}

/// How to give a task up.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Cancel {
    /// Who acts.
    agent: Option<String>,
    /// Why.
    reason: Option<String>,
    /// Also when somebody else holds it.
    force: bool,
}

/// Which task to claim.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct NextWanted {
    /// Who acts.
    agent: Option<String>,
    /// Below this task.
    epic: Option<TaskId>,
    /// How long the claim holds, in seconds.
    lease: Option<u64>,
}

/// What to undo.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Undo {
    /// Number of the operation.
    operation: u64,
    /// Only say what would change.
    #[serde(default)]
    dry_run: bool,
}

fn lease(call: &Call, seconds: Option<u64>) -> Result<Lease> {
    let Some(seconds) = seconds else {
        let set = call.server.settings.number(CLAIMS_LEASE);
        return Ok(set.and_then(Lease::of_seconds).unwrap_or_default());
    };
    let lease = Lease::of_seconds(seconds);
    lease.ok_or_else(|| {
        let message = format!("lease is {seconds}; it can be 1 second to 30 days");
        Error::new(Code::InputInvalid, message)
    })
}

fn moved((mut moved, operation): (Moved, Option<u64>)) -> Result<Json<Done<Moved>>> {
    let warnings = std::mem::take(&mut moved.warnings);
    Ok(Done::reply(moved, warnings, operation))
}

fn claimed((mut claimed, operation): (Claimed, Option<u64>)) -> Result<Json<Done<Claimed>>> {
    let warnings = std::mem::take(&mut claimed.warnings);
    Ok(Done::reply(claimed, warnings, operation))
}

fn start(call: &Call, OptionalJson(work): OptionalJson<Work>) -> Result<Json<Done<Moved>>> {
    let lease = lease(call, work.lease)?;
    moved(change_task(
        call,
        "start",
        work.agent.as_deref(),
        |context, id| tasks::start(context, id, lease, work.epoch),
    )?)
}

fn complete(call: &Call, OptionalJson(work): OptionalJson<Work>) -> Result<Json<Done<Moved>>> {
    moved(change_task(
        call,
        "complete",
        work.agent.as_deref(),
        |context, id| complete_task(context, id, work.epoch, work.force),
    )?)
}

fn reopen(call: &Call, OptionalJson(work): OptionalJson<Work>) -> Result<Json<Done<Moved>>> {
    moved(change_task(
        call,
        "reopen",
        work.agent.as_deref(),
        tasks::reopen,
    )?)
}

fn cancel(call: &Call, OptionalJson(how): OptionalJson<Cancel>) -> Result<Json<Done<Moved>>> {
    moved(change_task(
        call,
        "cancel",
        how.agent.as_deref(),
        |context, id| tasks::cancel(context, id, how.reason, how.force),
    )?)
}

fn claim(call: &Call, OptionalJson(work): OptionalJson<Work>) -> Result<Json<Done<Claimed>>> {
    let lease = lease(call, work.lease)?;
    claimed(change_task(
        call,
        "claim",
        work.agent.as_deref(),
        |context, id| claims::claim(context, id, lease, work.force),
    )?)
}

fn heartbeat(call: &Call, OptionalJson(work): OptionalJson<Work>) -> Result<Json<Done<Claimed>>> {
    let lease = lease(call, work.lease)?;
    claimed(change_task(
        call,
        "heartbeat",
        work.agent.as_deref(),
        |context, id| claims::heartbeat(context, id, lease, work.epoch, work.force),
    )?)
}

fn release(call: &Call, OptionalJson(work): OptionalJson<Work>) -> Result<Json<Done<Claimed>>> {
    claimed(change_task(
        call,
        "release",
        work.agent.as_deref(),
        |context, id| claims::release(context, id, work.epoch, work.force),
    )?)
}

fn claim_next(
    call: &Call,
    OptionalJson(next): OptionalJson<NextWanted>,
) -> Result<Json<Done<Claimed>>> {
    let lease = lease(call, next.lease)?;
    let context = &mut *context_as(call, "claim", next.agent.as_deref())?;
    let taken = claims::claim_next(context, next.epic, lease)?;
    let operation = super::last_operation(context, taken.task.id)?;
    claimed((taken, operation))
}

fn undo_operation(
    call: &Call,
    StrictJson(wanted): StrictJson<Undo>,
) -> Result<Json<Warned<Undone>>> {
    let context = &mut *call.context("undo")?;
    let mut undone = undo::undo(context, Some(wanted.operation), wanted.dry_run)?;
    let warnings = std::mem::take(&mut undone.warnings);
    Ok(Json(Warned {
        result: undone,
        warnings,
    }))
}
