//! What executions say of agents: how often, how long, how well.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::load_in;
use super::window::{self, Spread, Window};
use crate::agent::{Agent, AgentStatus, Role};
use crate::clock::timestamp;
use crate::error::Result;
use crate::ops::runs::open_after_recovery;
use crate::ops::{Notes, Surroundings};
use crate::route::FINALIZE;
use crate::run::{RunKind, RunStatus};
use crate::store::Store;
use crate::store::records::Tally;

/// Most agents among the most used.
const MOST_USED: usize = 5;

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Metrics {
    pub(crate) dashboard: Dashboard,
    /// Each active agent; the one that was used last comes first.
    pub(crate) agents: Vec<Measured>,
}

/// The numbers of all agents together.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Dashboard {
    pub(crate) active_agents: usize,
    #[serde(flatten)]
    pub(crate) counts: Counts,
    pub(crate) cancelled_executions: u64,
    /// Share of those that ended which were answered, by nobody in the place of an agent that failed, from
    /// 0 to 1; none before the first has ended.
    pub(crate) success_rate: Option<f64>,
    /// How long an answer takes; what ended without one has no response. None before the first.
    pub(crate) average_response_time_ms: Option<f64>,
    /// The agents with the most executions, most first.
    pub(crate) most_used_agents: Vec<Used>,
    /// Where executions went, `finalize` where no agent fits, most first.
    pub(crate) routing_patterns: Vec<Pattern>,
    /// Those of the last 24 hours.
    pub(crate) window: Window,
}

/// How many agents and executions there are, in the form of the specification.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Counts {
    pub(crate) total_agents: usize,
    pub(crate) total_executions: u64,
    /// How many executions are under way.
    pub(crate) active_executions: u64,
    pub(crate) completed_executions: u64,
    pub(crate) failed_executions: u64,
}

/// How often an agent was used.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Used {
    pub(crate) agent_id: String,
    pub(crate) count: u64,
}

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Pattern {
    #[serde(flatten)]
    pub(crate) used: Used,
    /// Which part of all that is, from 0 to 1.
    pub(crate) share: f64,
}

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Measured {
    pub(crate) agent_id: String,
    pub(crate) name: String,
    pub(crate) description: String,
    /// What it does among the others.
    pub(crate) role: Role,
    /// Whether messages reach it: they do.
    pub(crate) status: AgentStatus,
    /// How many executions it had, also such as are under way.
    pub(crate) execution_count: u64,
    /// How long one takes, answered or not; none before the first has ended.
    pub(crate) average_execution_time_ms: Option<f64>,
    /// Share of those that ended which it answered, from 0 to 1; none before the first has ended.
    pub(crate) success_rate: Option<f64>,
    /// When its last execution began, RFC 3339 in UTC.
    pub(crate) last_used_at: Option<String>,
    /// Its executions of the last 24 hours.
    pub(crate) window: Spread,
}

#[derive(Default)]
struct Sum {
    runs: u64,
    timed: u64,
    time_ms: u64,
    completed: u64,
    failed: u64,
    cancelled: u64,
    running: u64,
    /// Answered by somebody else, since the agent failed.
    stood_in: u64,
    last: Option<String>,
}

impl Sum {
    fn add(&mut self, tally: &Tally) {
        self.runs += tally.runs;
        self.timed += tally.timed;
        self.time_ms += tally.time_ms;
        self.stood_in += tally.stood_in;
        match tally.status {
            RunStatus::Completed => self.completed += tally.runs,
            RunStatus::Failed => self.failed += tally.runs,
            RunStatus::Cancelled | RunStatus::Interrupted => self.cancelled += tally.runs,
            RunStatus::Pending | RunStatus::Running => self.running += tally.runs,
        }
        self.last = self.last.take().max(Some(tally.last_started.clone()));
    }

    fn average(&self) -> Option<f64> {
        (self.timed > 0).then(|| self.time_ms as f64 / self.timed as f64)
    }

    fn success_rate(&self) -> Option<f64> {
        let ended = self.completed + self.failed;
        let own = self.completed.saturating_sub(self.stood_in);
        (ended > 0).then(|| own as f64 / ended as f64)
    }
}

// Whose executions to count. A doc comment would become the help of the command.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Default, Args, Deserialize)]
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
    let user = surroundings.only().or(wanted.user.as_deref());
    let since = window::begin(surroundings.clock.now());
    let (tallies, seen) = match open_after_recovery(&workspace, &surroundings.clock)? {
        Some(mut store) => {
            let (transaction, from) = (store.read()?, timestamp(since));
            let seen = transaction.executions_since(user, &from, window::LOOKED_AT)?;
            (transaction.tallies(user)?, seen)
        }
        None => Default::default(),
    };
    let agents = load_in(&workspace)?
        .keep_visible(surroundings.only())
        .agents;
    let (window, mut of_agents) = window::measure(since, &seen);
    let mut metrics = measure(&agents, &tallies);
    metrics.dashboard.window = window;
    for agent in &mut metrics.agents {
        agent.window = of_agents.remove(&agent.agent_id).unwrap_or_default();
    }
    Ok(metrics)
}

fn measure(agents: &[Agent], tallies: &[Tally]) -> Metrics {
    let (mut all, mut answered) = (Sum::default(), Sum::default());
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    let executions = tallies.iter();
    let executions = executions.filter(|tally| tally.kind == RunKind::Execution);
    for tally in executions {
        all.add(tally);
        if tally.status == RunStatus::Completed {
            answered.add(tally);
        }
        let agent = tally.agent.clone().unwrap_or_else(|| FINALIZE.to_string());
        sums.entry(agent).or_default().add(tally);
    }
    let used = sums.iter().filter(|(_, sum)| sum.runs > 0);
    let used = used.map(|(id, sum)| Used {
        agent_id: id.clone(),
        count: sum.runs,
    });
    let mut used: Vec<Used> = used.collect();
    used.sort_by_key(|used| Reverse(used.count));
    let total_agents = agents.len();
    let active = agents.iter();
    let active = active.filter(|agent| agent.status == AgentStatus::Active);
    let mut agents: Vec<_> = active
        .map(|agent| measure_agent(agent, sums.get(&agent.id)))
        .collect();
    agents.sort_by_key(|agent| Reverse(agent.last_used_at.clone()));
    let share = |used: Used| Pattern {
        share: used.count as f64 / all.runs.max(1) as f64,
        used,
    };
    let real = used.iter().filter(|used| used.agent_id != FINALIZE);
    Metrics {
        dashboard: Dashboard {
            active_agents: agents.len(),
            counts: Counts {
                total_agents,
                total_executions: all.runs,
                active_executions: all.running,
                completed_executions: all.completed,
                failed_executions: all.failed,
            },
            cancelled_executions: all.cancelled,
            success_rate: all.success_rate(),
            average_response_time_ms: answered.average(),
            most_used_agents: real.take(MOST_USED).cloned().collect(),
            routing_patterns: used.into_iter().map(share).collect(),
            window: Window::default(),
        },
        agents,
    }
}

fn measure_agent(agent: &Agent, sum: Option<&Sum>) -> Measured {
    Measured {
        agent_id: agent.id.clone(),
        name: agent.name.clone(),
        description: agent.description.clone(),
        role: agent.role,
        status: agent.status,
        execution_count: sum.map_or(0, |sum| sum.runs),
        average_execution_time_ms: sum.and_then(Sum::average),
        success_rate: sum.and_then(Sum::success_rate),
        last_used_at: sum.and_then(|sum| sum.last.clone()),
        window: Spread::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::builtin;

    #[test]
    fn a_response_is_an_answer_and_an_execution_is_any_that_ended() {
        let tally = |status, runs, time_ms| Tally {
            kind: RunKind::Execution,
            agent: Some("toby-technical".to_string()),
            status,
            runs,
            timed: runs,
            time_ms,
            last_started: String::new(),
            stood_in: u64::from(status == RunStatus::Completed),
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
