//! The registry of agents: built-in ones, files in `.cleo/agents`, those that were registered to
//! stay, and those of the moment. Rules: multi-agent notes, sections 1.4, 1.7 and 1.9.

pub(crate) mod change;
mod files;
pub(crate) mod graph;
pub(crate) mod lookup;
pub(crate) mod metrics;
pub(crate) mod register;
mod roster;
mod terms;
mod trust;
mod window;

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::Surroundings;
use super::trust::{Item, Standing, Trust};
use crate::agent::{Agent, builtin};
use crate::error::{Code, Error, Result, nearest};
use crate::run::RunKind;
use crate::store::agency::{Agency, AgencyTransaction};
use crate::store::sqlite::SqliteAgency;
use crate::workspace::Workspace;
pub(crate) use change::{Cleanup, cleanup, expires, remove, update};
pub(crate) use files::LeftOut;
pub(crate) use lookup::{Lookup, list};
pub(crate) use metrics::metrics;
pub(crate) use register::{import, register};
pub(crate) use roster::{Roster, View};
pub(crate) use trust::{Trusting, trust, untrust};

/// An agent with what else is known of it.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Shown {
    #[serde(flatten)]
    pub(crate) agent: Agent,
    /// The file that it stands in, relative to the workspace; none for one of the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    /// Whether it may be called, of a worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) standing: Option<Standing>,
}

/// An agent as it is, or as a change made it.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub(crate) struct One {
    pub(crate) agent: Shown,
    /// What the caller should know.
    #[serde(skip)]
    pub(crate) warnings: Vec<String>,
}

/// The agent that is meant.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentId {
    pub(crate) id: String,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// The agents in list order, which decides ties: built-in ones, files by name, registered ones
    /// in the order of their registration, those of the moment last.
    pub(crate) agents: Vec<Agent>,
    /// The files of those that have one, relative to the workspace, by id.
    pub(crate) files: Vec<(String, String)>,
    pub(crate) warnings: Vec<String>,
    /// The same, with what they seem to hold.
    pub(crate) left_out: Vec<LeftOut>,
}

impl Known {
    /// Leaves out the agents of others, whose those of the moment are, and when anybody had one last;
    /// without a user all stay.
    pub(crate) fn seen_by(self, user: Option<&str>) -> Known {
        let agents = self.agents.into_iter();
        let seen = agents.filter(|agent| agent.is_seen_by(user));
        let seen = seen.map(|agent| agent.shown_to(user));
        let unused = seen.map(|agent| Agent {
            last_used_at: agent.last_used_at.filter(|_| user.is_none()),
            ..agent
        });
        Known {
            agents: unused.collect(),
            // What stands in faulty files is told to those only who have the files.
            left_out: match user {
                Some(_) => Vec::new(),
                None => self.left_out,
            },
            ..self
        }
    }

    pub(crate) fn require(&self, id: &str) -> Result<&Agent> {
        let found = self.agents.iter().find(|agent| agent.id == id);
        found.ok_or_else(|| self.no_agent(id))
    }

    pub(crate) fn file(&self, id: &str) -> Option<&str> {
        let found = self.files.iter().find(|(owner, _)| owner == id);
        found.map(|(_, file)| file.as_str())
    }

    pub(crate) fn no_agent(&self, id: &str) -> Error {
        let message = format!("there is no agent `{id}`");
        if let Some(file) = self.left_out.iter().find(|file| file.names(id)) {
            let message = format!("{message}: {}", file.why);
            return Error::new(Code::AgentNotFound, message).fix("cleo doctor");
        }
        let error = Error::new(Code::AgentNotFound, message);
        match nearest(id, self.agents.iter().map(|agent| agent.id.as_str())) {
            Some(near) => error.did_you_mean(near).fix("cleo agents list"),
            None => error.fix("cleo agents list"),
        }
    }
}

pub(crate) fn known(surroundings: &Surroundings) -> Result<Known> {
    match place(surroundings)? {
        Some(workspace) => known_in(&workspace),
        None => Ok(Known {
            agents: builtin::agents(),
            ..Known::default()
        }),
    }
}

/// Finds the agents that the caller sees, with when the caller had each last; who sees everybody's, all agents, with
/// when anybody had.
pub(crate) fn seen(surroundings: &Surroundings) -> Result<Known> {
    let mut known = known(surroundings)?.seen_by(surroundings.only());
    if surroundings.only().is_some() {
        let mut uses = uses(surroundings)?;
        for agent in &mut known.agents {
            agent.last_used_at = uses.remove(&agent.id).map(|used| used.last);
        }
    }
    Ok(known)
}

/// What an agent was used for.
#[derive(Default)]
struct Used {
    executions: u64,
    /// When the last began.
    last: String,
}

/// Finds what the caller used each agent for, by id; who sees everybody's, what all did.
fn uses(surroundings: &Surroundings) -> Result<HashMap<String, Used>> {
    let agency = match place(surroundings)? {
        Some(workspace) => SqliteAgency::open(&workspace.agency())?,
        None => None,
    };
    let tallies = match agency {
        Some(mut agency) => agency.read()?.tallies(surroundings.only())?,
        None => Vec::new(),
    };
    let mut uses: HashMap<String, Used> = HashMap::new();
    for tally in tallies {
        let Some(agent) = tally.agent else { continue };
        let used = uses.entry(agent).or_default();
        if tally.kind == RunKind::Execution {
            used.executions += tally.runs;
        }
        used.last = std::mem::take(&mut used.last).max(tally.last_started);
    }
    Ok(uses)
}

pub(crate) fn known_in(workspace: &Workspace) -> Result<Known> {
    match SqliteAgency::open(&workspace.agency())? {
        Some(mut agency) => known_to(&*agency.read()?, workspace),
        None => Ok(joined(Vec::new(), files::read(workspace))),
    }
}

pub(in crate::ops) fn known_to(
    transaction: &dyn AgencyTransaction,
    workspace: &Workspace,
) -> Result<Known> {
    let mut known = joined(transaction.agents()?, files::read(workspace));
    let uses: HashMap<_, _> = transaction.agent_uses()?.into_iter().collect();
    for agent in &mut known.agents {
        agent.last_used_at = uses.get(&agent.id).cloned().or(agent.last_used_at.take());
    }
    Ok(known)
}

fn joined(stored: Vec<Agent>, files: files::Files) -> Known {
    let (runtime, stored): (Vec<_>, Vec<_>) =
        stored.into_iter().partition(|agent| agent.is_runtime);
    let (changed, stored): (Vec<_>, Vec<_>) =
        stored.into_iter().partition(|agent| agent.is_builtin);
    let mut known = Known {
        agents: builtin::agents(),
        files: Vec::new(),
        warnings: files.warnings,
        left_out: files.left_out,
    };
    for builtin in &mut known.agents {
        if let Some(agent) = changed.iter().find(|agent| agent.id == builtin.id) {
            *builtin = agent.clone();
        }
    }
    let registered: HashSet<&str> = stored.iter().map(|agent| agent.id.as_str()).collect();
    for (agent, file) in files.agents {
        // What somebody registered here is not replaced by a file, which may come with a repository.
        if registered.contains(agent.id.as_str()) {
            let id = &agent.id;
            known.warnings.push(format!(
                "{file} is left out: the agent `{id}` is registered; to have the file's: \
                 cleo agents remove {id}"
            ));
            continue;
        }
        known.files.push((agent.id.clone(), file));
        known.agents.push(agent);
    }
    known.agents.extend(stored);
    known.agents.extend(runtime);
    known
}

pub(crate) fn place(surroundings: &Surroundings) -> Result<Option<Workspace>> {
    match surroundings.workspace() {
        Ok(workspace) => Ok(Some(workspace)),
        Err(error) if surroundings.root.is_some() => Err(error),
        Err(_) => Ok(None),
    }
}

pub(crate) fn show(surroundings: &Surroundings, id: &str) -> Result<One> {
    let known = seen(surroundings)?;
    let agent = known.require(id)?.clone();
    let file = known.file(id).map(str::to_string);
    Ok(One {
        agent: shown(surroundings, agent, file),
        warnings: known.warnings,
    })
}

fn shown(surroundings: &Surroundings, agent: Agent, file: Option<String>) -> Shown {
    let place = surroundings.workspace().ok().filter(|_| agent.is_worker());
    let standing = |place| Trust::new(surroundings, &place).standing(&Item::worker(&agent));
    Shown {
        standing: place.map(standing),
        agent,
        file,
    }
}

/// Leaves out when others had an agent: all may have one of the moment that is the caller's.
fn apart(surroundings: &Surroundings, agent: Agent) -> Result<Agent> {
    if surroundings.only().is_none() {
        return Ok(agent);
    }
    let used = uses(surroundings)?.remove(&agent.id);
    Ok(Agent {
        last_used_at: used.map(|used| used.last),
        ..agent
    })
}

/// Runs `work` in a transaction on the agents of the workspace and commits it; an error leaves nothing behind.
pub(crate) fn write<T>(
    workspace: &Workspace,
    work: impl FnOnce(&mut dyn AgencyTransaction) -> Result<T>,
) -> Result<T> {
    write_if(workspace, true, work)
}

/// Runs `work` as [`write()`] does, and commits only when `keeps` is true: else it shows what it would do.
fn write_if<T>(
    workspace: &Workspace,
    keeps: bool,
    work: impl FnOnce(&mut dyn AgencyTransaction) -> Result<T>,
) -> Result<T> {
    let mut agency = SqliteAgency::open_or_create(&workspace.agency())?;
    let mut transaction = agency.write()?;
    let done = work(&mut *transaction)?;
    if keeps {
        transaction.commit()?;
    }
    Ok(done)
}
