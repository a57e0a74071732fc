//! Phases: listed, set, begun, completed.

use serde::Deserialize;

use super::super::answer::Answer;
use super::super::call::Call;
use super::super::route::Route;
use super::{Warned, acting, optional};
use crate::error::{Code, Error, Result, steers};
use crate::ops::phases::{self, Moved, Phases};

/// Longest name that a phase can have, in characters.
const NAME_MAX: usize = 100;

pub(super) fn routes() -> Vec<Route> {
    let moved = |path, handler, about| {
        let route = Route::post(path, handler).about(about).tag("work");
        route.answers::<Warned<Moved>>(200)
    };
    vec![
        Route::get("/api/work/phases", list)
            .about("Lists phases in their order, with the number of tasks by status")
            .tag("work")
            .answers::<Phases>(200),
        moved(
            "/api/work/phases/{name}/set",
            set,
            "Makes a phase the one that the project is in, whatever phase it was in before",
        )
        .may_take::<PhaseMove>(),
        moved(
            "/api/work/phases/{name}/start",
            start,
            "Begins a phase; the one before must be completed",
        )
        .may_take::<PhaseMove>(),
        moved(
            "/api/work/phases/{name}/complete",
            complete,
            "Completes a phase whose tasks are done or cancelled",
        )
        .may_take::<PhaseEnd>(),
    ]
}

/// Who moves a phase.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct PhaseMove {
    /// Who acts.
    agent: Option<String>,
}

/// How to complete a phase.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct PhaseEnd {
    /// Who acts.
    agent: Option<String>,
    /// Although tasks of it are open.
    force: bool,
}

/// Reads the path's phase. What can be no name is no phase's.
fn named(call: &Call) -> Result<&str> {
    let name = call.part("name");
    if name.chars().count() <= NAME_MAX && !name.contains(steers) {
        return Ok(name);
    }
    let message = "there is no phase of this name";
    Err(Error::new(Code::PhaseNotFound, message).fix("cleo phase list"))
}

fn list(call: &Call) -> Result<Answer> {
    Answer::ok(&phases::list(&mut *call.context("phase.list")?)?)
}

fn set(call: &Call) -> Result<Answer> {
    let (name, who): (_, PhaseMove) = (named(call)?, optional(call)?);
    let context = &mut *acting(call, "phase.set", who.agent.as_deref())?;
    answer(phases::set(context, name)?)
}

fn start(call: &Call) -> Result<Answer> {
    let (name, who): (_, PhaseMove) = (named(call)?, optional(call)?);
    let context = &mut *acting(call, "phase.start", who.agent.as_deref())?;
    answer(phases::start(context, name)?)
}

fn complete(call: &Call) -> Result<Answer> {
    let (name, how): (_, PhaseEnd) = (named(call)?, optional(call)?);
    let context = &mut *acting(call, "phase.complete", how.agent.as_deref())?;
    answer(phases::complete(context, Some(name), how.force)?)
}

fn answer(mut result: Moved) -> Result<Answer> {
    let warnings = std::mem::take(&mut result.warnings);
    Answer::ok(&Warned { result, warnings })
}
