//! What an agent asks that only orchestrates: where the work stands, what it has read, what it hands
//! over, and whether the rules were kept.

use serde::Deserialize;

use super::super::call::Call;
use super::super::extract::{Json, OptionalJson, Query, Verdict};
use super::super::route::Route;
use super::Warned;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::compliance::{self, Compliance};
use crate::ops::orchestrator::{self, Brief, Measured, Overall, Source, Start};
use crate::ops::tasks::Below;
use crate::ops::tokens::Scope;

/// Most texts, and most prompts, that are counted at once.
const SOURCES_MAX: usize = 100;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/work/start", start).about("Shows all that an orchestrating agent needs to begin, in under 1,000 tokens"),
        Route::get("/api/work/status", status).about("Shows how far everything is, who works on what, and what came last"),
        Route::get("/api/work/brief", brief).about("Writes the hand-over for an agent that begins with an empty context"),
        Route::get("/api/work/validate", validate).about("Checks the rules ORC-001 to ORC-005, and every finished task against its protocols")
        .refuses(422),
        Route::post("/api/work/context", measured)
            .about("Says how much an orchestrator has used of its tokens")
            .scope(Scope::Read),
    ]
}

/// What an agent has read. Without anything, the answer of `GET /api/work/start` is counted.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct ToCount {
    /// Tokens that the caller has counted itself.
    tokens: Option<usize>,
    /// These texts, at most 100.
    texts: Vec<String>,
    /// The prompts of these tasks, at most 100.
    tasks: Vec<TaskId>,
    /// The answer of `GET /api/work/start` for this epic, besides.
    epic: Option<TaskId>,
}

impl ToCount {
    fn sources(self) -> Result<Vec<Source>> {
        if self.texts.len().max(self.tasks.len()) > SOURCES_MAX {
            let message = format!("there can be {SOURCES_MAX} texts and {SOURCES_MAX} tasks");
            return Err(Error::new(Code::InputInvalid, message));
        }
        let given = self.tokens.map(|tokens| Source::Given("tokens", tokens));
        let mut sources: Vec<Source> = given.into_iter().collect();
        let texts = (1_usize..).zip(self.texts);
        sources.extend(texts.map(|(number, text)| Source::Text(format!("text {number}"), text)));
        sources.extend(self.tasks.into_iter().map(Source::Prompt));
        if sources.is_empty() || self.epic.is_some() {
            sources.push(Source::Start(self.epic));
        }
        Ok(sources)
    }
}

fn start(call: &Call, Query(part): Query<Below>) -> Result<Json<Start>> {
    let limit = orchestrator::limit(&call.server.settings);
    let context = &mut *call.context("orchestrator.start")?;
    Ok(Json(orchestrator::start(context, part.epic, limit)?))
}

fn status(call: &Call, Query(part): Query<Below>) -> Result<Json<Overall>> {
    let context = &mut *call.context("orchestrator.status")?;
    Ok(Json(orchestrator::status(context, part.epic)?))
}

fn brief(call: &Call, Query(part): Query<Below>) -> Result<Json<Brief>> {
    let context = &mut *call.context("orchestrator.brief")?;
    Ok(Json(orchestrator::brief(context, part.epic)?))
}

fn validate(call: &Call, Query(part): Query<Below>) -> Result<Verdict<Compliance>> {
    let context = &mut *call.context("orchestrator.validate")?;
    let mut found = compliance::validate(context, part.epic)?;
    let error = found.error.take();
    Ok(Verdict(found, error))
}

fn measured(
    call: &Call,
    OptionalJson(wanted): OptionalJson<ToCount>,
) -> Result<Verdict<Warned<Measured>>> {
    let epic = wanted.epic;
    let limit = orchestrator::limit(&call.server.settings);
    let open = || Context::open(call.surroundings("orchestrator.context"));
    let mut result = orchestrator::measure(wanted.sources()?, epic, limit, open)?;
    let (error, warnings) = (result.error.take(), std::mem::take(&mut result.warnings));
    Ok(Verdict(Warned { result, warnings }, error))
}
