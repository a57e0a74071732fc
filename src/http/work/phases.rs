//! Phases: listed, shown, added, begun, completed.

use serde::Deserialize;

use super::super::answer::Answer;
use super::super::call::Call;
use super::super::route::Route;
use super::{Warned, acting, optional};
use crate::error::{Code, Error, Result, steers};
use crate::ops::phases::{self, Kept, New, Phases, Shown};

/// Longest name that a phase can have, in characters.
const NAME_MAX: usize = 100;
/// The last place that a phase can be given.
const POSITION_MAX: u32 = 1_000_000;

pub(super) fn routes() -> Vec<Route> {
    let one = "/api/work/phases/{name}";
    let moved = |path, handler, about| {
        let route = Route::post(path, handler).about(about).tag("work");
        route.answers::<Warned<Kept>>(200)
    };
    vec![
        Route::get("/api/work/phases", list)
            .about("Lists phases in their order, with how many tasks of each stand where")
            .tag("work")
            .answers::<Phases>(200),
        Route::post("/api/work/phases", add)
            .about("Adds a phase, or describes one that only tasks name so far")
            .tag("work")
            .takes::<NewPhase>()
            .answers::<Warned<Kept>>(201),
        Route::get(one, show)
            .about("Shows a phase with its tasks")
            .tag("work")
            .answers::<Shown>(200),
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

/// A phase to add.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewPhase {
    /// Who acts.
    agent: Option<String>,
    /// Its name in tasks: letters, digits, `.`, `_` and `-`.
    slug: String,
    /// Its name for people; the slug unless told.
    name: Option<String>,
    /// What it is about.
    description: Option<String>,
    /// Its place among the others; the last unless told.
    #[cfg_attr(test, schemars(range(min = 1, max = 1_000_000)))]
    position: Option<u32>,
}

/// Who moves a phase.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct PhaseMove {
    /// Who acts.
    agent: Option<String>,
}

/// How to complete a phase.
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

fn told(mut kept: Kept) -> Warned<Kept> {
    let warnings = std::mem::take(&mut kept.warnings);
    Warned {
        result: kept,
        warnings,
    }
}

fn list(call: &Call) -> Result<Answer> {
    Answer::ok(&phases::list(&mut *call.context("phase.list")?)?)
}

fn show(call: &Call) -> Result<Answer> {
    let name = named(call)?;
    let context = &mut *call.context("phase.show")?;
    Answer::ok(&phases::show(context, Some(name))?)
}

fn add(call: &Call) -> Result<Answer> {
    let wanted: NewPhase = call.body()?;
    if let Some(position) = wanted.position.filter(|n| !(1..=POSITION_MAX).contains(n)) {
        let message = format!("position is {position}; it can be 1 to {POSITION_MAX}");
        return Err(Error::new(Code::InputInvalid, message));
    }
    let context = &mut *acting(call, "phase.add", wanted.agent.as_deref())?;
    let new = New {
        slug: wanted.slug,
        name: wanted.name,
        description: wanted.description,
        position: wanted.position,
    };
    Answer::created(&told(phases::add(context, &new)?))
}

fn set(call: &Call) -> Result<Answer> {
    let (name, who): (_, PhaseMove) = (named(call)?, optional(call)?);
    let context = &mut *acting(call, "phase.set", who.agent.as_deref())?;
    Answer::ok(&told(phases::set(context, name)?))
}

fn start(call: &Call) -> Result<Answer> {
    let (name, who): (_, PhaseMove) = (named(call)?, optional(call)?);
    let context = &mut *acting(call, "phase.start", who.agent.as_deref())?;
    Answer::ok(&told(phases::start(context, name)?))
}

fn complete(call: &Call) -> Result<Answer> {
    let (name, how): (_, PhaseEnd) = (named(call)?, optional(call)?);
    let context = &mut *acting(call, "phase.complete", how.agent.as_deref())?;
    Answer::ok(&told(phases::complete(context, Some(name), how.force)?))
}
