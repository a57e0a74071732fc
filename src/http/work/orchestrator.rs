//! What an agent asks that only orchestrates: where the work stands, what it has read, what it hands
//! over, and whether the rules were kept.

use serde::Deserialize;

use super::super::answer::Answer;
use super::super::call::Call;
use super::super::route::Route;
use super::reading::Below;
use super::{Warned, answer_verdict, optional};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::compliance::{self, Compliance};
use crate::ops::orchestrator::{self, Brief, Measured, Overall, Source, Start};
use crate::ops::tokens::Scope;

/// Most texts, and most prompts, that are counted at once.
const SOURCES_MAX: usize = 100;

pub(super) fn routes() -> Vec<Route> {
    let below = |path, handler, about| {
        let route = Route::get(path, handler).about(about);
        route.query::<Below>()
    };
    vec![
        below(
            "/api/work/start",
            start,
            "Shows all that an orchestrating agent needs to begin, in under 1,000 tokens",
        )
        .answers::<Start>(200),
        below(
            "/api/work/status",
            status,
            "Shows how far everything is, who works on what, and what came last",
        )
        .answers::<Overall>(200),
        below(
            "/api/work/brief",
            brief,
            "Writes the hand-over for an agent that begins with an empty context",
        )
        .answers::<Brief>(200),
        below(
            "/api/work/validate",
            validate,
            "Checks the rules ORC-001 to ORC-005, and every finished task against its protocols",
        )
        .answers::<Compliance>(200)
        .refuses(422),
        Route::post("/api/work/context", measured)
            .about("Says how much an orchestrator has used of its tokens")
            .scope(Scope::Read)
            .may_take::<ToCount>()
            .answers::<Warned<Measured>>(200),
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

fn start(call: &Call) -> Result<Answer> {
    let part: Below = call.query()?;
    let limit = orchestrator::limit(&call.server.settings);
    let context = &mut *call.context("orchestrator.start")?;
    Answer::ok(&orchestrator::start(context, part.epic, limit)?)
}

fn status(call: &Call) -> Result<Answer> {
    let part: Below = call.query()?;
    let context = &mut *call.context("orchestrator.status")?;
    Answer::ok(&orchestrator::status(context, part.epic)?)
}

fn brief(call: &Call) -> Result<Answer> {
    let part: Below = call.query()?;
    let context = &mut *call.context("orchestrator.brief")?;
    Answer::ok(&orchestrator::brief(context, part.epic)?)
}

fn validate(call: &Call) -> Result<Answer> {
    let part: Below = call.query()?;
    let context = &mut *call.context("orchestrator.validate")?;
    let mut found = compliance::validate(context, part.epic)?;
    let error = found.error.take();
    answer_verdict(&found, error)
}

fn measured(call: &Call) -> Result<Answer> {
    let wanted: ToCount = optional(call)?;
    let epic = wanted.epic;
    let limit = orchestrator::limit(&call.server.settings);
    let open = || Context::open(call.surroundings("orchestrator.context"));
    let mut result = orchestrator::measure(wanted.sources()?, epic, limit, open)?;
    let (error, warnings) = (result.error.take(), std::mem::take(&mut result.warnings));
    answer_verdict(&Warned { result, warnings }, error)
}
