//! Sessions: opened, shown, ended, opened again; and the task in their focus.

use serde::Deserialize;

use super::super::answer::Answer;
use super::super::call::Call;
use super::super::route::Route;
use super::{acting, optional};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::sessions::{self, Focus, Moved, Sessions, Standing};
use crate::session::{SessionId, SessionStatus};

pub(super) fn routes() -> Vec<Route> {
    let moved = |path, handler, about| {
        let route = Route::post(path, handler).about(about).tag("work");
        route.answers::<Moved>(200)
    };
    vec![
        Route::get("/api/work/sessions", list)
            .about("Lists sessions")
            .tag("work")
            .query::<SessionQuery>()
            .answers::<Sessions>(200),
        Route::post("/api/work/sessions", start)
            .about("Opens a session")
            .tag("work")
            .may_take::<NewSession>()
            .answers::<Moved>(201),
        Route::get("/api/work/sessions/{id}", show)
            .about("Shows a session with its notes, and how the work of it stands")
            .tag("work")
            .answers::<Standing>(200),
        moved("/api/work/sessions/{id}/end", end, "Ends a session").may_take::<SessionEnd>(),
        moved(
            "/api/work/sessions/{id}/resume",
            resume,
            "Opens an ended session again, led by the caller",
        )
        .may_take::<SessionAgain>(),
        Route::get("/api/work/focus", focus)
            .about("Shows the session that the caller leads, or another, and the task in its focus")
            .tag("work")
            .query::<FocusQuery>()
            .answers::<Focus>(200)
            .refuses(409),
        Route::put("/api/work/focus", set_focus)
            .about("Sets the task that a session works on now")
            .tag("work")
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

/// A session to open.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct NewSession {
    /// Who acts, and leads it.
    agent: Option<String>,
    /// The task that it is about, with all below it; everything unless told.
    scope: Option<TaskId>,
    /// What it is for, in a few words.
    name: Option<String>,
    /// Although somebody else's session is about the same tasks.
    force: bool,
}

/// How to end a session.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct SessionEnd {
    /// Who acts.
    agent: Option<String>,
    /// What whoever resumes it should know.
    note: Option<String>,
    /// Although somebody else leads it, or who leads it holds tasks of its scope.
    force: bool,
}

/// How to open a session again.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct SessionAgain {
    /// Who acts, and leads it from now on.
    agent: Option<String>,
    /// Although somebody else's session is about the same tasks by now.
    force: bool,
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
    let new: NewSession = optional(call)?;
    let context = &mut *acting(call, "session.start", new.agent.as_deref())?;
    let moved = sessions::start(context, new.scope, new.name, new.force)?;
    Answer::created(&moved)
}

fn show(call: &Call) -> Result<Answer> {
    let id: SessionId = call.id("id")?;
    let context = &mut *call.context("session.status")?;
    Answer::ok(&sessions::status(context, Some(id))?)
}

fn end(call: &Call) -> Result<Answer> {
    let (id, how): (SessionId, SessionEnd) = (call.id("id")?, optional(call)?);
    let context = &mut *acting(call, "session.end", how.agent.as_deref())?;
    Answer::ok(&sessions::end(context, Some(id), how.note, how.force)?)
}

fn resume(call: &Call) -> Result<Answer> {
    let (id, how): (SessionId, SessionAgain) = (call.id("id")?, optional(call)?);
    let context = &mut *acting(call, "session.resume", how.agent.as_deref())?;
    Answer::ok(&sessions::resume(context, id, how.force)?)
}

fn focus(call: &Call) -> Result<Answer> {
    let query: FocusQuery = call.query()?;
    let context = &mut *acting(call, "focus", query.agent.as_deref())?;
    Answer::ok(&sessions::focus(context, query.session)?)
}

fn set_focus(call: &Call) -> Result<Answer> {
    let wanted: FocusWanted = call.body()?;
    let context = &mut *acting(call, "focus", wanted.agent.as_deref())?;
    Answer::ok(&sessions::set_focus(context, wanted.session, wanted.task)?)
}
