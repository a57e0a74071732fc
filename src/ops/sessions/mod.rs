//! Sessions: which part of the graph somebody works on, with focus and notes.

mod focus;
mod which;

pub use focus::{focus, set_focus};
pub(in crate::ops) use which::covering;

use serde::Serialize;
use serde_json::json;

use super::claims::Caller;
use super::tasks::{choose, is_within};
use super::{Context, require};
use crate::claim::Claim;
use crate::error::{Code, Error, Result, quote};
use crate::id::{self, TaskId};
use crate::phase::Counts;
use crate::session::{Session, SessionId, SessionStatus};
use crate::store::{Change, Transaction};
use crate::task::rules::{ITEMS_MAX, check_note, check_word};
use crate::task::{Note, Task};
use which::{Which, claims_in, find, led_by};

/// A session after a command.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub struct Kept {
    /// The session.
    pub session: Session,
    /// False when nothing had to be done.
    pub changed: bool,
}

/// Sessions and how many there are.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub struct Sessions {
    /// The sessions.
    pub sessions: Vec<Session>,
    /// How many there are.
    pub total: usize,
}

/// How the work of a session stands.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub struct Standing {
    /// The session.
    pub session: Session,
    /// How many tasks of its scope stand where.
    pub counts: Counts,
    /// The task in focus.
    pub focus: Option<Task>,
    /// What whoever leads it holds in its scope.
    pub claims: Vec<Claim>,
    /// The most urgent task of its scope that is ready.
    pub next: Option<TaskId>,
}

/// Opens a session. Nobody leads two at once, and what somebody else's open session is about is
/// shared only by `force`.
pub fn start(
    context: &mut Context,
    scope: Option<TaskId>,
    name: Option<String>,
    force: bool,
) -> Result<Kept> {
    check_word("name", name.as_deref())?;
    let caller = Caller::unbound(context);
    context.write(|transaction| {
        refuse_second(transaction, &caller)?;
        if let Some(scope) = scope {
            let share = share(scope, name.as_deref());
            check_scope(transaction, scope, &share, force)?;
        }
        let session = Session {
            id: transaction.next_session()?,
            name: name.unwrap_or_default(),
            status: SessionStatus::Open,
            scope,
            focus: None,
            holder: caller.name.clone(),
            notes: Vec::new(),
            started_at: caller.now.clone(),
            ended_at: None,
        };
        keep(transaction, session, "session-started")
    })
}

fn refuse_second(transaction: &dyn Transaction, caller: &Caller) -> Result<()> {
    let Some(open) = led_by(transaction, &caller.name)? else {
        return Ok(());
    };
    let message = format!(
        "{} leads {} already, since {}",
        caller.name, open.id, open.started_at
    );
    Err(Error::new(Code::SessionExists, message)
        .fix(format!("cleo session end {}", open.id))
        .or("see how it stands", "cleo session status"))
}

/// The command that opens a session although another one is about the same.
fn share(scope: TaskId, name: Option<&str>) -> String {
    let name = name.map(|name| format!(" --name={}", quote(name)));
    let name = name.unwrap_or_default();
    format!("cleo session start --scope {scope}{name} --force")
}

fn check_scope(
    transaction: &dyn Transaction,
    scope: TaskId,
    share: &str,
    force: bool,
) -> Result<()> {
    let task = require(transaction, scope)?;
    if task.is_closed() {
        let message = format!(
            "{scope} is {}: there is nothing to work on in it",
            task.status
        );
        return Err(Error::new(Code::ScopeInvalid, message).fix(format!("cleo reopen {scope}")));
    }
    if force {
        return Ok(());
    }
    refuse_shared(transaction, scope, share)
}

/// Refuses a scope that overlaps that of an open session; `share` opens it all the same. A session about
/// everything overlaps none: a task belongs to the session with the nearest scope.
fn refuse_shared(transaction: &dyn Transaction, scope: TaskId, share: &str) -> Result<()> {
    for other in transaction.sessions(Some(SessionStatus::Open))? {
        let Some(theirs) = other.scope else {
            continue;
        };
        if is_within(transaction, scope, theirs)? || is_within(transaction, theirs, scope)? {
            let (id, holder) = (other.id, &other.holder);
            let message = format!("{id} of {holder} is about {theirs}, which overlaps {scope}");
            return Err(Error::new(Code::ScopeConflict, message)
                .fix(share)
                .or("work in theirs", format!("export CLEO_SESSION={id}")));
        }
    }
    Ok(())
}

/// Reads the sessions with a status, or all.
pub fn list(context: &mut Context, status: Option<SessionStatus>) -> Result<Sessions> {
    let sessions = context.read(|transaction| transaction.sessions(status))?;
    Ok(Sessions {
        total: sessions.len(),
        sessions,
    })
}

/// Reads a session, or the caller's.
pub fn show(context: &mut Context, id: Option<SessionId>) -> Result<Session> {
    let which = Which::of(context, id);
    context.read(|transaction| which.find(transaction))
}

/// Reads how the work of a session stands, or of the caller's.
pub fn status(context: &mut Context, id: Option<SessionId>) -> Result<Standing> {
    let (which, now) = (Which::of(context, id), context.now());
    context.read(|transaction| {
        let session = which.find(transaction)?;
        let focus = session
            .focus
            .map(|id| require(transaction, id))
            .transpose()?;
        Ok(Standing {
            counts: transaction.counts(session.scope)?,
            claims: claims_in(transaction, &session)?,
            next: choose(transaction, session.scope, &now)?
                .task
                .map(|task| task.id),
            focus,
            session,
        })
    })
}

/// Ends a session, or the caller's. One that somebody else leads, and one whose leader holds tasks of
/// its scope, only by `force`.
pub fn end(
    context: &mut Context,
    id: Option<SessionId>,
    note: Option<String>,
    force: bool,
) -> Result<Kept> {
    let which = Which::of(context, id);
    let caller = Caller::unbound(context);
    context.write(|transaction| {
        let mut session = which.find(transaction)?;
        if session.status == SessionStatus::Ended {
            return Ok(unchanged(session));
        }
        if !force {
            refuse_other(&session, &caller)?;
            refuse_held(transaction, &session, &caller)?;
        }
        if let Some(text) = note {
            add_note(&mut session, text, &caller)?;
        }
        session.status = SessionStatus::Ended;
        session.ended_at = Some(caller.now.clone());
        keep(transaction, session, "session-ended")
    })
}

fn refuse_other(session: &Session, caller: &Caller) -> Result<()> {
    if session.holder == caller.name {
        return Ok(());
    }
    let Session { id, holder, .. } = session;
    let message = format!("{holder} leads {id}, not {}", caller.name);
    Err(Error::new(Code::SessionBlocked, message)
        .fix(format!("cleo session show {id}"))
        .or(
            "end it all the same",
            format!("cleo session end {id} --force"),
        ))
}

fn refuse_held(transaction: &dyn Transaction, session: &Session, caller: &Caller) -> Result<()> {
    let mut held = claims_in(transaction, session)?;
    held.retain(|claim| !claim.is_expired(&caller.now));
    let Some(first) = held.first() else {
        return Ok(());
    };
    let ids: Vec<TaskId> = held.iter().map(|claim| claim.task).collect();
    let message = format!(
        "{} still holds {} in {}",
        session.holder,
        id::list(&ids),
        session.id
    );
    Err(Error::new(Code::SessionBlocked, message)
        .fix(format!(
            "cleo release {} --epoch {}",
            first.task, first.epoch
        ))
        .or(
            "end it all the same",
            format!("cleo session end {} --force", session.id),
        ))
}

/// Opens an ended session again, led by the caller. What somebody else's open session is about by
/// now is shared only by `force`.
pub fn resume(context: &mut Context, id: SessionId, force: bool) -> Result<Kept> {
    let caller = Caller::unbound(context);
    context.write(|transaction| {
        let mut session = find(transaction, id)?;
        if session.status == SessionStatus::Open && session.holder == caller.name {
            return Ok(unchanged(session));
        }
        if session.status == SessionStatus::Open {
            let message = format!("{id} is open, and {} leads it", session.holder);
            return Err(Error::new(Code::SessionExists, message)
                .fix(format!("export CLEO_SESSION={id}"))
                .or("end it first", format!("cleo session end {id} --force")));
        }
        refuse_second(transaction, &caller)?;
        if let Some(scope) = session.scope.filter(|_| !force) {
            let share = format!("cleo session resume {id} --force");
            refuse_shared(transaction, scope, &share)?;
        }
        session.status = SessionStatus::Open;
        session.ended_at = None;
        session.holder = caller.name.clone();
        keep(transaction, session, "session-resumed")
    })
}

/// Adds a note to a session, or to the caller's.
pub fn note(context: &mut Context, id: Option<SessionId>, text: String) -> Result<Kept> {
    let which = Which::of(context, id);
    let caller = Caller::unbound(context);
    context.write(|transaction| {
        let mut session = which.open(transaction)?;
        add_note(&mut session, text, &caller)?;
        keep(transaction, session, "session-noted")
    })
}

fn add_note(session: &mut Session, text: String, caller: &Caller) -> Result<()> {
    check_note(&text)?;
    if session.notes.len() >= ITEMS_MAX {
        let message = format!("{} has {ITEMS_MAX} notes, and no room for more", session.id);
        return Err(Error::new(Code::TextTooLong, message).fix("cleo session start"));
    }
    session.notes.push(Note {
        at: caller.now.clone(),
        by: caller.name.clone(),
        text,
    });
    Ok(())
}

fn unchanged(session: Session) -> Kept {
    Kept {
        session,
        changed: false,
    }
}

fn keep(transaction: &mut dyn Transaction, session: Session, kind: &str) -> Result<Kept> {
    transaction.put_session(&session)?;
    transaction.record(&Change {
        kind: kind.to_string(),
        task: None,
        detail: json!({"session": session.id, "scope": session.scope, "focus": session.focus}),
    })?;
    Ok(Kept {
        session,
        changed: true,
    })
}
