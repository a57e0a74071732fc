//! Which tasks are asked about.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::error::Result;
use crate::id::TaskId;
use crate::manifest::Draft;
use crate::ops::tasks::is_in_scope;
use crate::store::Transaction;
use crate::task::Status;

/// The tasks below an epic, or all.
pub(super) struct Scope<'a> {
    transaction: &'a dyn Transaction,
    epic: Option<TaskId>,
    known: RefCell<HashMap<TaskId, (Option<Status>, bool)>>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(transaction: &'a dyn Transaction, epic: Option<TaskId>) -> Scope<'a> {
        Scope {
            transaction,
            epic,
            known: RefCell::default(),
        }
    }

    /// Reads where a task stands, and whether it is the epic or below it.
    fn look(&self, id: TaskId) -> Result<(Option<Status>, bool)> {
        if let Some(known) = self.known.borrow().get(&id) {
            return Ok(*known);
        }
        let is_inside = is_in_scope(self.transaction, id, self.epic)?;
        let found = (self.transaction.status(id)?, is_inside);
        self.known.borrow_mut().insert(id, found);
        Ok(found)
    }

    pub(super) fn is_open(&self, id: TaskId) -> Result<bool> {
        let status = self.look(id)?.0;
        Ok(status.is_some_and(|status| !matches!(status, Status::Done | Status::Cancelled)))
    }

    /// Returns whether an entry is linked to a task of the scope.
    pub(super) fn holds_entry(&self, draft: &Draft<'_>) -> Result<bool> {
        let mut linked = draft.tasks().filter(|(field, _)| *field == "linked_tasks");
        linked.try_fold(self.epic.is_none(), |holds, (_, id)| {
            Ok(holds || self.look(id)?.1)
        })
    }
}
