//! Endpoints of tasks that are not plain operations, and warnings.

use axum::http::StatusCode;
use serde::Serialize;

use super::answer::Answer;
use super::call::Call;
use super::route::Route;
use crate::error::{Code, Error, Result, is_visible_line};
use crate::manifest::Entry;
use crate::ops::manifest::{self, Appended};
use crate::ops::tokens::Scope;
use crate::ops::{Context, transfer};

/// Maximum length of the caller's name, in characters.
pub(super) const AGENT_MAX: usize = 100;
/// Content type of JSON lines.
const LINES: &str = "application/x-ndjson";

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/work/export", export)
            .about("Exports all tasks as JSON lines")
            .tag("work")
            .scope(Scope::Admin)
            .sends(200, LINES),
        Route::post("/api/manifest", append)
            .about("Appends an entry to the manifest; lists all errors of an invalid one")
            .tag("manifest")
            .takes::<Entry>()
            .answers::<Warned<Appended>>(201),
    ]
}

/// A reply with warnings.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct Warned<T> {
    #[serde(flatten)]
    pub(super) result: T,
    pub(super) warnings: Vec<String>,
}

/// Sets the agent that the caller names, as `--as` does: prefixed by its caller, so that none can act as another.
pub(super) fn act_as(call: &Call, context: &mut Context, agent: Option<&str>) -> Result<()> {
    let Some(agent) = agent.map(str::trim) else {
        return Ok(());
    };
    if !is_visible_line(agent, AGENT_MAX) {
        let message = format!("agent must be one line of at most {AGENT_MAX} visible characters");
        return Err(Error::new(Code::InputInvalid, message));
    }
    context.surroundings.actor = format!("{}/{agent}", call.user());
    Ok(())
}

/// Exports all tasks with their agents, also those that not every user sees. It writes no file.
fn export(call: &Call) -> Result<Answer> {
    let exported = transfer::export(&mut *call.context("export")?, None, false)?;
    Ok(Answer::bytes(LINES, exported.text.unwrap_or_default()))
}

/// Appends an entry as it was sent: fields keep their order, numbers their digits.
fn append(call: &Call) -> Result<Answer> {
    let _: serde::de::IgnoredAny = call.body()?;
    let text = std::str::from_utf8(&call.body)
        .map_err(|cause| Error::new(Code::InputInvalid, "the body is not UTF-8").because(cause))?;
    let context = &mut *call.context("manifest.append")?;
    let result = manifest::append(context, text, None, false)?;
    let warnings = std::mem::take(&mut context.notes.warnings);
    Answer::json(StatusCode::CREATED, &Warned { result, warnings })
}
