//! Sessions: opened, shown, ended, opened again; and the task in their focus.

use serde::Deserialize;

use super::super::call::Call;
use super::super::extract::{Json, OptionalJson, Query, StrictJson};
use super::super::route::Route;
use super::context_as;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::sessions::{self, Focus, Moved, Sessions, Standing};
use crate::session::{EndSession, ResumeSession, SessionId, SessionStatus, StartSession};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/work/sessions", list).about("Lists sessions"),
        Route::post("/api/work/sessions", start).about("Opens a session"),
        Route::get("/api/work/sessions/{id}", show)
            .about("Shows a session with its notes, and how the work of it stands"),
        Route::post("/api/work/sessions/{id}/end", end).about("Ends a session"),
        Route::post("/api/work/sessions/{id}/resume", resume)
            .about("Opens an ended session again, led by the caller"),
        Route::get("/api/work/focus", focus)
            .about("Shows the session that the caller leads, or another, and the task in its focus")
            .refuses(409),
        Route::put("/api/work/focus", set_focus).about("Sets the task that a session works on now"),
    ]
}

/// Which sessions.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SessionQuery {
    status: Option<SessionStatus>,
}

/// Whose focus.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FocusQuery {
    /// Who leads the session, when none is named; the caller unless told.
    agent: Option<String>,
    session: Option<SessionId>,
}

/// What to work on now.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FocusWanted {
    /// Who acts.
    agent: Option<String>,
    /// The session; the open one that the caller leads unless told.
    session: Option<SessionId>,
    /// The task, in the scope of the session; null or nothing for none.
    task: Option<TaskId>,
}

fn list(call: &Call, Query(query): Query<SessionQuery>) -> Result<Json<Sessions>> {
    let context = &mut *call.context("session.list")?;
    Ok(Json(sessions::list(context, query.status)?))
}

fn start(
    call: &Call,
    OptionalJson(request): OptionalJson<StartSession>,
) -> Result<Json<Moved, 201>> {
    let context = &mut *context_as(call, "session.start", request.agent.as_deref())?;
    Ok(Json(sessions::start(context, request)?))
}

fn show(call: &Call) -> Result<Json<Standing>> {
    let id: SessionId = call.id("id")?;
    let context = &mut *call.context("session.status")?;
    Ok(Json(sessions::status(context, Some(id))?))
}

fn end(call: &Call, OptionalJson(request): OptionalJson<EndSession>) -> Result<Json<Moved>> {
    let session = Some(call.id("id")?);
    let request = EndSession { session, ..request };
    let context = &mut *context_as(call, "session.end", request.agent.as_deref())?;
    Ok(Json(sessions::end(context, request)?))
}

fn resume(call: &Call, OptionalJson(request): OptionalJson<ResumeSession>) -> Result<Json<Moved>> {
    let session = call.id("id")?;
    let request = ResumeSession { session, ..request };
    let context = &mut *context_as(call, "session.resume", request.agent.as_deref())?;
    Ok(Json(sessions::resume(context, &request)?))
}

fn focus(call: &Call, Query(query): Query<FocusQuery>) -> Result<Json<Focus>> {
    let context = &mut *context_as(call, "focus", query.agent.as_deref())?;
    Ok(Json(sessions::focus(context, query.session)?))
}

fn set_focus(call: &Call, StrictJson(wanted): StrictJson<FocusWanted>) -> Result<Json<Focus>> {
    let context = &mut *context_as(call, "focus", wanted.agent.as_deref())?;
    Ok(Json(sessions::set_focus(
        context,
        wanted.session,
        wanted.task,
    )?))
}
