//! Making, changing and removing agents.

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::row::{Row, draft, spelled};
use super::terms;
use crate::agent::Agent;
use crate::agent::draft::Draft;
use crate::document::Object;
use crate::error::{Code, Error, Result};
use crate::http::answer::Answer;
use crate::http::body;
use crate::http::call::Call;
use crate::http::extract::{Json, OptionalJson};
use crate::ops::agents::{self, Sweep, Terms};
use crate::ops::tokens::Scope;

/// Whether it is only tried.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Dry {
    /// Say what would be, and keep nothing.
    #[serde(default)]
    dry_run: bool,
}

/// An agent that was made or changed.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(super) struct Kept {
    success: bool,
    agent: Row,
    warnings: Vec<String>,
}

pub(super) fn create(call: &Call) -> Result<Answer> {
    let Dry { dry_run } = call.query()?;
    let Object(fields) = call.body()?;
    let surroundings = call.surroundings("agents.register");
    let terms = terms(call, !dry_run);
    let draft = allowed(call, spelled(fields)?)?;
    let is_runtime = draft.id.as_deref().and_then(crate::agent::runtime_moment);
    if is_runtime.is_some() {
        let message = "agents of the moment are registered with POST /api/agents/register";
        return Err(Error::new(Code::AgentInvalid, message));
    }
    let shown = agents::register(&surroundings, draft, false, &terms)?.shown;
    let status = match dry_run {
        true => StatusCode::OK,
        false => StatusCode::CREATED,
    };
    kept(call, status, shown)
}

fn kept(call: &Call, status: StatusCode, mut shown: agents::Shown) -> Result<Answer> {
    let warnings = std::mem::take(&mut shown.warnings);
    shown.agent = apart(call, shown.agent)?;
    let kept = Kept {
        success: true,
        agent: shown.into(),
        warnings,
    };
    Answer::json(status, &kept)
}

/// Leaves out when others had an agent: all may have one of the moment that is the caller's.
fn apart(call: &Call, agent: Agent) -> Result<Agent> {
    let Some(user) = call.only() else {
        return Ok(agent);
    };
    let mut uses = agents::uses(&call.surroundings("agents.show"), user)?;
    Ok(Agent {
        last_used_at: uses.remove(&agent.id),
        ..agent
    })
}

pub(super) fn update(call: &Call) -> Result<Answer> {
    let Dry { dry_run } = call.query()?;
    let Object(fields) = call.body()?;
    let seen = fields.get("updated_at").or(fields.get("updatedAt"));
    let terms = Terms {
        seen: seen.map(|seen| seen.as_str().unwrap_or_default().to_string()),
        ..terms(call, !dry_run)
    };
    let surroundings = call.surroundings("agents.update");
    let draft = allowed(call, spelled(fields)?)?;
    match agents::update(&surroundings, call.part("id"), draft, &terms) {
        Err(error) if error.code == Code::StatusRefused => changed(call, &error),
        done => kept(call, StatusCode::OK, done?),
    }
}

/// That an agent was changed meanwhile, and how it is now.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(super) struct Changed {
    success: bool,
    error: String,
    code: &'static str,
    agent: Row,
}

fn changed(call: &Call, error: &Error) -> Result<Answer> {
    let surroundings = call.surroundings("agents.show");
    let shown = agents::show(&surroundings, call.part("id"), call.only())?;
    let changed = Changed {
        success: false,
        error: error.shown().into_owned(),
        code: error.code.name(),
        agent: shown.into(),
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
    let draft = allowed(call, draft(fields)?)?;
    let done = agents::register(&surroundings, draft, true, &terms(call, true))?;
    Ok(Json(Registered {
        success: true,
        agent_id: done.shown.agent.id,
        recreated: !done.created,
    }))
}

/// Refuses a draft with a command to a caller who may not have commands run.
fn allowed(call: &Call, draft: Draft) -> Result<Draft> {
    let has_command = draft
        .command
        .as_ref()
        .is_some_and(|words| !words.is_empty());
    if has_command {
        call.require(Scope::Admin)?;
    }
    Ok(draft)
}

/// Which agents of the moment go.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(super) struct Sweeping {
    /// Only those whose id says that they are older than 30 minutes.
    older_than: bool,
    /// The moment from which age is counted, in milliseconds since 1970; now unless told.
    now: Option<u64>,
}

/// Agents of the moment that were removed.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Cleaned {
    success: bool,
    message: String,
    cleaned_up: Vec<String>,
    remaining: Vec<String>,
    count: Count,
}

/// How many agents there were.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
struct Count {
    before: usize,
    after: usize,
    removed: usize,
}

pub(super) fn cleanup(
    call: &Call,
    OptionalJson(Sweeping { older_than, now }): OptionalJson<Sweeping>,
) -> Result<Json<Cleaned>> {
    let surroundings = call.surroundings("agents.cleanup");
    let millis = surroundings.clock.now().timestamp_millis().unsigned_abs();
    let sweep = match (older_than, now) {
        (true, now) => Sweep::Explicit(now.unwrap_or(millis)),
        (false, None) => Sweep::All,
        (false, Some(_)) => {
            let message = "now: it counts only with `olderThan`, which is false";
            return Err(Error::new(Code::InputInvalid, message));
        }
    };
    let cleaned = agents::cleanup(&surroundings, sweep)?;
    Ok(Json(Cleaned {
        success: true,
        message: format!("Cleaned up {} runtime agents", cleaned.removed),
        cleaned_up: cleaned.cleaned_up,
        remaining: cleaned.remaining,
        count: Count {
            before: cleaned.before,
            after: cleaned.after,
            removed: cleaned.removed,
        },
    }))
}

/// An agent that was removed.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(super) struct Removed {
    success: bool,
    agent: Row,
    /// True when a built-in agent is as it was built again.
    restored: bool,
    /// How many of its executions stay in the history.
    executions: u64,
}

pub(super) fn remove(call: &Call) -> Result<Json<Removed>> {
    let surroundings = call.surroundings("agents.remove");
    let id = call.part("id");
    let removed = agents::remove(&surroundings, id, &terms(call, true))?;
    Ok(Json(Removed {
        success: true,
        executions: agents::executions(&surroundings, id, call.only())?,
        restored: removed.restored,
        agent: apart(call, removed.agent)?.into(),
    }))
}
