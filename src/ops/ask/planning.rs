//! Who is asked: as the user's program or the model says, if that can be carried out; else one worker.

use serde_json::json;

use super::{Options, Query, told};
use crate::agent::Agent;
use crate::error::{Code, Result};
use crate::llm;
use crate::ops::answers::Answering;
use crate::ops::runs::recording::Recording;
use crate::query::{self, Step};

/// The model that is asked where the settings name none.
pub(super) const MODEL: &str = "gpt-4o-mini";

/// Makes the plan of a query, and says what was left out of another; no step when there is nobody.
pub(super) fn plan(
    query: &Query,
    options: &Options,
    answering: &Answering,
    workers: &[&Agent],
    recording: &mut Recording<'_>,
) -> Result<(Vec<Step>, Vec<String>)> {
    let mut warnings = Vec::new();
    let planned = match workers {
        [] => None,
        _ => asked(query, options, answering, workers)?,
    };
    let (steps, by) = match planned.map(|text| text.and_then(|text| query::read(&text, workers))) {
        Some(Ok((steps, left_out))) => {
            warnings.extend(left_out);
            (steps, "planner")
        }
        other => {
            if let Some(Err(why)) = other {
                warnings.push(format!(
                    "the plan cannot be used, so one worker is asked: {why}"
                ));
            }
            (
                query::fallback(&query.query, workers).into_iter().collect(),
                "fallback",
            )
        }
    };
    let all: Vec<_> = steps.iter().map(told).collect();
    recording
        .note(|notes| notes.event("plan", json!({"by": by, "steps": all, "notes": warnings})))?;
    Ok((steps, warnings))
}

/// Asks who plans; nothing when nobody does. The inner error says why there is no answer.
fn asked(
    query: &Query,
    options: &Options,
    answering: &Answering,
    workers: &[&Agent],
) -> Result<Option<std::result::Result<String, String>>> {
    let brief = query::brief(&query.query, workers);
    let answer = match &options.planner {
        Some(program) => {
            let answer = program.ask(&brief);
            Some(answer.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
        }
        None => {
            let request = llm::Request {
                temperature: Some(0.0),
                schema: Some(query::schema()),
                ..llm::Request::once(MODEL, query::PLANNER, &brief.to_string())
            };
            let answer = answering.ask_model(&request, &mut |_| {});
            answer.map(|answer| answer.map(|reply| reply.text))
        }
    };
    match answer {
        None => Ok(None),
        Some(Ok(text)) => Ok(Some(Ok(text))),
        Some(Err(error)) if matches!(error.code, Code::Interrupted | Code::Terminated) => {
            Err(error)
        }
        Some(Err(error)) => Ok(Some(Err(error.shown().into_owned()))),
    }
}
