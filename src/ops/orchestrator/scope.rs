//! Which tasks are asked about, and what is known of those that somebody works on.

use std::cell::RefCell;
use std::collections::HashMap;

use serde::Serialize;

use super::few::Size;
use crate::claim::Claim;
use crate::error::Result;
use crate::id::TaskId;
use crate::manifest::log::{self, Latest};
use crate::manifest::{Draft, Status as EntryStatus};
use crate::ops::runs::alive;
use crate::ops::tasks::{Ready, is_within};
use crate::ops::{Context, Surroundings, require};
use crate::store::{Counts, Transaction};
use crate::task::{Status, Task, TaskView};
use crate::workspace::Workspace;

/// Most active tasks that are looked at.
const ACTIVE_MAX: u32 = 20;
/// Most claims that are looked at.
const CLAIMS_MAX: usize = 200;

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
        let is_inside = match self.epic {
            Some(epic) => is_within(self.transaction, id, epic)?,
            None => true,
        };
        let found = (self.transaction.status(id)?, is_inside);
        self.known.borrow_mut().insert(id, found);
        Ok(found)
    }

    pub(super) fn is_open(&self, id: TaskId) -> Result<bool> {
        let status = self.look(id)?.0;
        Ok(status.is_some_and(|status| !matches!(status, Status::Done | Status::Cancelled)))
    }

    pub(super) fn holds(&self, id: TaskId) -> Result<bool> {
        Ok(self.look(id)?.1)
    }

    /// Says whether an entry is linked to a task of the scope.
    pub(super) fn holds_entry(&self, draft: &Draft<'_>) -> Result<bool> {
        let mut linked = draft.tasks().filter(|(field, _)| *field == "linked_tasks");
        linked.try_fold(self.epic.is_none(), |holds, (_, id)| {
            Ok(holds || self.holds(id)?)
        })
    }
}

/// What is known of a scope, before it is cut.
pub(super) struct Facts {
    pub(super) epic: Option<Task>,
    pub(super) counts: Counts,
    pub(super) active: Vec<Working>,
    pub(super) ran_out: Vec<Claim>,
    /// A task that a run holds which nobody carries out any more, and that run.
    pub(super) left: Option<(TaskId, alive::Left)>,
}

/// An active task, who holds it, and how far its entry says it came.
pub(super) struct Working {
    pub(super) task: Task,
    pub(super) held: Option<String>,
    pub(super) entry: Option<(String, EntryStatus)>,
}

/// An active task in few words.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Active {
    /// The task.
    #[serde(flatten)]
    pub(crate) task: TaskView,
    /// Who holds it, where somebody has claimed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) holder: Option<String>,
    /// What its latest entry in the manifest says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entry: Option<EntryStatus>,
}

impl Facts {
    pub(super) fn read(context: &mut Context, epic: Option<TaskId>) -> Result<Facts> {
        let (manifest, now) = (context.workspace.manifest()?, context.now());
        let mut facts = context.read(|transaction| {
            let epic = epic.map(|id| require(transaction, id)).transpose()?;
            let root = epic.as_ref().map(|epic| epic.id);
            let ids = transaction.recent(root, Status::Active, ACTIVE_MAX)?;
            let latest = match ids.is_empty() {
                true => Latest::default(),
                false => log::latest_for(&manifest, &ids, |_, _| true)?,
            };
            let mut active = Vec::new();
            for task in transaction.readable(&ids)? {
                let entry = latest.entry(task.id);
                active.push(Working {
                    held: transaction.claim(task.id)?.and_then(|claim| claim.holder),
                    entry: entry.map(|entry| (entry.id.clone(), entry.status)),
                    task,
                });
            }
            let scope = Scope::new(transaction, root);
            let mut kept = Vec::new();
            for claim in transaction.expired_claims(&now)? {
                if kept.len() < CLAIMS_MAX
                    && scope.holds(claim.task)?
                    && scope.is_open(claim.task)?
                {
                    kept.push(claim);
                }
            }
            Ok(Facts {
                counts: transaction.counts(root)?,
                epic,
                active,
                ran_out: kept,
                left: None,
            })
        })?;
        facts.left = facts.broken_off(&context.surroundings, &context.workspace)?;
        Ok(facts)
    }

    fn broken_off(
        &self,
        surroundings: &Surroundings,
        workspace: &Workspace,
    ) -> Result<Option<(TaskId, alive::Left)>> {
        let active = self.active.iter();
        let active = active.map(|working| (working.task.id, working.held.as_deref()));
        let ran_out = self.ran_out.iter();
        let ran_out = ran_out.map(|claim| (claim.task, claim.holder.as_deref()));
        let held = active.chain(ran_out);
        let held: Vec<(TaskId, &str)> = held
            .filter_map(|(task, holder)| Some((task, holder?)))
            .collect();
        let holders = held.iter().map(|(_, holder)| *holder);
        let left = alive::left(surroundings, workspace, holders)?;
        let found = held.into_iter().find_map(|(task, holder)| {
            let run = left.iter().find(|left| left.run == holder)?;
            Some((task, run.clone()))
        });
        Ok(found)
    }

    pub(super) fn count(&self, status: Status) -> usize {
        usize::try_from(self.counts.get(&status).copied().unwrap_or(0)).unwrap_or(usize::MAX)
    }

    pub(super) fn n_ready(&self, ready: &Ready) -> usize {
        usize::try_from(ready.total).unwrap_or(usize::MAX)
    }

    pub(super) fn total(&self) -> usize {
        Status::ALL.iter().map(|status| self.count(*status)).sum()
    }

    /// Returns how many hundredths of what is not cancelled are done.
    pub(super) fn percent(&self) -> usize {
        let counted = self.total() - self.count(Status::Cancelled);
        (self.count(Status::Done) * 100)
            .checked_div(counted)
            .unwrap_or(0)
    }

    pub(super) fn root(&self) -> Option<TaskId> {
        self.epic.as_ref().map(|epic| epic.id)
    }

    /// Returns the option that names the scope to a command.
    pub(super) fn option(&self) -> String {
        self.root()
            .map(|id| format!(" --epic {id}"))
            .unwrap_or_default()
    }
}

impl Working {
    pub(super) fn shown(&self, size: Size) -> Active {
        Active {
            task: size.view(&self.task),
            holder: self.held.as_ref().map(|holder| size.cut(holder)),
            entry: self.entry.as_ref().map(|(_, status)| *status),
        }
    }
}
