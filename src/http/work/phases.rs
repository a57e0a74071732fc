//! Phases: listed, set, begun, completed.

use super::super::answer::Answer;
use super::super::call::Call;
use super::super::route::Route;
use super::{Warned, context_as, optional};
use crate::error::Result;
use crate::ops::phases::{self, Moved, Phases};
use crate::phase::{CompletePhase, StartPhase};

pub(super) fn routes() -> Vec<Route> {
    let moved = |path, handler, about| {
        let route = Route::post(path, handler).about(about);
        route.answers::<Warned<Moved>>(200)
    };
    vec![
        Route::get("/api/work/phases", list)
            .about("Lists phases in their order, with the number of tasks by status")
            .answers::<Phases>(200),
        moved(
            "/api/work/phases/{name}/set",
            set,
            "Makes a phase the one that the project is in, whatever phase it was in before",
        )
        .may_take::<StartPhase>(),
        moved(
            "/api/work/phases/{name}/start",
            start,
            "Begins a phase; the one before must be completed",
        )
        .may_take::<StartPhase>(),
        moved(
            "/api/work/phases/{name}/complete",
            complete,
            "Completes a phase whose tasks are done or cancelled",
        )
        .may_take::<CompletePhase>(),
    ]
}

fn list(call: &Call) -> Result<Answer> {
    Answer::ok(&phases::list(&mut *call.context("phase.list")?)?)
}

fn set(call: &Call) -> Result<Answer> {
    begin(call, "phase.set", true)
}

fn start(call: &Call) -> Result<Answer> {
    begin(call, "phase.start", false)
}

fn begin(call: &Call, command: &'static str, leaves: bool) -> Result<Answer> {
    let request: StartPhase = optional(call)?;
    let context = &mut *context_as(call, command, request.agent.as_deref())?;
    answer(phases::start(context, call.part("name"), leaves)?)
}

fn complete(call: &Call) -> Result<Answer> {
    let request: CompletePhase = optional(call)?;
    let context = &mut *context_as(call, "phase.complete", request.agent.as_deref())?;
    let name = Some(call.part("name"));
    answer(phases::complete(context, name, request.force)?)
}

fn answer(mut result: Moved) -> Result<Answer> {
    let warnings = std::mem::take(&mut result.warnings);
    Answer::ok(&Warned { result, warnings })
}
