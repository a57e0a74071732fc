//! Which session a command is about, and what a session is about.

use crate::claim::Claim;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::tasks::is_within;
use crate::session::{Session, SessionId, SessionStatus};
use crate::store::Transaction;

/// Finds the open session that a task belongs to: of those that cover it the one with the nearest
/// scope, and of several the first.
pub(in crate::ops) fn covering(
    transaction: &dyn Transaction,
    task: TaskId,
) -> Result<Option<SessionId>> {
    let open = transaction.sessions(Some(SessionStatus::Open))?;
    let mut level = Some(task).filter(|_| !open.is_empty());
    while let Some(id) = level {
        if let Some(session) = open.iter().find(|session| session.scope == Some(id)) {
            return Ok(Some(session.id));
        }
        level = transaction.parent(id)?;
    }
    let everywhere = open.iter().find(|session| session.scope.is_none());
    Ok(everywhere.map(|session| session.id))
}

/// Which session a command is about.
pub(super) struct Which {
    /// The one that was named.
    named: Option<SessionId>,
    caller: String,
}

impl Which {
    /// The one that was given, else the one that the environment names.
    pub(super) fn of(context: &Context, given: Option<SessionId>) -> Which {
        let surroundings = &context.surroundings;
        Which {
            named: given.or(surroundings.assignment.session),
            caller: surroundings.actor.clone(),
        }
    }

    /// Reads the one that was named, else the open one that the caller leads.
    pub(super) fn find(&self, transaction: &dyn Transaction) -> Result<Session> {
        if let Some(id) = self.named {
            return find(transaction, id);
        }
        led_by(transaction, &self.caller)?.ok_or_else(|| {
            let message = format!("{} leads no open session", self.caller);
            Error::new(Code::SessionRequired, message)
                .fix("cleo session start")
                .or("see what there is", "cleo session list")
        })
    }

    /// Reads the same, which must be open.
    pub(super) fn open(&self, transaction: &dyn Transaction) -> Result<Session> {
        let session = self.find(transaction)?;
        if session.status == SessionStatus::Open {
            return Ok(session);
        }
        let id = session.id;
        let message = format!("{id} has ended");
        Err(Error::new(Code::SessionRequired, message).fix(format!("cleo session resume {id}")))
    }
}

/// Reads a session that must be there.
pub(super) fn find(transaction: &dyn Transaction, id: SessionId) -> Result<Session> {
    transaction.session(id)?.ok_or_else(|| {
        let message = format!("there is no session {id}");
        Error::new(Code::SessionNotFound, message).fix("cleo session list")
    })
}

/// Finds the open session that somebody leads.
pub(super) fn led_by(transaction: &dyn Transaction, holder: &str) -> Result<Option<Session>> {
    let open = transaction.sessions(Some(SessionStatus::Open))?;
    Ok(open.into_iter().find(|session| session.holder == holder))
}

/// Says whether a task is in the scope of a session.
pub(super) fn covers(
    transaction: &dyn Transaction,
    session: &Session,
    task: TaskId,
) -> Result<bool> {
    match session.scope {
        Some(scope) => is_within(transaction, task, scope),
        None => Ok(true),
    }
}

/// Reads what whoever leads a session holds in its scope.
pub(super) fn claims_in(transaction: &dyn Transaction, session: &Session) -> Result<Vec<Claim>> {
    let mut claims = Vec::new();
    for claim in transaction.claims_of(&session.holder)? {
        if covers(transaction, session, claim.task)? {
            claims.push(claim);
        }
    }
    Ok(claims)
}
