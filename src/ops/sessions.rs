//! Sessions: which part of the graph somebody works on, with focus and notes.

use serde::Serialize;
use serde_json::json;

use super::tasks::{Caller, above, choose, is_in_scope, is_within};
use super::{Context, Surroundings, require};
use crate::claim::Claim;
use crate::error::{Code, Error, Result};
use crate::id::{self, TaskId};
use crate::phase::Counts;
use crate::session::{
    EndSession, OneSession, ResumeSession, Session, SessionFilter, SessionId, SessionStatus,
    SetFocus, StartSession, WhichSession,
};
use crate::store::{Change, Transaction};
use crate::task::rules::{ITEMS_MAX, check_note, check_word};
use crate::task::{Note, Task};

/// A session after a command.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Moved {
    pub(crate) session: Session,
    /// False when nothing had to be done.
    pub(crate) changed: bool,
}

/// Sessions and how many there are.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Sessions {
    pub(crate) sessions: Vec<Session>,
    pub(crate) total: usize,
}

/// A session with the state of its work.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Standing {
    pub(crate) session: Session,
    /// Number of tasks in its scope by status.
    pub(crate) counts: Counts,
    pub(crate) focus: Option<Task>,
    /// Claims of its leader in its scope.
    pub(crate) claims: Vec<Claim>,
    /// The most urgent ready task of its scope.
    pub(crate) next: Option<TaskId>,
}

/// A session with the task in its focus.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Focus {
    pub(crate) focus: Option<Task>,
    pub(crate) session: Session,
}

/// Reads the given session, else the one that the environment names, else the open one that the caller leads.
fn choose_session(
    transaction: &dyn Transaction,
    given: Option<SessionId>,
    around: &Surroundings,
) -> Result<Session> {
    if let Some(id) = given.or(around.assignment.session) {
        return find(transaction, id);
    }
    find_led_by(transaction, &around.actor)?.ok_or_else(|| {
        error!(SessionRequired, "{} leads no open session", around.actor)
            .fix("cleo session start")
            .or("see what there is", "cleo session list")
    })
}

fn find(transaction: &dyn Transaction, id: SessionId) -> Result<Session> {
    transaction.session(id)?.ok_or_else(|| {
        let message = format!("there is no session {id}");
        Error::new(Code::SessionNotFound, message).fix("cleo session list")
    })
}

fn find_led_by(transaction: &dyn Transaction, holder: &str) -> Result<Option<Session>> {
    let open = transaction.sessions(Some(SessionStatus::Open))?;
    Ok(open.into_iter().find(|session| session.holder == holder))
}

/// Finds the open session that a task belongs to: of those that cover it the one with the nearest
/// scope, and of several the first.
pub(in crate::ops) fn find_covering_session(
    transaction: &dyn Transaction,
    task: TaskId,
) -> Result<Option<SessionId>> {
    let open = transaction.sessions(Some(SessionStatus::Open))?;
    if open.is_empty() {
        return Ok(None);
    }
    for id in [vec![task], above(transaction, task)?].concat() {
        if let Some(session) = open.iter().find(|session| session.scope == Some(id)) {
            return Ok(Some(session.id));
        }
    }
    let everywhere = open.iter().find(|session| session.scope.is_none());
    Ok(everywhere.map(|session| session.id))
}

fn claims_of_leader(transaction: &dyn Transaction, session: &Session) -> Result<Vec<Claim>> {
    let mut claims = Vec::new();
    for claim in transaction.claims_of(&session.holder)? {
        let is_covered = is_in_scope(transaction, claim.task, session.scope)?;
        claims.extend(is_covered.then_some(claim));
    }
    Ok(claims)
}

/// Opens a session. A caller leads at most one, and the scope of somebody else's open session is shared
/// only by `force`.
pub(crate) fn start(context: &mut Context, request: StartSession) -> Result<Moved> {
    let StartSession { scope, name, force } = request;
    check_word("name", name.as_deref())?;
    let caller = Caller::without_task(context);
    context.write(|transaction| {
        refuse_second(transaction, &caller)?;
        if let Some(scope) = scope {
            let task = require(transaction, scope)?;
            if task.is_closed() {
                let message = format!("{scope} is {}: there is no work in it", task.status);
                let error = Error::new(Code::ScopeInvalid, message);
                return Err(error.fix(format!("cleo reopen {scope}")));
            }
            refuse_overlap(transaction, scope, force)?;
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
        put(transaction, session, "session-started")
    })
}

fn refuse_second(transaction: &dyn Transaction, caller: &Caller) -> Result<()> {
    let Some(Session { id, started_at, .. }) = find_led_by(transaction, &caller.name)? else {
        return Ok(());
    };
    let message = format!("{} leads {id} already, since {started_at}", caller.name);
    Err(Error::new(Code::SessionExists, message)
        .fix("cleo session status")
        .or("end it", format!("cleo session end {id}")))
}

/// Refuses a scope that overlaps that of an open session, unless `force`. A session about everything
/// overlaps none: a task belongs to the session with the nearest scope.
fn refuse_overlap(transaction: &dyn Transaction, scope: TaskId, force: bool) -> Result<()> {
    if force {
        return Ok(());
    }
    for other in transaction.sessions(Some(SessionStatus::Open))? {
        let Some(theirs) = other.scope else { continue };
        if is_within(transaction, scope, theirs)? || is_within(transaction, theirs, scope)? {
            let (id, holder) = (other.id, &other.holder);
            let message = format!(
                "{id} of {holder} is about {theirs}, which overlaps {scope}; --force shares it"
            );
            return Err(Error::new(Code::ScopeConflict, message)
                .fix(format!("cleo session status --session {id}")));
        }
    }
    Ok(())
}

pub(crate) fn list(context: &mut Context, filter: SessionFilter) -> Result<Sessions> {
    let sessions = context.read(|transaction| transaction.sessions(filter.status))?;
    Ok(Sessions {
        total: sessions.len(),
        sessions,
    })
}

/// Reads a session, or the caller's, with the state of its work.
pub(crate) fn status(context: &mut Context, which: OneSession) -> Result<Standing> {
    let (around, now) = (context.surroundings.clone(), context.now());
    context.read(|transaction| {
        let session = choose_session(transaction, which.session, &around)?;
        let focus = session.focus.map(|id| require(transaction, id));
        let next = choose(transaction, session.scope, None, &now)?.task;
        Ok(Standing {
            counts: transaction.counts(session.scope)?,
            claims: claims_of_leader(transaction, &session)?,
            next: next.map(|one| one.task.id),
            focus: focus.transpose()?,
            session,
        })
    })
}

/// Ends a session, or the caller's. One of another leader, and one whose leader holds tasks of its
/// scope, ends only by `force`.
pub(crate) fn end(context: &mut Context, request: EndSession) -> Result<Moved> {
    let around = context.surroundings.clone();
    if request.force {
        around.assignment.refuse_agent("ends no session by force")?;
    }
    let caller = Caller::without_task(context);
    context.write(|transaction| {
        let mut session = choose_session(transaction, request.session, &around)?;
        if session.status == SessionStatus::Ended {
            return Ok(no_move(session));
        }
        if !request.force {
            refuse_end(transaction, &session, &caller)?;
        }
        if let Some(text) = request.note {
            check_note(&text)?;
            if session.notes.len() >= ITEMS_MAX {
                let message = format!("{} has {ITEMS_MAX} notes, the maximum", session.id);
                let fix = format!("cleo session status --session {}", session.id);
                return Err(Error::new(Code::TextTooLong, message).fix(fix));
            }
            let (at, by) = (caller.now.clone(), caller.name.clone());
            session.notes.push(Note { at, by, text });
        }
        session.status = SessionStatus::Ended;
        session.ended_at = Some(caller.now.clone());
        put(transaction, session, "session-ended")
    })
}

fn refuse_end(transaction: &dyn Transaction, session: &Session, caller: &Caller) -> Result<()> {
    let Session { id, holder, .. } = session;
    let (message, fix) = if *holder == caller.name {
        let mut held = claims_of_leader(transaction, session)?;
        held.retain(|claim| !claim.is_expired(&caller.now));
        let Some(Claim { task, epoch, .. }) = held.first() else {
            return Ok(());
        };
        let ids: Vec<TaskId> = held.iter().map(|claim| claim.task).collect();
        let message = format!("{holder} still holds {} in {id}", id::list(&ids));
        (message, format!("cleo release {task} --epoch {epoch}"))
    } else {
        let message = format!("{holder} leads {id}, not {}", caller.name);
        (message, format!("cleo session status --session {id}"))
    };
    Err(Error::new(Code::SessionBlocked, message).fix(fix))
}

/// Opens an ended session again, led by the caller. The scope of somebody else's open session is
/// shared only by `force`.
pub(crate) fn resume(context: &mut Context, request: ResumeSession) -> Result<Moved> {
    let id = request.session;
    let caller = Caller::without_task(context);
    context.write(|transaction| {
        let mut session = find(transaction, id)?;
        if session.status == SessionStatus::Open {
            if session.holder == caller.name {
                return Ok(no_move(session));
            }
            let message = format!("{id} is open, and {} leads it", session.holder);
            return Err(Error::new(Code::SessionExists, message)
                .fix(format!("cleo session status --session {id}")));
        }
        refuse_second(transaction, &caller)?;
        if let Some(scope) = session.scope {
            refuse_overlap(transaction, scope, request.force)?;
        }
        session.status = SessionStatus::Open;
        session.ended_at = None;
        session.holder = caller.name.clone();
        put(transaction, session, "session-resumed")
    })
}

/// Reads the task in focus of a session, or of the caller's.
pub(crate) fn focus(context: &mut Context, which: WhichSession) -> Result<Focus> {
    let around = context.surroundings.clone();
    context.read(|transaction| {
        let session = choose_session(transaction, which.session, &around)?;
        refuse_ended(&session)?;
        let focus = session.focus.map(|id| require(transaction, id));
        let focus = focus.transpose()?;
        Ok(Focus { focus, session })
    })
}

/// Sets the focus of a session, or of the caller's, to an open task of its scope, or to none.
pub(crate) fn set_focus(context: &mut Context, wanted: SetFocus) -> Result<Focus> {
    let around = context.surroundings.clone();
    context.write(|transaction| {
        let mut session = choose_session(transaction, wanted.session, &around)?;
        refuse_ended(&session)?;
        let focus = wanted.task.map(|id| require(transaction, id)).transpose()?;
        if let Some(task) = &focus {
            check_focus(transaction, &session, task)?;
        }
        session.focus = focus.as_ref().map(|task| task.id);
        let session = put(transaction, session, "session-focused")?.session;
        Ok(Focus { focus, session })
    })
}

fn refuse_ended(session: &Session) -> Result<()> {
    if session.status == SessionStatus::Open {
        return Ok(());
    }
    let error = Error::new(Code::SessionRequired, format!("{} has ended", session.id));
    Err(error.fix(format!("cleo session resume {}", session.id)))
}

fn check_focus(transaction: &dyn Transaction, session: &Session, task: &Task) -> Result<()> {
    let id = task.id;
    if let Some(scope) = session.scope
        && !is_within(transaction, id, scope)?
    {
        let message = format!(
            "{id} is not in the scope of {}, which is {scope}",
            session.id
        );
        let error = Error::new(Code::NotInScope, message);
        return Err(error.fix(format!("cleo list --parent {scope} --tree")));
    }
    if task.is_closed() {
        let message = format!("{id} is {}: there is nothing to focus on", task.status);
        return Err(Error::new(Code::StatusRefused, message).fix(format!("cleo reopen {id}")));
    }
    Ok(())
}

fn no_move(session: Session) -> Moved {
    Moved {
        session,
        changed: false,
    }
}

fn put(transaction: &mut dyn Transaction, session: Session, kind: &str) -> Result<Moved> {
    transaction.put_session(&session)?;
    transaction.record(&Change {
        kind: kind.to_string(),
        task: None,
        detail: json!({"session": session.id, "scope": session.scope, "focus": session.focus}),
    })?;
    Ok(Moved {
        session,
        changed: true,
    })
}
