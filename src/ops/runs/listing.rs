//! Runs on one line each, which says how far they are.

mod found;

use std::sync::Arc;

use clap::Args;
use serde::{Deserialize, Serialize};

use self::found::{found, summary};
use super::{name_epics, open};
use crate::error::Result;
use crate::ops::Context;
use crate::ops::work::{Dir, lock};
use crate::run::track::Track;
use crate::run::view::RunRow;
use crate::run::{RunKind, RunStatus};
use crate::store::agency::Agency;

/// Longest message in a row, in characters.
const INPUT_MAX: usize = 300;

// Which runs. A doc comment would become the help of the command.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct RunQuery {
    /// Only runs of this agent
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,

    /// Only runs with this status: pending, running, completed, failed, cancelled or
    /// interrupted
    #[arg(long, value_name = "STATUS")]
    pub(crate) status: Option<RunStatus>,

    /// Only runs of this kind: execution, query, plan, epic or tasks
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<RunKind>,

    /// Words to look for in id and message, among the last 500
    #[arg(skip)]
    #[serde(rename = "q")]
    pub(crate) words: String,

    /// By what they are sorted, among the last 500; by default newest first
    #[arg(skip)]
    #[serde(rename = "sort")]
    pub(crate) order: Order,

    /// Which way; by default the largest first
    #[arg(skip)]
    pub(crate) dir: Option<Dir>,

    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: u32,

    /// Without the first so many
    #[arg(skip)]
    pub(crate) offset: u32,
}

/// By what runs are sorted; what is equal, newest first.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Order {
    /// By when they began.
    #[default]
    Started,
    /// By how long they took; those that are not over stand last.
    Duration,
    /// By what they cost; those that do not say stand last.
    Cost,
    /// By status, in the order of its words.
    Status,
}

/// Runs.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Default, Serialize)]
pub(crate) struct Rows {
    pub(crate) runs: Vec<RunRow>,
    /// How many fit in all; of those that are looked for by words, or sorted by anything but newest first,
    /// among the last ones.
    pub(crate) total: u64,
    /// How all runs of the user stand.
    pub(crate) summary: Summary,
}

/// How runs stand.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    /// Under way.
    pub(crate) live: u64,
    /// Can be gone on with.
    pub(crate) needs_you: u64,
    /// Begun today (UTC), among the last 500.
    pub(crate) today: u64,
    /// Of these, ended well.
    pub(crate) finished_today: u64,
    /// Of these, ended badly.
    pub(crate) failed_today: u64,
    /// What these cost in US dollars, as far as they say.
    pub(crate) cost_today: Option<f64>,
    /// How many of today's runs say what they cost.
    pub(crate) costs_told: u64,
}

/// Lists runs of the caller. Those of dead processes are marked first.
pub(crate) fn rows(context: &mut Context, wanted: RunQuery) -> Result<Rows> {
    let (user, now) = (context.surroundings.rights.user.clone(), context.now());
    let memory = Arc::clone(&context.memory);
    let Some(agency) = open(context)? else {
        return Ok(Rows::default());
    };
    let transaction = agency.read()?;
    let (runs, total) = found(&*transaction, user.as_ref(), &wanted)?;
    let mut memory = lock(&memory);
    let mut rows = Vec::with_capacity(runs.len());
    for mut run in runs {
        let is_over_tasks = matches!(run.kind, RunKind::Epic | RunKind::Tasks);
        run.output = None;
        run.input = run.input.chars().take(INPUT_MAX).collect();
        rows.push(match is_over_tasks {
            true => RunRow::new(
                run.clone(),
                memory.track(&*transaction, &run.id, &[])?,
                &now,
            ),
            false => RunRow::new(run, &Track::default(), &now),
        });
    }
    let summary = summary(&*transaction, user.as_ref(), &now)?;
    drop((memory, transaction));
    name_epics(context, &mut rows.iter_mut().collect::<Vec<_>>())?;
    Ok(Rows {
        runs: rows,
        total,
        summary,
    })
}
