//! Where everything stands: epics, agents, what came last.

use serde::Serialize;

use super::few::{Few, Size};
use super::overview::Standing;
use super::scope::{Facts, Scope};
use crate::error::Result;
use crate::id::TaskId;
use crate::manifest::{Status as EntryStatus, log};
use crate::ops::tasks::{Below, warn_of_stuck};
use crate::ops::{Context, no_task};
use crate::store::Transaction;
use crate::task::{Status, TaskView};

/// Most epics that are shown.
const EPICS_MAX: u32 = 20;
/// Most entries that are shown.
const ENTRIES_MAX: usize = 5;
/// How long texts may be.
const SIZE: Size = Size {
    items: 20,
    text: 100,
};

/// Where everything stands.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Overall {
    #[serde(flatten)]
    pub(crate) standing: Standing,
    /// How many tasks there are.
    pub(crate) total: usize,
    /// How far open epics are; only the one that was asked about, if one was.
    pub(crate) epics: Few<EpicProgress>,
    /// The newest entries of the manifest, the newest first.
    pub(crate) entries: Vec<Reported>,
}

/// How far an epic is.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct EpicProgress {
    #[serde(flatten)]
    pub(crate) epic: TaskView,
    /// How many of its tasks are done, to any depth.
    pub(crate) done: u64,
    /// How many it has, without cancelled ones.
    pub(crate) total: u64,
}

/// What an agent reported.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Reported {
    /// Id of the entry.
    pub(crate) id: String,
    /// Its title, cut.
    pub(crate) title: String,
    /// How far the work came.
    pub(crate) status: EntryStatus,
    /// The day of the work.
    pub(crate) date: String,
}

/// Reads where the work of an epic, or all of it, stands.
pub(crate) fn status(context: &mut Context, part: Below) -> Result<Overall> {
    let epic = part.epic;
    warn_of_stuck(context, epic)?;
    let facts = Facts::read(context, epic)?;
    let manifest = context.workspace.manifest()?;
    context.read(|transaction| {
        let (epics, n_epics) = match epic {
            Some(epic) => (vec![epic], 1),
            None => transaction.open_epics(EPICS_MAX)?,
        };
        let epics: Result<Vec<_>> = epics
            .into_iter()
            .map(|id| progress(transaction, id))
            .collect();
        let scope = Scope::new(transaction, epic);
        let newest = log::newest(&manifest, ENTRIES_MAX, |draft| scope.holds_entry(draft))?;
        Ok(Overall {
            standing: facts.standing(SIZE),
            total: facts.total(),
            epics: Few::of(epics?, usize::try_from(n_epics).unwrap_or(usize::MAX)),
            entries: newest
                .entries
                .into_iter()
                .rev()
                .map(|entry| Reported {
                    title: SIZE.cut(&entry.title),
                    id: entry.id,
                    status: entry.status,
                    date: entry.date,
                })
                .collect(),
        })
    })
}

fn progress(transaction: &dyn Transaction, id: TaskId) -> Result<EpicProgress> {
    let counts = transaction.counts(Some(id))?;
    let count = |status| counts.get(&status).copied().unwrap_or(0);
    Ok(EpicProgress {
        epic: SIZE.view(&transaction.salvaged(id)?.ok_or_else(|| no_task(id))?),
        done: count(Status::Done),
        total: counts.values().sum::<u64>() - count(Status::Cancelled),
    })
}
