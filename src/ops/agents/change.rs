//! Removing agents: one by its id, and runtime agents all at once or after half an hour.

use chrono::{DateTime, Utc};
use clap::Args;
use serde::{Deserialize, Serialize};

use super::{AgentId, One, Registry, load_with, terms, write};
use crate::agent::{Agent, Kind, SUPERVISOR, runtime_moment};
use crate::clock::unix_ms;
use crate::error::{Code, Error, Result, quote};
use crate::id::TaskId;
use crate::ops::trust::{Item, Trust};
use crate::ops::{Context, Notes, Surroundings};
use crate::store::{Filter, Transaction};

/// How long a runtime agent stays.
const STAY_MS: u64 = 30 * 60 * 1_000;

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Removed {
    /// The agent as it was; its executions stay in the history.
    #[serde(flatten)]
    pub(crate) one: One,
    /// True if a changed built-in agent is as it was built again.
    pub(crate) restored: bool,
    /// The tasks that were assigned to it, and have no assigned agent now.
    pub(crate) unassigned: Vec<TaskId>,
}

/// Runtime agents that were removed.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Cleaned {
    message: String,
    /// Ids of the agents that were removed.
    pub(crate) cleaned_up: Vec<String>,
    /// Ids of all that remain, in list order.
    remaining: Vec<String>,
    pub(crate) count: Count,
}

/// How many agents there were and are.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Count {
    before: usize,
    pub(crate) after: usize,
    pub(crate) removed: usize,
}

#[derive(Debug, Default, Args, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct Cleanup {
    /// Only agents older than 30 minutes, by the time in their id
    #[arg(long = "expired")]
    pub(crate) older_than: bool,

    /// Reference time in milliseconds since 1970 [default: now]
    #[arg(long, value_name = "MS", requires = "older_than")]
    pub(crate) now: Option<u64>,
}

/// Which runtime agents are removed. Moments are milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ops) enum Sweep {
    All,
    /// Agents whose id is older than 30 minutes at this moment.
    Explicit(u64),
    /// Agents whose id and registration are older than 30 minutes at this moment.
    Automatic(u64),
}

impl Sweep {
    fn includes(self, agent: &Agent) -> bool {
        let Some(created) = runtime_moment(&agent.id) else {
            return false;
        };
        match self {
            Sweep::All => true,
            Sweep::Explicit(now) => now.saturating_sub(created) > STAY_MS,
            Sweep::Automatic(now) => {
                now.saturating_sub(created.max(registration_time(agent))) > STAY_MS
            }
        }
    }
}

/// Returns when a runtime agent is removed; `None` for others.
pub(crate) fn expires(agent: &Agent) -> Option<DateTime<Utc>> {
    let created = runtime_moment(&agent.id).filter(|_| agent.is_runtime)?;
    let end = created
        .max(registration_time(agent))
        .saturating_add(STAY_MS);
    DateTime::from_timestamp_millis(i64::try_from(end).ok()?)
}

/// Returns when an agent was registered, in milliseconds since 1970.
fn registration_time(agent: &Agent) -> u64 {
    let moment = agent.created_at.as_deref().and_then(unix_ms);
    moment.map_or(0, i64::unsigned_abs)
}

pub(crate) fn remove(
    surroundings: &Surroundings,
    _: &mut Notes,
    AgentId { id }: AgentId,
) -> Result<Removed> {
    let workspace = surroundings.workspace()?;
    let agent = write(&workspace, |transaction| {
        let known = load_with(transaction, &workspace)?;
        let is_known = known.agents.iter().any(|agent| agent.id == id);
        let read = transaction.agent(&id).err();
        let is_damaged = !is_known && read.is_some_and(|error| error.code == Code::RowDamaged);
        if surroundings.visible_user().is_none() && is_damaged {
            transaction.remove_agent(&id)?;
            return Ok(Agent::new(&id, Kind::Persistent, &id));
        }
        let agent = terms::require(surroundings, &known, &id)?.clone();
        terms::refuse_of_file(surroundings, &workspace, &known, &id, "remove")?;
        match transaction.remove_agent(&id)? {
            false if agent.is_builtin => Err(refuse_builtin(&id)),
            _ => Ok(agent),
        }
    })?;
    let unassigned = match agent.is_builtin {
        true => Vec::new(),
        false => unassign(surroundings, &id)?,
    };
    // Trust that stays counts only for exactly this agent.
    let _ = Trust::new(surroundings, &workspace).untrust(&Item::worker(&agent));
    Ok(Removed {
        restored: agent.is_builtin,
        one: Registry::load(surroundings)?.show_stored(agent),
        unassigned,
    })
}

/// Takes a removed agent from its tasks, and returns these.
fn unassign(surroundings: &Surroundings, agent: &str) -> Result<Vec<TaskId>> {
    let mut context = Context::open(surroundings.clone())?;
    let now = context.now();
    let filter = Filter {
        agent: Some(agent.to_string()),
        ..Filter::default()
    };
    context.write(|transaction| {
        let mut unassigned = Vec::new();
        for mut task in transaction.list(&filter)?.tasks {
            task.assigned_agent = None;
            task.touch(&now);
            transaction.put(&task)?;
            unassigned.push(task.id);
        }
        Ok(unassigned)
    })
}

fn refuse_builtin(id: &str) -> Error {
    let message = format!("`{id}` is built in and cannot be removed");
    let show = format!("cleo agents show {}", quote(id));
    let error = Error::new(Code::AgentInvalid, message).fix(show);
    match id {
        SUPERVISOR => error,
        _ => error.or(
            "pause it",
            format!("cleo agents update {} --status paused", quote(id)),
        ),
    }
}

pub(crate) fn cleanup(
    surroundings: &Surroundings,
    _: &mut Notes,
    wanted: Cleanup,
) -> Result<Cleaned> {
    let workspace = surroundings.workspace()?;
    let millis = surroundings.clock.now().timestamp_millis().unsigned_abs();
    let sweep = match (wanted.older_than, wanted.now) {
        (true, now) => Sweep::Explicit(now.unwrap_or(millis)),
        (false, None) => Sweep::All,
        (false, Some(_)) => {
            let message = "now: it counts only with `olderThan`, which is false";
            return Err(Error::new(Code::InputInvalid, message));
        }
    };
    let cleaned = write(&workspace, |transaction| {
        let before = load_with(transaction, &workspace)?.agents;
        let cleaned_up = sweep_runtime(transaction, sweep)?;
        let ids = before.iter().map(|agent| &agent.id);
        let remaining: Vec<String> = ids.filter(|id| !cleaned_up.contains(id)).cloned().collect();
        Ok(Cleaned {
            message: format!("Cleaned up {} runtime agents", cleaned_up.len()),
            count: Count {
                before: before.len(),
                after: remaining.len(),
                removed: cleaned_up.len(),
            },
            remaining,
            cleaned_up,
        })
    })?;
    for id in &cleaned.cleaned_up {
        unassign(surroundings, id)?;
    }
    Ok(cleaned)
}

pub(in crate::ops) fn sweep_runtime(
    transaction: &mut dyn Transaction,
    sweep: Sweep,
) -> Result<Vec<String>> {
    if transaction.runtime_agents()? == 0 {
        return Ok(Vec::new());
    }
    let mut agents = transaction.agents()?;
    agents.retain(|agent| agent.is_runtime && sweep.includes(agent));
    let ids: Vec<String> = agents.into_iter().map(|agent| agent.id).collect();
    for id in &ids {
        transaction.remove_agent(id)?;
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleanup_removes_runtime_agents_after_half_hour() {
        let now = 1_800_000_000_000;
        let minutes = |count: u64| now - count * 60_000;
        let agent = |id: String, registered: Option<&str>| Agent {
            created_at: registered.map(str::to_string),
            ..Agent::new(&id, Kind::Runtime, "A")
        };
        let old = agent(format!("custom_{}", minutes(31)), None);
        let young = agent(format!("custom_{}", minutes(29)), None);
        let other = agent("agent-1".to_string(), None);
        // Registered a minute ago under an old id.
        let sample = agent(
            "custom_1756441115596".into(),
            Some("2027-01-15T07:59:00.000Z"),
        );
        for (sweep, old_goes, sample_goes) in [
            (Sweep::All, true, true),
            (Sweep::Explicit(now), true, true),
            (Sweep::Automatic(now), true, false),
        ] {
            assert_eq!(sweep.includes(&old), old_goes, "{sweep:?}");
            assert_eq!(sweep.includes(&sample), sample_goes, "{sweep:?}");
            assert_eq!(sweep.includes(&young), sweep == Sweep::All, "{sweep:?}");
            assert!(!sweep.includes(&other), "{sweep:?}");
        }
    }
}
