//! What becomes of sessions when the delete of their scope or focus is taken back.

use std::collections::{HashMap, HashSet};

use serde_json::json;

use crate::error::Result;
use crate::id::TaskId;
use crate::session::Session;
use crate::store::log::DELETED;
use crate::store::{Change, Operation, Recorded, Transaction};

/// What is told of a session that has its scope or focus again.
const RESTORED: &str = "session-restored";
/// What is told of one that somebody gave a focus, or none.
const FOCUSED: &str = "session-focused";
/// How many changes of the log are read at once.
const PAGE: u32 = 1_000;

/// Gives sessions back the scope and focus that went with a delete: without a scope, a session is
/// about everything. A focus that was chosen since stays.
pub(super) fn restore(
    transaction: &mut dyn Transaction,
    operation: &Operation,
    changes: &[Recorded],
) -> Result<()> {
    let deleted = changes.iter().filter(|each| each.change.kind == DELETED);
    let back: HashSet<TaskId> = deleted.filter_map(|each| each.change.task).collect();
    let mut sessions = transaction.sessions(None)?;
    sessions.retain(|session| session.scope.is_none() || session.focus.is_none());
    if back.is_empty() || sessions.is_empty() {
        return Ok(());
    }
    let told = Told::read(transaction, operation.number)?;
    for session in sessions {
        let whole = told.whole(&session, &back);
        if whole != session {
            keep(transaction, &whole)?;
        }
    }
    Ok(())
}

/// Says whether a change goes with its task: what a session has again it loses with that.
pub(super) fn goes_along(change: &Change) -> bool {
    change.kind == RESTORED
}

fn keep(transaction: &mut dyn Transaction, session: &Session) -> Result<()> {
    transaction.put_session(session)?;
    transaction.record(&Change {
        kind: RESTORED.to_string(),
        task: None,
        detail: json!({"session": session.id, "scope": session.scope, "focus": session.focus}),
    })
}

/// What the log tells of sessions: a delete itself tells nothing of them.
#[derive(Default)]
struct Told {
    /// What was told last of each before the delete, by id.
    before: HashMap<String, Change>,
    /// Those that were given a focus after it.
    focused: HashSet<String>,
}

impl Told {
    fn read(transaction: &dyn Transaction, operation: u64) -> Result<Told> {
        let (mut told, mut cursor) = (Told::default(), 0);
        loop {
            let page = transaction.changes(cursor, None, PAGE)?;
            let Some(last) = page.last() else {
                return Ok(told);
            };
            cursor = last.cursor;
            page.into_iter().for_each(|each| told.note(each, operation));
        }
    }

    fn note(&mut self, recorded: Recorded, operation: u64) {
        let Recorded {
            operation: own,
            change,
            ..
        } = recorded;
        let Some(session) = change.detail["session"].as_str().map(str::to_string) else {
            return;
        };
        if own < operation && change.kind.starts_with("session-") {
            self.before.insert(session, change);
        } else if own > operation && change.kind == FOCUSED {
            self.focused.insert(session);
        }
    }

    /// Returns a session with what it lost.
    fn whole(&self, session: &Session, back: &HashSet<TaskId>) -> Session {
        let name = session.id.to_string();
        let lost = |part: &str| {
            let task = self.before.get(&name)?.detail[part].as_str()?;
            let task = task.parse::<TaskId>().ok()?;
            back.contains(&task).then_some(task)
        };
        let lost_focus = || lost("focus").filter(|_| !self.focused.contains(&name));
        Session {
            scope: session.scope.or_else(|| lost("scope")),
            focus: session.focus.or_else(lost_focus),
            ..session.clone()
        }
    }
}
