//! Executions of the last 24 hours: how many in each hour, and how long answers take.

use std::collections::HashMap;

use chrono::{DateTime, DurationRound as _, TimeDelta, Utc};
use serde::Serialize;

use crate::clock::timestamp;
use crate::run::RunStatus;
use crate::store::records::ExecutionStat;

/// Length of the window, in hours.
pub(super) const HOURS: i64 = 24;
/// Most executions that are read, the last ones.
pub(super) const EXECUTIONS_MAX: u32 = 10_000;

/// Executions of the last 24 hours, the current one included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Window {
    /// Since when, the beginning of an hour, RFC 3339 in UTC.
    pub(crate) since: String,
    #[serde(flatten)]
    pub(crate) all: Spread,
    /// Each hour, oldest first, also those in which nothing was executed.
    pub(crate) hours: Vec<Hour>,
    /// Whether all executions of this time were read, and not only the last 10,000.
    pub(crate) is_whole: bool,
}

/// How many executions there were, and how long answers took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Spread {
    pub(crate) executions: u64,
    /// How many of them failed, or their agent did.
    pub(crate) failed: u64,
    /// How many were answered by the model or worker of their agent.
    pub(crate) answered: u64,
    /// Median of their time, in milliseconds; none before the first.
    pub(crate) median_ms: Option<u64>,
    /// 95th percentile of their time, in milliseconds; none before the first.
    pub(crate) p95_ms: Option<u64>,
}

/// Executions that began in an hour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Hour {
    /// When the hour began, RFC 3339 in UTC.
    pub(crate) at: String,
    pub(crate) executions: u64,
    /// How many of them failed, or their agent did.
    pub(crate) failed: u64,
}

/// Returns the beginning of the window that ends now.
pub(super) fn window_start(now: DateTime<Utc>) -> DateTime<Utc> {
    let hour = now.duration_trunc(TimeDelta::hours(1)).unwrap_or(now);
    hour - TimeDelta::hours(HOURS - 1)
}

/// Returns the window of all agents, and the figures of each.
pub(super) fn measure(
    since: DateTime<Utc>,
    seen: &[ExecutionStat],
) -> (Window, HashMap<String, Spread>) {
    let hours = (0..HOURS).map(|hour| Hour {
        at: timestamp(since + TimeDelta::hours(hour)),
        executions: 0,
        failed: 0,
    });
    let mut hours: Vec<Hour> = hours.collect();
    let mut by_agent: HashMap<String, Vec<&ExecutionStat>> = HashMap::new();
    for one in seen {
        // Times of one form sort by their bytes.
        let at = hours.partition_point(|hour| hour.at <= one.started_at);
        if let Some(hour) = at.checked_sub(1).and_then(|at| hours.get_mut(at)) {
            hour.executions += 1;
            hour.failed += u64::from(has_failed(one));
        }
        if let Some(agent) = &one.agent {
            by_agent.entry(agent.clone()).or_default().push(one);
        }
    }
    let window = Window {
        since: timestamp(since),
        all: measure_spread(seen),
        hours,
        is_whole: seen.len() < EXECUTIONS_MAX as usize,
    };
    let by_agent = by_agent.into_iter();
    (
        window,
        by_agent
            .map(|(agent, seen)| (agent, measure_spread(seen)))
            .collect(),
    )
}

fn has_failed(one: &ExecutionStat) -> bool {
    one.status == RunStatus::Failed || one.answered_by_fallback
}

fn measure_spread<'a>(seen: impl IntoIterator<Item = &'a ExecutionStat>) -> Spread {
    let (mut spread, mut times) = (Spread::default(), Vec::new());
    for one in seen {
        spread.executions += 1;
        spread.failed += u64::from(has_failed(one));
        let is_answer = one.status == RunStatus::Completed && !one.answered_by_fallback;
        times.extend(one.time_ms.filter(|_| is_answer));
    }
    times.sort_unstable();
    let at = |percent: usize| {
        let place = (times.len() * percent).div_ceil(100);
        times.get(place.saturating_sub(1)).copied()
    };
    Spread {
        answered: times.len() as u64,
        median_ms: at(50),
        p95_ms: at(95),
        ..spread
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_measured_and_all_executions_counted_by_hour() {
        let now: DateTime<Utc> = "2026-01-26T09:30:00Z".parse().unwrap();
        let since = window_start(now);
        assert_eq!(timestamp(since), "2026-01-25T10:00:00.000Z");
        let one = |at: &str, status, time_ms| ExecutionStat {
            agent: Some("a".into()),
            status,
            answered_by_fallback: false,
            time_ms: Some(time_ms),
            started_at: format!("2026-01-{at}:59.000Z"),
        };
        let done = RunStatus::Completed;
        let mut seen: Vec<ExecutionStat> = (1..=20)
            .map(|time| one("26T09:10", done, time * 10))
            .collect();
        seen.push(one("26T08:00", RunStatus::Failed, 9_999));
        seen.push(one("25T10:00", RunStatus::Unanswered, 1));
        let (window, by_agent) = measure(since, &seen);
        assert_eq!(window.all, by_agent["a"]);
        let Spread {
            executions,
            failed,
            answered,
            median_ms,
            p95_ms,
        } = window.all;
        assert_eq!((executions, failed, answered), (22, 1, 20));
        assert_eq!((median_ms, p95_ms), (Some(100), Some(190)));
        let counts = |hour: usize| (window.hours[hour].executions, window.hours[hour].failed);
        assert_eq!(
            (counts(0), counts(22), counts(23)),
            ((1, 0), (1, 1), (20, 0))
        );
        assert_eq!(window.hours[23].at, "2026-01-26T09:00:00.000Z");
        assert_eq!(measure(since, &[]).0.all.median_ms, None);
    }
}
