//! Making and changing agents.

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::draft::Draft;
use crate::document::Object;
use crate::error::{Code, Error, Result};
use crate::http::answer::Answer;
use crate::http::body;
use crate::http::call::Call;
use crate::http::extract::Json;
use crate::ops::agents::{self, One, Shown};

/// Whether it is only tried.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Dry {
    /// Say what would be, and keep nothing.
    #[serde(default)]
    dry_run: bool,
}

/// Fields of an agent.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", expect(dead_code, reason = "it only describes"))]
#[cfg(feature = "schemas")]
pub(super) struct Fields {
    #[schemars(flatten)]
    draft: Draft,
    /// When it was last changed as far as the caller knows; another moment is refused.
    updated_at: Option<String>,
}

/// Fields of an agent.
#[cfg(not(feature = "schemas"))]
pub(super) struct Fields;

/// An agent that was made or changed.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(super) struct Kept {
    success: bool,
    agent: Shown,
    warnings: Vec<String>,
}

impl Kept {
    fn answer(One { agent, warnings }: One, status: StatusCode) -> Result<Answer> {
        let kept = Kept {
            success: true,
            agent,
            warnings,
        };
        Answer::json(status, &kept)
    }
}

pub(super) fn create(call: &Call) -> Result<Answer> {
    let Dry { dry_run } = call.query()?;
    let Object(fields) = call.body()?;
    let draft = Draft::from_row(fields)?;
    draft.check_spelling()?;
    let is_runtime = draft.id.as_deref().and_then(crate::agent::runtime_moment);
    if is_runtime.is_some() {
        let message = "agents of the moment are registered with POST /api/agents/register";
        return Err(Error::new(Code::AgentInvalid, message));
    }
    let surroundings = call.surroundings("agents.register");
    let status = match dry_run {
        true => StatusCode::OK,
        false => StatusCode::CREATED,
    };
    let registered = agents::register(&surroundings, draft, false, !dry_run)?;
    Kept::answer(registered.one, status)
}

pub(super) fn update(call: &Call) -> Result<Answer> {
    let Dry { dry_run } = call.query()?;
    let Object(fields) = call.body()?;
    let seen = fields.get("updated_at").or(fields.get("updatedAt"));
    let seen = seen.map(|seen| seen.as_str().unwrap_or_default().to_string());
    let surroundings = call.surroundings("agents.update");
    let draft = Draft::from_row(fields)?;
    draft.check_spelling()?;
    let id = call.part("id");
    match agents::update(&surroundings, id, draft, seen.as_deref(), !dry_run) {
        Err(error) if error.code == Code::StatusRefused => changed(call, &error),
        done => Kept::answer(done?, StatusCode::OK),
    }
}

/// That an agent was changed meanwhile, and how it is now.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(super) struct Changed {
    success: bool,
    error: String,
    code: &'static str,
    agent: Shown,
}

fn changed(call: &Call, error: &Error) -> Result<Answer> {
    let changed = Changed {
        success: false,
        error: error.shown().into_owned(),
        code: error.code.name(),
        agent: agents::show(&call.surroundings("agents.show"), call.part("id"))?.agent,
    };
    Answer::json(StatusCode::CONFLICT, &changed)
}

/// An agent that was registered for the moment.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Registered {
    success: bool,
    agent_id: String,
    /// Whether it was there and is changed.
    recreated: bool,
}

pub(super) fn register(call: &Call) -> Result<Json<Registered>> {
    let invalid = |error: Error| match error.code {
        Code::InputInvalid => {
            // The words of the specification.
            let why = match body::json(&call.body) {
                Ok(Value::Null) => "Invalid agent payload",
                Ok(_) => "Invalid agent payload: it must be an object",
                Err(_) => "Invalid JSON",
            };
            Error::new(Code::InputInvalid, why)
        }
        _ => error,
    };
    let Object(fields) = call.body().map_err(invalid)?;
    let surroundings = call.surroundings("agents.register");
    let done = agents::register(&surroundings, Draft::from_row(fields)?, true, true)?;
    Ok(Json(Registered {
        success: true,
        agent_id: done.one.agent.agent.id,
        recreated: !done.created,
    }))
}
