//! The task that a session works on now.

use super::keep;
use super::which::{Which, covers};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::{Context, require};
use crate::session::{Session, SessionId};
use crate::store::Transaction;
use crate::task::Task;

/// Reads the task in focus of a session, or of the caller's.
pub fn focus(context: &mut Context, id: Option<SessionId>) -> Result<(Session, Option<Task>)> {
    let which = Which::of(context, id);
    context.read(|transaction| {
        let session = which.open(transaction)?;
        let task = session
            .focus
            .map(|id| require(transaction, id))
            .transpose()?;
        Ok((session, task))
    })
}

/// Sets the focus of a session, or of the caller's, to a task of its scope, or to none.
pub fn set_focus(
    context: &mut Context,
    id: Option<SessionId>,
    focus: Option<TaskId>,
) -> Result<(Session, Option<Task>)> {
    let which = Which::of(context, id);
    context.write(|transaction| {
        let mut session = which.open(transaction)?;
        let task = focus.map(|id| require(transaction, id)).transpose()?;
        if let Some(task) = &task {
            check_focus(transaction, &session, task)?;
        }
        session.focus = focus;
        let kept = keep(transaction, session, "session-focused")?;
        Ok((kept.session, task))
    })
}

fn check_focus(transaction: &dyn Transaction, session: &Session, task: &Task) -> Result<()> {
    let id = task.id;
    if !covers(transaction, session, id)? {
        let scope = session.scope.map(|scope| scope.to_string());
        let scope = scope.unwrap_or_default();
        let message = format!(
            "{id} is not in the scope of {}, which is {scope}",
            session.id
        );
        return Err(
            Error::new(Code::NotInScope, message).fix(format!("cleo list --parent {scope} --tree"))
        );
    }
    if task.is_closed() {
        let message = format!("{id} is {}: there is nothing to focus on", task.status);
        return Err(Error::new(Code::StatusRefused, message).fix(format!("cleo reopen {id}")));
    }
    Ok(())
}
