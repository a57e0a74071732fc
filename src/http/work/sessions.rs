//! Sessions: opened, shown, ended, opened again; and the task in their focus.

use serde::Deserialize;

use super::super::answer::Answer;
use super::super::call::Call;
use super::super::route::Route;
use super::{context_as, optional};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::sessions::{self, Focus, Moved, Sessions, Standing};
use crate::session::{EndSession, ResumeSession, SessionId, SessionStatus, StartSession};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/work/sessions", list)
            .about("Lists sessions")
            .query::<SessionQuery>()
            .answers::<Sessions>(200),
        Route::post("/api/work/sessions", start)
            .about("Opens a session")
            .may_take::<StartSession>()
            .answers::<Moved>(201),
        Route::get("/api/work/sessions/{id}", show)
            .about("Shows a session with its notes, and how the work of it stands")
            .answers::<Standing>(200),
        Route::post("/api/work/sessions/{id}/end", end)
            .about("Ends a session")
            .may_take::<EndSession>()
            .answers::<Moved>(200),
        Route::post("/api/work/sessions/{id}/resume", resume)
            .about("Opens an ended session again, led by the caller")
            .may_take::<ResumeSession>()
            .answers::<Moved>(200),
        Route::get("/api/work/focus", focus)
            .about("Shows the session that the caller leads, or another, and the task in its focus")
            .query::<FocusQuery>()
            .answers::<Focus>(200)
            .refuses(409),
        Route::put("/api/work/focus", set_focus)
            .about("Sets the task that a session works on now")
            .takes::<FocusWanted>()
            .answers::<Focus>(200),
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
    /// The session.
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

fn list(call: &Call) -> Result<Answer> {
    let query: SessionQuery = call.query()?;
    let context = &mut *call.context("session.list")?;
    Answer::ok(&sessions::list(context, query.status)?)
}

fn start(call: &Call) -> Result<Answer> {
    let request: StartSession = optional(call)?;
    let context = &mut *context_as(call, "session.start", request.agent.as_deref())?;
    Answer::created(&sessions::start(context, request)?)
}

fn show(call: &Call) -> Result<Answer> {
    let id: SessionId = call.id("id")?;
    let context = &mut *call.context("session.status")?;
    Answer::ok(&sessions::status(context, Some(id))?)
}

fn end(call: &Call) -> Result<Answer> {
    let session = Some(call.id("id")?);
    let request = EndSession {
        session,
        ..optional(call)?
    };
    let context = &mut *context_as(call, "session.end", request.agent.as_deref())?;
    Answer::ok(&sessions::end(context, request)?)
}

fn resume(call: &Call) -> Result<Answer> {
    let session = call.id("id")?;
    let request = ResumeSession {
        session,
        ..optional(call)?
    };
    let context = &mut *context_as(call, "session.resume", request.agent.as_deref())?;
    Answer::ok(&sessions::resume(context, &request)?)
}

fn focus(call: &Call) -> Result<Answer> {
    let query: FocusQuery = call.query()?;
    let context = &mut *context_as(call, "focus", query.agent.as_deref())?;
    Answer::ok(&sessions::focus(context, query.session)?)
}

fn set_focus(call: &Call) -> Result<Answer> {
    let wanted: FocusWanted = call.body()?;
    let context = &mut *context_as(call, "focus", wanted.agent.as_deref())?;
    Answer::ok(&sessions::set_focus(context, wanted.session, wanted.task)?)
}
