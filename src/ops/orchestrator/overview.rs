//! What the answers to an orchestrating agent are cut from.

use super::few::{Few, Line, Size};
use super::followups::{self, Followup};
use super::recommend::{Recommended, recommend};
use super::scope::{Active, Facts, Scope};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::tasks::{self, Apart, Ready};
use crate::task::{Status, Task};

/// Where the work of an epic, or all of it, stands.
pub(super) struct Overview {
    pub(super) facts: Facts,
    pub(super) ready: Ready,
    /// The ready tasks, most urgent first.
    pub(super) first: Vec<Task>,
    apart: Apart,
    open: followups::Open,
}

impl Overview {
    /// Reads it with at most so many ready tasks.
    pub(super) fn read(
        context: &mut Context,
        epic: Option<TaskId>,
        ready_max: u32,
    ) -> Result<Overview> {
        let facts = Facts::read(context, epic)?;
        let ready = tasks::ready(context, epic, Some(ready_max))?;
        let (manifest, now) = (context.workspace.manifest()?, context.now());
        let ids: Vec<TaskId> = ready.tasks.iter().map(|task| task.id).collect();
        context.read(|transaction| {
            Ok(Overview {
                first: transaction.readable(&ids)?,
                apart: tasks::apart(transaction, &ids, usize::MAX, &now)?,
                open: followups::open(&manifest, &Scope::new(transaction, epic))?,
                facts,
                ready,
            })
        })
    }

    pub(super) fn recommended(&self) -> Recommended {
        recommend(&self.facts, &self.ready, &self.apart)
    }

    pub(super) fn active(&self, size: Size) -> Few<Active> {
        let total = self.facts.count(Status::Active);
        size.few(&self.facts.active, total, |one| one.shown(size))
    }

    pub(super) fn ready(&self, size: Size) -> Few<Line> {
        let total = self.facts.n_ready(&self.ready);
        size.few(&self.first, total, |task| size.line(task))
    }

    pub(super) fn followups(&self, size: Size) -> Few<Followup> {
        size.few(&self.open.entries, self.open.total, |entry| {
            Followup::new(entry, size)
        })
    }
}
