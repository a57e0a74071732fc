//! Phases: listed, set, begun, completed.

use super::super::call::Call;
use super::super::extract::{Json, OptionalJson};
use super::super::route::Route;
use super::{Warned, context_as};
use crate::error::Result;
use crate::ops::Context;
use crate::ops::phases::{self, Moved, Phases};
use crate::phase::{CompletePhase, StartPhase};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/work/phases", list)
            .about("Lists phases in their order, with the number of tasks by status"),
        Route::post("/api/work/phases/{name}/set", set)
            .about("Makes a phase the one that the project is in, whatever phase it was in before"),
        Route::post("/api/work/phases/{name}/start", start)
            .about("Begins a phase; the one before must be completed"),
        Route::post("/api/work/phases/{name}/complete", complete)
            .about("Completes a phase whose tasks are done or cancelled"),
    ]
}

fn list(call: &Call) -> Result<Json<Phases>> {
    Ok(Json(phases::list(&mut *call.context("phase.list")?)?))
}

fn set(call: &Call, OptionalJson(who): OptionalJson<StartPhase>) -> Result<Json<Warned<Moved>>> {
    move_phase(call, "phase.set", who.agent, |context, name| {
        phases::start(context, name, true)
    })
}

fn start(call: &Call, OptionalJson(who): OptionalJson<StartPhase>) -> Result<Json<Warned<Moved>>> {
    move_phase(call, "phase.start", who.agent, |context, name| {
        phases::start(context, name, false)
    })
}

fn complete(
    call: &Call,
    OptionalJson(how): OptionalJson<CompletePhase>,
) -> Result<Json<Warned<Moved>>> {
    move_phase(call, "phase.complete", how.agent, |context, name| {
        phases::complete(context, Some(name), how.force)
    })
}

fn move_phase(
    call: &Call,
    command: &'static str,
    agent: Option<String>,
    work: impl FnOnce(&mut Context, &str) -> Result<Moved>,
) -> Result<Json<Warned<Moved>>> {
    let name = call.part("name");
    let mut result = work(&mut *context_as(call, command, agent.as_deref())?, name)?;
    let warnings = std::mem::take(&mut result.warnings);
    Ok(Json(Warned { result, warnings }))
}
