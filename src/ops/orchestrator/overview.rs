//! What the answers to an orchestrating agent have in common, and what they are cut from.

use serde::Serialize;

use super::few::{Few, Size};
use super::followups::{self, Followup};
use super::recommend::{Recommended, recommend};
use super::scope::{Active, Facts, Scope};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::tasks::{self, Apart, Ready};
use crate::store::Counts;
use crate::task::{Status, Task, TaskView};

/// How far the work of an epic, or all of it, is.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Standing {
    /// The epic that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) epic: Option<TaskView>,
    /// How many tasks stand where.
    pub(crate) state: Counts,
    /// Hundredths of the tasks that are done, without cancelled ones.
    pub(crate) percent: usize,
    /// Tasks that somebody works on, the last changed first.
    pub(crate) active: Few<Active>,
}

/// How far the work is, and what comes next.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Overview {
    #[serde(flatten)]
    pub(crate) standing: Standing,
    /// What to do first.
    pub(crate) recommended: Recommended,
    /// Tasks that an agent can start now, most urgent first.
    pub(crate) ready: Few<TaskView>,
    /// Entries of the manifest that something has to follow, the newest first.
    pub(crate) followups: Few<Followup>,
}

/// All that overviews are cut from.
pub(super) struct Collected {
    pub(super) facts: Facts,
    pub(super) ready: Ready,
    /// The ready tasks, most urgent first.
    pub(super) first: Vec<Task>,
    apart: Apart,
    open: followups::Open,
}

impl Facts {
    pub(super) fn standing(&self, size: Size) -> Standing {
        let n_active = self.count(Status::Active);
        Standing {
            epic: self.epic.as_ref().map(|epic| size.view(epic)),
            state: self.counts.clone(),
            percent: self.percent(),
            active: size.few(&self.active, n_active, |one| one.shown(size)),
        }
    }
}

impl Collected {
    /// Reads all of it with at most so many ready tasks.
    pub(super) fn read(
        context: &mut Context,
        epic: Option<TaskId>,
        ready_max: u32,
    ) -> Result<Collected> {
        let facts = Facts::read(context, epic)?;
        let ready = tasks::find_ready(context, epic, Some(ready_max))?;
        let (manifest, now) = (context.workspace.manifest()?, context.now());
        let ids: Vec<TaskId> = ready.tasks.iter().map(|one| one.task.id).collect();
        context.read(|transaction| {
            Ok(Collected {
                first: transaction.readable(&ids)?,
                apart: tasks::apart(transaction, &ids, usize::MAX, &now)?,
                open: followups::open(&manifest, &Scope::new(transaction, epic))?,
                facts,
                ready,
            })
        })
    }

    pub(super) fn overview(&self, size: Size) -> Overview {
        let n_ready = self.facts.n_ready(&self.ready);
        Overview {
            standing: self.facts.standing(size),
            recommended: recommend(&self.facts, &self.ready, &self.apart),
            ready: size.few(&self.first, n_ready, |task| size.view(task)),
            followups: size.few(&self.open.entries, self.open.total, |entry| {
                Followup::new(entry, size)
            }),
        }
    }
}
