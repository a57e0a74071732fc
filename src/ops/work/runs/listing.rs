//! Runs, one line each.

use std::sync::Arc;

use serde::Serialize;

use crate::error::Result;
use crate::ops::Context;
use crate::ops::runs::open;
use crate::ops::work::tracks::lock;
use crate::run::view::RunRow;
use crate::run::{RunKind, RunProjection, RunStatus};
use crate::store::records::{RunFilter, RunPage};
use crate::store::{Store, Transaction};

/// How many of the last runs are looked at for what happened today.
const LOOKED_THROUGH: u32 = 500;
/// Longest message in a row, in characters.
const INPUT_MAX: usize = 300;

#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
pub(crate) struct Rows {
    pub(crate) runs: Vec<RunRow>,
    /// Number of matches; of a search by words, or in another order than newest first, among the last ones.
    pub(crate) total: u64,
    /// Counts over all runs of the user.
    pub(crate) summary: Summary,
}

#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    pub(crate) live: u64,
    /// Can be resumed.
    pub(crate) needs_you: u64,
    /// Begun today (UTC), among the last 500.
    pub(crate) today: u64,
    /// Of these, ended well.
    pub(crate) finished_today: u64,
    /// Of these, ended badly.
    pub(crate) failed_today: u64,
    /// Cost of these in US dollars, as far as they report it.
    pub(crate) cost_today: Option<f64>,
    /// How many of today's runs say what they cost.
    pub(crate) costs_told: u64,
}

/// Lists runs of the caller, after runs of dead processes were marked.
pub(crate) fn rows(context: &mut Context, wanted: RunFilter) -> Result<Rows> {
    let user = context.visible_user();
    let now = context.now();
    let cache = Arc::clone(&context.cache);
    let transaction = open(context)?.read()?;
    let RunPage { runs, total } = transaction.runs(user.as_deref(), &wanted)?;
    let mut tracks = lock(&cache.tracks);
    let (mut rows, no_track) = (Vec::with_capacity(runs.len()), RunProjection::default());
    for mut run in runs {
        run.output = None;
        run.input = run.input.chars().take(INPUT_MAX).collect();
        let track = match run.kind {
            RunKind::Epic | RunKind::Tasks => tracks.update(&*transaction, &run.id, &[])?,
            _ => &no_track,
        };
        rows.push(RunRow::new(run, track, &now));
    }
    let summary = summary(&*transaction, user.as_deref(), &now)?;
    Ok(Rows {
        runs: rows,
        total,
        summary,
    })
}

/// Counts the runs of a user by status; without one, those of all users.
fn summary(transaction: &dyn Transaction, user: Option<&str>, now: &str) -> Result<Summary> {
    let mut summary = Summary::default();
    for tally in transaction.tallies(user)? {
        match tally.status {
            RunStatus::Running | RunStatus::Pending => summary.live += tally.runs,
            RunStatus::Interrupted => summary.needs_you += tally.runs,
            _ => {}
        }
    }
    let filter = RunFilter {
        limit: LOOKED_THROUGH,
        ..RunFilter::default()
    };
    let day = now.get(..10).unwrap_or(now);
    let today = transaction.runs(user, &filter)?.runs.into_iter();
    for run in today.filter(|run| run.started_at.starts_with(day)) {
        summary.today += 1;
        summary.finished_today += u64::from(run.status == RunStatus::Completed);
        summary.failed_today += u64::from(run.status == RunStatus::Failed);
        summary.costs_told += u64::from(run.cost.is_some());
        let costs = summary.cost_today.into_iter().chain(run.cost);
        summary.cost_today = costs.reduce(|a, b| a + b);
    }
    Ok(summary)
}
