//! Entries of the manifest that belong to an epic, and the follow-ups that they ask for.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;

use super::cut::{Few, cut};
use crate::error::Result;
use crate::id::TaskId;
use crate::manifest::{Draft, Status as EntryStatus, log};
use crate::ops::tasks::is_in_scope;
use crate::store::Transaction;

/// Maximum number of entries with follow-ups.
const FOLLOWUPS_MAX: usize = 12;
/// Maximum number of follow-ups of one entry.
const NEEDS_SHOWN: usize = 3;

/// An entry with follow-ups that are not done.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Followup {
    pub(crate) entry: String,
    /// Ids of tasks, or `BLOCKED:` and the reason.
    pub(crate) needs: Vec<String>,
}

cut! { Followup: entry needs; }

/// The tasks below an epic, or all.
pub(super) struct Scope<'a> {
    transaction: &'a dyn Transaction,
    epic: Option<TaskId>,
    /// Whether each task is open, and whether it is the epic or below it.
    known: RefCell<HashMap<TaskId, (bool, bool)>>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(transaction: &'a dyn Transaction, epic: Option<TaskId>) -> Scope<'a> {
        Scope {
            transaction,
            epic,
            known: RefCell::default(),
        }
    }

    fn read(&self, id: TaskId) -> Result<(bool, bool)> {
        if let Some(known) = self.known.borrow().get(&id) {
            return Ok(*known);
        }
        let status = self.transaction.status(id)?;
        let is_open = status.is_some_and(|status| !status.is_closed());
        let found = (is_open, is_in_scope(self.transaction, id, self.epic)?);
        self.known.borrow_mut().insert(id, found);
        Ok(found)
    }

    pub(super) fn is_open(&self, id: TaskId) -> Result<bool> {
        Ok(self.read(id)?.0)
    }

    /// Returns whether an entry is linked to a task of the scope.
    pub(super) fn contains(&self, draft: &Draft<'_>) -> Result<bool> {
        let mut linked = draft.tasks().filter(|(field, _)| *field == "linked_tasks");
        linked.try_fold(self.epic.is_none(), |contains, (_, id)| {
            Ok(contains || self.read(id)?.1)
        })
    }

    /// Reads the open follow-ups, the newest first.
    pub(super) fn followups(&self, manifest: &Path) -> Result<Few<Followup>> {
        let newest = log::newest(manifest, FOLLOWUPS_MAX, |draft| self.has_followups(draft))?;
        let followups = newest.entries.into_iter().rev().map(|entry| {
            let needs = entry.needs_followup.iter().take(NEEDS_SHOWN);
            Followup {
                needs: needs.map(ToString::to_string).collect(),
                entry: entry.id,
            }
        });
        Ok(Few::new(followups.collect(), newest.total as u64))
    }

    /// Returns whether a task that follows is open, or for a reason without task, one that the entry is linked to.
    fn has_followups(&self, draft: &Draft<'_>) -> Result<bool> {
        let mut needs = draft.texts("needs_followup").peekable();
        if needs.peek().is_none()
            || draft.has_status(EntryStatus::Archived)
            || !self.contains(draft)?
        {
            return Ok(false);
        }
        let is_blocked = needs.any(|need| need.starts_with("BLOCKED:"));
        for (field, task) in draft.tasks() {
            let counts = field == "needs_followup" || is_blocked && field == "linked_tasks";
            if counts && self.is_open(task)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
