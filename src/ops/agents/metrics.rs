//! Statistics of executions: how often agents were used, how long they took, and how often they answered.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::load_in;
use crate::agent::{Agent, AgentStatus, Role};
use crate::error::Result;
use crate::ops::runs::open_after_recovery;
use crate::ops::{Notes, Surroundings};
use crate::route::FINALIZE;
use crate::run::{RunKind, RunStatus};
use crate::store::Store;
use crate::store::records::Tally;

/// Most agents among the most used.
const MOST_USED: usize = 5;

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Metrics {
    pub(crate) dashboard: Dashboard,
    /// Each active agent; the one that was used last comes first.
    pub(crate) agents: Vec<Measured>,
}

/// The numbers of all agents together.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Dashboard {
    pub(crate) active_agents: usize,
    pub(crate) total_agents: usize,
    pub(crate) total_executions: u64,
    /// How many executions are in progress.
    pub(crate) active_executions: u64,
    pub(crate) completed_executions: u64,
    pub(crate) failed_executions: u64,
    /// How many of the completed executions were only routed, because no model was configured.
    pub(crate) unanswered_executions: u64,
    pub(crate) cancelled_executions: u64,
    /// Share of the executions that were answered, of those that a model or worker was asked in, from 0 to 1; none
    /// before the first of these has ended. An answer in the place of an agent that failed does not count.
    pub(crate) success_rate: Option<f64>,
    /// Average time of an answer. None before the first.
    pub(crate) average_response_time_ms: Option<f64>,
    /// The agents with the most executions, most first.
    pub(crate) most_used_agents: Vec<Used>,
    /// Where executions went, `finalize` where no agent fits, most first.
    pub(crate) routing_patterns: Vec<Pattern>,
}

/// How often an agent was used.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Used {
    pub(crate) agent_id: String,
    pub(crate) count: u64,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Pattern {
    #[serde(flatten)]
    pub(crate) used: Used,
    /// Share of all executions, from 0 to 1.
    pub(crate) share: f64,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Measured {
    pub(crate) agent_id: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) role: Role,
    pub(crate) status: AgentStatus,
    /// How many executions it had, with those in progress.
    pub(crate) execution_count: u64,
    /// Average time of an execution, answered or not; none before the first has ended.
    pub(crate) average_execution_time_ms: Option<f64>,
    /// Share of the executions that it answered, of those that it was asked in, from 0 to 1; none before the first of
    /// these has ended.
    pub(crate) success_rate: Option<f64>,
    /// When its last execution began, RFC 3339 in UTC.
    pub(crate) last_used_at: Option<String>,
}

/// Counted executions of one agent, or of all.
#[derive(Default)]
struct Tallies<'a>(Vec<&'a Tally>);

impl Tallies<'_> {
    fn runs(&self, statuses: &[RunStatus]) -> u64 {
        let tallies = self.0.iter().filter(|it| statuses.contains(&it.status));
        tallies.map(|it| it.runs).sum()
    }

    fn average_ms(&self, statuses: &[RunStatus]) -> Option<f64> {
        let tallies = self.0.iter().filter(|it| statuses.contains(&it.status));
        let (timed, time_ms) = tallies.fold((0, 0), |(timed, time_ms), it| {
            (timed + it.timed, time_ms + it.time_ms)
        });
        (timed > 0).then(|| time_ms as f64 / timed as f64)
    }

    fn success_rate(&self) -> Option<f64> {
        let completed = self.runs(&[RunStatus::Completed]);
        let ended = completed + self.runs(&[RunStatus::Failed]);
        let fallback: u64 = self.0.iter().map(|it| it.answered_by_fallback).sum();
        (ended > 0).then(|| completed.saturating_sub(fallback) as f64 / ended as f64)
    }
}

#[derive(Debug, Default, Args, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Measuring {
    /// Only executions of this user
    #[arg(long, value_name = "NAME")]
    #[serde(skip)]
    user: Option<String>,
}

/// Counts executions of a user, or of all, and those of each agent that the caller sees.
pub(crate) fn metrics(
    surroundings: &Surroundings,
    _: &mut Notes,
    wanted: Measuring,
) -> Result<Metrics> {
    let workspace = surroundings.workspace()?;
    let user = surroundings.visible_user().or(wanted.user.as_deref());
    let tallies = match open_after_recovery(&workspace, &surroundings.clock)? {
        Some(mut store) => store.read()?.tallies(user)?,
        None => Vec::new(),
    };
    let known = load_in(&workspace)?.keep_visible(surroundings.visible_user());
    Ok(measure(&known.agents, &tallies))
}

fn measure(agents: &[Agent], tallies: &[Tally]) -> Metrics {
    use RunStatus::{Cancelled, Completed, Failed, Interrupted, Pending, Running, Unanswered};
    let mut all = Tallies::default();
    let mut by_agent: BTreeMap<&str, Tallies<'_>> = BTreeMap::new();
    for tally in tallies.iter().filter(|it| it.kind == RunKind::Execution) {
        all.0.push(tally);
        let agent = tally.agent.as_deref().unwrap_or(FINALIZE);
        by_agent.entry(agent).or_default().0.push(tally);
    }
    let used = by_agent.iter().map(|(id, tallies)| Used {
        agent_id: id.to_string(),
        count: tallies.runs(RunStatus::ALL),
    });
    let mut used: Vec<Used> = used.filter(|used| used.count > 0).collect();
    used.sort_by_key(|used| Reverse(used.count));
    let active = agents.iter().filter(|it| it.status == AgentStatus::Active);
    let none = Tallies::default();
    let measured = active.map(|agent| {
        let tallies = by_agent.get(&*agent.id).unwrap_or(&none);
        Measured {
            agent_id: agent.id.clone(),
            name: agent.name.clone(),
            description: agent.description.clone(),
            role: agent.role,
            status: agent.status,
            execution_count: tallies.runs(RunStatus::ALL),
            average_execution_time_ms: tallies.average_ms(RunStatus::ALL),
            success_rate: tallies.success_rate(),
            last_used_at: tallies.0.iter().map(|it| it.last_started.clone()).max(),
        }
    });
    let mut measured: Vec<Measured> = measured.collect();
    measured.sort_by_key(|agent| Reverse(agent.last_used_at.clone()));
    let total_executions = all.runs(RunStatus::ALL);
    let share = |used: Used| Pattern {
        share: used.count as f64 / total_executions.max(1) as f64,
        used,
    };
    let real = used.iter().filter(|used| used.agent_id != FINALIZE);
    Metrics {
        dashboard: Dashboard {
            active_agents: measured.len(),
            total_agents: agents.len(),
            total_executions,
            active_executions: all.runs(&[Pending, Running]),
            completed_executions: all.runs(&[Completed, Unanswered]),
            failed_executions: all.runs(&[Failed]),
            unanswered_executions: all.runs(&[Unanswered]),
            cancelled_executions: all.runs(&[Cancelled, Interrupted]),
            success_rate: all.success_rate(),
            average_response_time_ms: all.average_ms(&[Completed, Unanswered]),
            most_used_agents: real.take(MOST_USED).cloned().collect(),
            routing_patterns: used.into_iter().map(share).collect(),
        },
        agents: measured,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::builtin;

    #[test]
    fn response_is_answer() {
        let tally = |status, runs, time_ms| Tally {
            kind: RunKind::Execution,
            agent: Some("toby-technical".to_string()),
            status,
            runs,
            timed: runs,
            time_ms,
            last_started: String::new(),
            answered_by_fallback: u64::from(status == RunStatus::Completed),
        };
        let tallies = [
            tally(RunStatus::Completed, 2, 200),
            tally(RunStatus::Failed, 1, 60_100),
        ];
        let found = measure(&builtin::agents(), &tallies);
        assert_eq!(found.dashboard.average_response_time_ms, Some(100.0));
        let toby = found
            .agents
            .iter()
            .find(|one| one.agent_id == "toby-technical");
        let toby = toby.unwrap();
        assert_eq!(toby.average_execution_time_ms, Some(20_100.0));
        assert_eq!(
            toby.success_rate,
            Some(1.0 / 3.0),
            "one was answered in its place"
        );
        assert_eq!(found.dashboard.success_rate, Some(1.0 / 3.0));
    }
}
