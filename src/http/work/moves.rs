//! What is done with a task: started, completed, claimed, released, undone.

use serde::Deserialize;

use super::super::answer::Answer;
use super::super::call::Call;
use super::super::route::Route;
use super::{Done, Warned, context_as, note_operation, optional, task};
use crate::claim::Lease;
use crate::config::CLAIMS_LEASE;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::claims::{self, Claimed};
use crate::ops::complete::complete as complete_task;
use crate::ops::tasks::{self, Moved};
use crate::ops::undo::{self, Undone};

pub(super) fn routes() -> Vec<Route> {
    let moved = |path, handler, about| {
        Route::post(path, handler)
            .about(about)
            .answers::<Done<Moved>>(200)
    };
    let claimed = |path, handler, about| {
        let route = Route::post(path, handler).about(about);
        route.answers::<Done<Claimed>>(200)
    };
    vec![
        moved(
            "/api/work/tasks/{id}/start",
            start,
            "Starts the work on a task and claims it",
        )
        .may_take::<Work>(),
        moved(
            "/api/work/tasks/{id}/complete",
            complete,
            "Marks a task done, if it verifies",
        )
        .may_take::<Work>(),
        moved(
            "/api/work/tasks/{id}/reopen",
            reopen,
            "Takes a closed task up again",
        )
        .may_take::<Work>(),
        moved("/api/work/tasks/{id}/cancel", cancel, "Gives a task up").may_take::<Cancel>(),
        claimed("/api/work/tasks/{id}/claim", claim, "Claims a task").may_take::<Work>(),
        claimed(
            "/api/work/tasks/{id}/heartbeat",
            heartbeat,
            "Extends the lease of a claim",
        )
        .may_take::<Work>(),
        claimed("/api/work/tasks/{id}/release", release, "Gives a task back").may_take::<Work>(),
        claimed(
            "/api/work/claim",
            claim_next,
            "Claims the most urgent ready task",
        )
        .may_take::<NextWanted>(),
        Route::post("/api/work/undo", undo_operation)
            .about("Undoes an operation on tasks")
            .takes::<Undo>()
            .answers::<Warned<Undone>>(200),
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

fn moved((mut moved, operation): (Moved, Option<u64>)) -> Result<Answer> {
    let warnings = std::mem::take(&mut moved.warnings);
    Done::answer(moved, warnings, operation)
}

fn claimed((mut claimed, operation): (Claimed, Option<u64>)) -> Result<Answer> {
    let warnings = std::mem::take(&mut claimed.warnings);
    Done::answer(claimed, warnings, operation)
}

fn start(call: &Call) -> Result<Answer> {
    let (id, work): (_, Work) = (task(call)?, optional(call)?);
    let lease = lease(call, work.lease)?;
    let context = &mut *context_as(call, "start", work.agent.as_deref())?;
    moved(note_operation(context, id, |context| {
        tasks::start(context, id, lease, work.epoch)
    })?)
}

fn complete(call: &Call) -> Result<Answer> {
    let (id, work): (_, Work) = (task(call)?, optional(call)?);
    let context = &mut *context_as(call, "complete", work.agent.as_deref())?;
    moved(note_operation(context, id, |context| {
        complete_task(context, id, work.epoch, work.force)
    })?)
}

fn reopen(call: &Call) -> Result<Answer> {
    let (id, work): (_, Work) = (task(call)?, optional(call)?);
    let context = &mut *context_as(call, "reopen", work.agent.as_deref())?;
    moved(note_operation(context, id, |context| {
        tasks::reopen(context, id)
    })?)
}

fn cancel(call: &Call) -> Result<Answer> {
    let (id, how): (_, Cancel) = (task(call)?, optional(call)?);
    let context = &mut *context_as(call, "cancel", how.agent.as_deref())?;
    moved(note_operation(context, id, |context| {
        tasks::cancel(context, id, how.reason, how.force)
    })?)
}

fn claim(call: &Call) -> Result<Answer> {
    let (id, work): (_, Work) = (task(call)?, optional(call)?);
    let lease = lease(call, work.lease)?;
    let context = &mut *context_as(call, "claim", work.agent.as_deref())?;
    claimed(note_operation(context, id, |context| {
        claims::claim(context, id, lease, work.force)
    })?)
}

fn heartbeat(call: &Call) -> Result<Answer> {
    let (id, work): (_, Work) = (task(call)?, optional(call)?);
    let lease = lease(call, work.lease)?;
    let context = &mut *context_as(call, "heartbeat", work.agent.as_deref())?;
    let renew = |context: &mut _| claims::heartbeat(context, id, lease, work.epoch, work.force);
    claimed(note_operation(context, id, renew)?)
}

fn release(call: &Call) -> Result<Answer> {
    let (id, work): (_, Work) = (task(call)?, optional(call)?);
    let context = &mut *context_as(call, "release", work.agent.as_deref())?;
    claimed(note_operation(context, id, |context| {
        claims::release(context, id, work.epoch, work.force)
    })?)
}

fn claim_next(call: &Call) -> Result<Answer> {
    let next: NextWanted = optional(call)?;
    let lease = lease(call, next.lease)?;
    let context = &mut *context_as(call, "claim", next.agent.as_deref())?;
    let taken = claims::claim_next(context, next.epic, lease)?;
    let operation = super::last_operation(context, taken.task.id)?;
    claimed((taken, operation))
}

fn undo_operation(call: &Call) -> Result<Answer> {
    let wanted: Undo = call.body()?;
    let context = &mut *call.context("undo")?;
    let mut undone = undo::undo(context, Some(wanted.operation), wanted.dry_run)?;
    let warnings = std::mem::take(&mut undone.warnings);
    Answer::ok(&Warned {
        result: undone,
        warnings,
    })
}
