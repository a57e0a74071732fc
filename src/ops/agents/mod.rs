//! The registry of agents: built-in ones, files in `.cleo/agents`, registered and runtime agents. Rules:
//! multi-agent notes, sections 1.4, 1.7 and 1.9.

pub(crate) mod change;
mod files;
pub(crate) mod lookup;
pub(crate) mod metrics;
pub(crate) mod register;
mod roster;
pub(crate) mod sync;
mod terms;
pub(crate) mod trust;

use std::collections::{HashMap, HashSet};

use clap::Args;
use serde::{Deserialize, Serialize};

use super::Surroundings;
use super::trust::{Item, Standing, Trust};
use crate::agent::{Agent, AgentStatus, builtin};
use crate::clock::timestamp;
use crate::error::{Code, Error, Result, nearest};
use crate::ops::runs::{list_working_agents, open_after_recovery};
use crate::run::RunKind;
use crate::store::sqlite::SqliteStore;
use crate::store::{Database, Store, Transaction};
use crate::words::closed;
use crate::workspace::Workspace;
pub(crate) use change::{Cleanup, cleanup, expires, remove};
pub(crate) use files::LeftOut;
pub(in crate::ops) use files::read_values;
pub(crate) use lookup::{Lookup, list, show};
pub(super) use lookup::{check_assignable, find_assigned, require_visible};
pub(crate) use metrics::{Measuring, metrics};
pub(crate) use register::{Import, import, register, update};
pub(crate) use roster::{Roster, View};

/// An agent with its file, trust and use.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Shown {
    #[serde(flatten)]
    pub(crate) agent: Agent,
    /// The file that defines it, relative to the workspace; none for one of the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    /// Whether it may be called, of a worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) standing: Option<Standing>,
    /// When it is removed, of a runtime agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    executions: u64,
    pub(crate) state: AgentState,
}

closed! {
    /// The activity of an agent. The words are those of the coordinator specification, section 8.
    AgentState, "state of an agent":
    Idle = "idle",
    /// It answers a message, does a step, or holds a task.
    Processing = "processing",
    /// It is paused or archived: nothing goes to it.
    Stopped = "stopped",
}

/// An agent as it is, or as a change made it.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct One {
    pub(crate) agent: Shown,
}

#[derive(Debug, Args, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentId {
    /// Id of the agent
    #[arg(value_name = "AGENT")]
    pub(crate) id: String,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// The agents in list order, which decides ties: built-in ones, files by name, registered ones in the order of
    /// their registration, runtime agents.
    pub(crate) agents: Vec<Agent>,
    /// The files that define agents, relative to the workspace, by id.
    pub(crate) files: HashMap<String, String>,
    pub(crate) warnings: Vec<String>,
    pub(crate) left_out: Vec<LeftOut>,
}

impl Known {
    /// Leaves out private agents of other users, the owners of runtime agents, and when agents were last used.
    /// Without a user nothing is left out.
    pub(crate) fn keep_visible(mut self, user: Option<&str>) -> Known {
        if user.is_some() {
            self.agents.retain(|agent| agent.is_seen_by(user));
            for agent in &mut self.agents {
                agent.user_id.take_if(|owner| Some(owner.as_str()) != user);
                agent.last_used_at = None;
            }
            // Only users of the workspace itself learn what invalid files hold.
            self.left_out.clear();
        }
        self
    }

    pub(crate) fn require(&self, id: &str) -> Result<&Agent> {
        let found = self.agents.iter().find(|agent| agent.id == id);
        found.ok_or_else(|| self.no_agent(id))
    }

    fn no_agent(&self, id: &str) -> Error {
        let error = no_agent(id, self.agents.iter().map(|agent| &*agent.id));
        if self.left_out.is_empty() {
            return error;
        }
        let files: Vec<&str> = self.left_out.iter().map(|it| &*it.file).collect();
        let message = format!(
            "{}; files that are left out: {}",
            error.message,
            files.join(", ")
        );
        Error::new(Code::AgentNotFound, message).fix("cleo doctor")
    }
}

fn no_agent<'a>(id: &str, known: impl Iterator<Item = &'a str>) -> Error {
    let error = Error::new(Code::AgentNotFound, format!("there is no agent `{id}`"));
    let error = match nearest(id, known) {
        Some(near) => error.did_you_mean(near),
        None => error,
    };
    error.fix("cleo agents list")
}

/// Loads all agents; outside of a workspace the built-in ones.
pub(crate) fn load_known(surroundings: &Surroundings) -> Result<Known> {
    match find_workspace(surroundings)? {
        Some(workspace) => load_in(&workspace),
        None => Ok(merge_sources(Vec::new(), Known::default())),
    }
}

/// Loads the agents to choose from, without when they were last used.
pub(crate) fn load_candidates(surroundings: &Surroundings) -> Result<Known> {
    let Some(workspace) = find_workspace(surroundings)? else {
        return Ok(merge_sources(Vec::new(), Known::default()));
    };
    let store = match workspace.address()?.is_some() || workspace.is_on_server() {
        true => workspace.store_if_there()?,
        false => SqliteStore::open_if_agents(&workspace.database())?.map(Database::Sqlite),
    };
    let stored = match store {
        Some(mut store) => store.read()?.agents()?,
        None => Vec::new(),
    };
    Ok(merge_sources(stored, files::read(&workspace)))
}

/// Loads the agents that the caller sees.
pub(crate) fn load_seen(surroundings: &Surroundings) -> Result<Known> {
    Ok(load_known(surroundings)?.keep_visible(surroundings.visible_user()))
}

pub(crate) fn load_in(workspace: &Workspace) -> Result<Known> {
    match workspace.store_if_there()? {
        Some(mut store) => load_with(&*store.read()?, workspace),
        None => Ok(merge_sources(Vec::new(), files::read(workspace))),
    }
}

pub(in crate::ops) fn load_with(
    transaction: &dyn Transaction,
    workspace: &Workspace,
) -> Result<Known> {
    let mut known = merge_sources(transaction.agents()?, files::read(workspace));
    let mut uses: HashMap<_, _> = transaction.agent_uses()?.into_iter().collect();
    for agent in &mut known.agents {
        agent.last_used_at = uses.remove(&agent.id).or(agent.last_used_at.take());
    }
    Ok(known)
}

/// Puts agents of the store and of files in list order.
fn merge_sources(stored: Vec<Agent>, mut known: Known) -> Known {
    let (builtin, stored): (Vec<_>, Vec<_>) = stored.into_iter().partition(|it| it.is_builtin);
    let (runtime, registered): (Vec<_>, Vec<_>) = stored.into_iter().partition(|it| it.is_runtime);
    for Agent { id, .. } in &registered {
        // A file, which may come with a repository, does not replace what was registered here.
        if let Some(file) = known.files.remove(id) {
            known.agents.retain(|agent| agent.id != *id);
            known.warnings.push(format!(
                "{file} is left out: the agent `{id}` is registered; to have the file's: \
                 cleo agents remove {id}"
            ));
        }
    }
    let mut agents = builtin::agents();
    for changed in builtin {
        if let Some(agent) = agents.iter_mut().find(|agent| agent.id == changed.id) {
            *agent = changed;
        }
    }
    agents.append(&mut known.agents);
    agents.extend(registered.into_iter().chain(runtime));
    known.agents = agents;
    known
}

fn find_workspace(surroundings: &Surroundings) -> Result<Option<Workspace>> {
    match surroundings.workspace() {
        Ok(workspace) => Ok(Some(workspace)),
        Err(error) if surroundings.root.is_some() => Err(error),
        Err(_) => Ok(None),
    }
}

/// The agents that the caller sees, with their trust and use.
struct Registry<'a> {
    surroundings: &'a Surroundings,
    known: Known,
    /// By agent, how many executions it had for the caller, and when the last run of any kind began. A caller
    /// who sees all counts everybody's.
    uses: HashMap<String, (u64, String)>,
    working: HashSet<String>,
    trust: Option<Trust>,
}

impl Registry<'_> {
    fn load(surroundings: &Surroundings) -> Result<Registry<'_>> {
        let user = surroundings.visible_user();
        let mut registry = Registry {
            surroundings,
            known: Known::default(),
            uses: HashMap::new(),
            working: HashSet::new(),
            trust: None,
        };
        let workspace = find_workspace(surroundings)?;
        let clock = &surroundings.clock;
        let store = workspace.as_ref().map(|it| open_after_recovery(it, clock));
        registry.known = match (&workspace, store.transpose()?.flatten()) {
            (Some(workspace), Some(mut store)) => {
                let transaction = store.read()?;
                registry.count_uses(&*transaction)?;
                registry.working = list_working_agents(&*transaction, user, &clock.timestamp())?;
                load_with(&*transaction, workspace)?.keep_visible(user)
            }
            _ => load_seen(surroundings)?,
        };
        registry.trust = workspace.map(|workspace| Trust::new(surroundings, &workspace));
        Ok(registry)
    }

    fn count_uses(&mut self, transaction: &dyn Transaction) -> Result<()> {
        for tally in transaction.tallies(self.surroundings.visible_user())? {
            let Some(agent) = tally.agent else { continue };
            let (executions, last) = self.uses.entry(agent).or_default();
            if tally.kind == RunKind::Execution {
                *executions += tally.runs;
            }
            *last = std::mem::take(last).max(tally.last_started);
        }
        Ok(())
    }

    fn show(&self, mut agent: Agent) -> One {
        let (executions, last) = self.uses.get(&agent.id).cloned().unzip();
        if self.surroundings.visible_user().is_some() {
            agent.last_used_at = last;
        }
        let trust = self.trust.as_ref().filter(|_| agent.is_worker());
        One {
            agent: Shown {
                file: self.known.files.get(&agent.id).cloned(),
                standing: trust.map(|trust| trust.standing(&Item::worker(&agent))),
                expires_at: expires(&agent).map(timestamp),
                executions: executions.unwrap_or(0),
                state: match agent.status {
                    AgentStatus::Active if self.working.contains(&agent.id) => {
                        AgentState::Processing
                    }
                    AgentStatus::Active => AgentState::Idle,
                    _ => AgentState::Stopped,
                },
                agent,
            },
        }
    }

    fn show_stored(&self, agent: Agent) -> One {
        let mut one = self.show(agent);
        one.agent.file = None;
        one
    }
}

/// Runs `work` in a transaction on the agents of the workspace and commits it; an error leaves nothing behind.
pub(crate) fn write<T>(
    workspace: &Workspace,
    work: impl FnOnce(&mut dyn Transaction) -> Result<T>,
) -> Result<T> {
    let mut store = workspace.open_store()?;
    let mut transaction = store.write_records()?;
    let done = work(&mut *transaction)?;
    transaction.commit()?;
    Ok(done)
}

/// Runs `work` in a transaction that can record in the log of operations, and commits only if `keeps` is true.
fn write_if<T>(
    surroundings: &Surroundings,
    workspace: &Workspace,
    keeps: bool,
    work: impl FnOnce(&mut dyn Transaction) -> Result<T>,
) -> Result<T> {
    let mut store = workspace.open_store()?;
    let mut transaction = store.write(&surroundings.stamp())?;
    let done = work(&mut *transaction)?;
    if keeps {
        transaction.commit()?;
    }
    Ok(done)
}
