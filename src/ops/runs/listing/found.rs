//! Which runs are listed, and how all of a user's stand.

use std::cmp::Ordering;

use super::Summary;
use crate::error::Result;
use crate::run::{Run, RunStatus};
use crate::store::agency::{AgencyTransaction, Dir, Order, RunFilter};

/// How many runs are looked through for words, and for what happened today.
const LOOKED_THROUGH: u32 = 500;

pub(super) fn found(
    transaction: &dyn AgencyTransaction,
    wanted: &RunFilter,
) -> Result<(Vec<Run>, u64)> {
    let words = wanted.words.trim().to_lowercase();
    let is_newest_first =
        (wanted.order, wanted.dir.unwrap_or(Dir::Desc)) == (Order::Started, Dir::Desc);
    let is_search = !words.is_empty() || !is_newest_first;
    if !is_search {
        let page = transaction.runs(wanted)?;
        return Ok((page.runs, page.total));
    }
    let mut runs = transaction
        .runs(&RunFilter {
            limit: LOOKED_THROUGH,
            offset: 0,
            ..wanted.clone()
        })?
        .runs;
    runs.retain(|run| run.id == words || run.input.to_lowercase().contains(&words));
    sort(&mut runs, wanted.order, wanted.dir.unwrap_or(Dir::Desc));
    let total = runs.len() as u64;
    let runs = runs
        .into_iter()
        .skip(wanted.offset as usize)
        .take(wanted.limit as usize);
    Ok((runs.collect(), total))
}

fn sort(runs: &mut [Run], order: Order, dir: Dir) {
    let turned = |order: Ordering| match dir {
        Dir::Asc => order,
        Dir::Desc => order.reverse(),
    };
    runs.sort_by(|a, b| match order {
        Order::Started => turned(a.started_at.cmp(&b.started_at)),
        Order::Status => turned(a.status.word().cmp(b.status.word())),
        Order::Duration => known_first(a.execution_time_ms, b.execution_time_ms, |a, b| {
            turned(a.cmp(b))
        }),
        Order::Cost => known_first(a.cost, b.cost, |a, b| turned(a.total_cmp(b))),
    });
}

fn known_first<T>(
    a: Option<T>,
    b: Option<T>,
    compare: impl FnOnce(&T, &T) -> Ordering,
) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => compare(&a, &b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

/// Counts how the runs of a user stand; without one, those of everybody.
pub(super) fn summary(
    transaction: &dyn AgencyTransaction,
    user: Option<&String>,
    now: &str,
) -> Result<Summary> {
    let mut summary = Summary::default();
    for tally in transaction.tallies(user.map(String::as_str))? {
        match tally.status {
            RunStatus::Running | RunStatus::Pending => summary.live += tally.runs,
            RunStatus::Interrupted => summary.needs_you += tally.runs,
            _ => {}
        }
    }
    let filter = RunFilter {
        user: user.cloned(),
        limit: LOOKED_THROUGH,
        ..RunFilter::default()
    };
    let day = now.get(..10).unwrap_or(now);
    let today = transaction.runs(&filter)?.runs.into_iter();
    for run in today.filter(|run| run.started_at.starts_with(day)) {
        summary.today += 1;
        summary.finished_today += u64::from(run.status == RunStatus::Completed);
        summary.failed_today += u64::from(run.status == RunStatus::Failed);
        summary.costs_told += u64::from(run.cost.is_some());
        summary.cost_today = summary
            .cost_today
            .into_iter()
            .chain(run.cost)
            .reduce(|a, b| a + b);
    }
    Ok(summary)
}
