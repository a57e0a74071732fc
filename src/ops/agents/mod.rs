//! The registry of agents: built-in ones, files in `.cleo/agents`, those that were registered to
//! stay, and those of the moment. Rules: multi-agent notes, sections 1.4, 1.7 and 1.9.

pub(crate) mod change;
mod files;
pub(crate) mod lookup;
pub(crate) mod metrics;
pub(crate) mod register;
mod roster;
pub(crate) mod sync;
mod terms;
pub(crate) mod trust;
mod window;

use std::collections::{HashMap, HashSet};

use clap::Args;
use serde::{Deserialize, Serialize};

use super::trust::{Item, Standing, Trust};
use super::{Notes, Surroundings};
use crate::agent::{Agent, builtin};
use crate::clock::timestamp;
use crate::error::{Code, Error, Result, nearest};
use crate::run::RunKind;
use crate::store::{Store, Transaction};
use crate::workspace::Workspace;
pub(crate) use change::{Cleanup, cleanup, expires, remove};
pub(crate) use files::LeftOut;
pub(crate) use lookup::{Lookup, list};
pub(super) use lookup::{check_assignable, find_assigned, require_visible};
pub(crate) use metrics::{Measuring, metrics};
pub(crate) use register::{Import, import, register, update};
pub(crate) use roster::{Roster, View};
pub(crate) use trust::{trust, untrust};

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
    /// When it is removed, of an agent of the moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    executions: u64,
}

/// An agent as it is, or as a change made it.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub(crate) struct One {
    pub(crate) agent: Shown,
}

// The agent that is meant. A doc comment would become the help of the commands.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Args, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentId {
    /// Id of the agent
    #[arg(value_name = "AGENT")]
    pub(crate) id: String,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// The agents in list order, which decides ties: built-in ones, files by name, registered ones
    /// in the order of their registration, those of the moment last.
    pub(crate) agents: Vec<Agent>,
    /// The files of those that have one, relative to the workspace, by id.
    pub(crate) files: HashMap<String, String>,
    pub(crate) warnings: Vec<String>,
    pub(crate) left_out: Vec<LeftOut>,
}

impl Known {
    /// Leaves out the agents of others, whose those of the moment are, and when anybody had one last;
    /// without a user all stay.
    pub(crate) fn keep_visible(mut self, user: Option<&str>) -> Known {
        if user.is_some() {
            self.agents.retain(|agent| agent.is_seen_by(user));
            for agent in &mut self.agents {
                agent.user_id.take_if(|owner| Some(owner.as_str()) != user);
                agent.last_used_at = None;
            }
            // What stands in faulty files is told to those only who have the files.
            self.left_out.clear();
        }
        self
    }

    pub(crate) fn require(&self, id: &str) -> Result<&Agent> {
        let found = self.agents.iter().find(|agent| agent.id == id);
        found.ok_or_else(|| self.no_agent(id))
    }

    pub(crate) fn no_agent(&self, id: &str) -> Error {
        let error = no_agent(id, self.agents.iter().map(|agent| agent.id.as_str()));
        match self.left_out.is_empty() {
            true => error,
            false => {
                let files = self.left_out.iter().map(|one| one.file.as_str());
                let files = files.collect::<Vec<_>>().join(", ");
                let message = format!("{}; files that are left out: {files}", error.message);
                Error::new(Code::AgentNotFound, message).fix("cleo doctor")
            }
        }
    }
}

/// The error for an id that none of the agents has.
fn no_agent<'a>(id: &str, known: impl Iterator<Item = &'a str>) -> Error {
    let error = Error::new(Code::AgentNotFound, format!("there is no agent `{id}`"));
    match nearest(id, known) {
        Some(near) => error.did_you_mean(near).fix("cleo agents list"),
        None => error.fix("cleo agents list"),
    }
}

pub(crate) fn load_known(surroundings: &Surroundings) -> Result<Known> {
    match place(surroundings)? {
        Some(workspace) => load_in(&workspace),
        None => Ok(Known {
            agents: builtin::agents(),
            ..Known::default()
        }),
    }
}

/// Finds the agents that the caller sees.
pub(crate) fn load_seen(surroundings: &Surroundings) -> Result<Known> {
    Ok(load_known(surroundings)?.keep_visible(surroundings.only()))
}

/// What agents were used for, by id.
type Uses = HashMap<String, Used>;

#[derive(Default)]
struct Used {
    executions: u64,
    last: String,
}

/// Finds what the caller used each agent for, by id; who sees everybody's, what all did.
fn read_uses(transaction: &dyn Transaction, user: Option<&str>) -> Result<Uses> {
    let mut uses = Uses::new();
    for tally in transaction.tallies(user)? {
        let Some(agent) = tally.agent else { continue };
        let used = uses.entry(agent).or_default();
        if tally.kind == RunKind::Execution {
            used.executions += tally.runs;
        }
        used.last = std::mem::take(&mut used.last).max(tally.last_started);
    }
    Ok(uses)
}

/// Finds the agents that the caller sees, and what the caller used each for.
fn read_seen(surroundings: &Surroundings) -> Result<(Known, Uses)> {
    let store = match place(surroundings)? {
        Some(workspace) => workspace.store_if_there()?.map(|store| (workspace, store)),
        None => None,
    };
    let Some((workspace, mut store)) = store else {
        return Ok((load_seen(surroundings)?, Uses::new()));
    };
    let (transaction, user) = (store.read()?, surroundings.only());
    let known = load_with(&*transaction, &workspace)?.keep_visible(user);
    Ok((known, read_uses(&*transaction, user)?))
}

pub(crate) fn load_in(workspace: &Workspace) -> Result<Known> {
    match workspace.store_if_there()? {
        Some(mut store) => load_with(&*store.read()?, workspace),
        None => Ok(join(Vec::new(), files::read(workspace))),
    }
}

pub(in crate::ops) fn load_with(
    transaction: &dyn Transaction,
    workspace: &Workspace,
) -> Result<Known> {
    let mut known = join(transaction.agents()?, files::read(workspace));
    let mut uses: HashMap<_, _> = transaction.agent_uses()?.into_iter().collect();
    for agent in &mut known.agents {
        agent.last_used_at = uses.remove(&agent.id).or(agent.last_used_at.take());
    }
    Ok(known)
}

/// Puts agents of the store and of files in order.
fn join(stored: Vec<Agent>, files: files::Files) -> Known {
    let (runtime, stored): (Vec<_>, Vec<_>) =
        stored.into_iter().partition(|agent| agent.is_runtime);
    let (mut changed, stored): (Vec<_>, Vec<_>) =
        stored.into_iter().partition(|agent| agent.is_builtin);
    let mut known = Known {
        agents: builtin::agents(),
        files: HashMap::new(),
        warnings: files.warnings,
        left_out: files.left_out,
    };
    for builtin in &mut known.agents {
        if let Some(place) = changed.iter().position(|agent| agent.id == builtin.id) {
            *builtin = changed.swap_remove(place);
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
        known.files.insert(agent.id.clone(), file);
        known.agents.push(agent);
    }
    known.agents.extend(stored);
    known.agents.extend(runtime);
    known
}

fn place(surroundings: &Surroundings) -> Result<Option<Workspace>> {
    match surroundings.workspace() {
        Ok(workspace) => Ok(Some(workspace)),
        Err(error) if surroundings.root.is_some() => Err(error),
        Err(_) => Ok(None),
    }
}

pub(crate) fn show(
    surroundings: &Surroundings,
    notes: &mut Notes,
    AgentId { id }: AgentId,
) -> Result<One> {
    let (mut known, uses) = read_seen(surroundings)?;
    let agent = known.require(&id)?.clone();
    notes.warn(std::mem::take(&mut known.warnings));
    known.agents = vec![agent];
    show_one(surroundings, known, &uses)
}

/// Shows an agent of the store.
fn show_stored(surroundings: &Surroundings, agent: Agent) -> Result<One> {
    let known = Known {
        agents: vec![agent],
        ..Known::default()
    };
    let mut store = surroundings.workspace()?.open_store()?;
    let uses = read_uses(&*store.read()?, surroundings.only())?;
    show_one(surroundings, known, &uses)
}

fn show_one(surroundings: &Surroundings, known: Known, uses: &Uses) -> Result<One> {
    let shown = show_all(surroundings, known, uses)?.into_iter().next();
    let agent = shown.ok_or_else(|| Error::new(Code::Internal, "no agent was shown"))?;
    Ok(One { agent })
}

/// Adds what else is known of agents, and when the caller had each last; who sees everybody's, when anybody had.
fn show_all(surroundings: &Surroundings, mut known: Known, uses: &Uses) -> Result<Vec<Shown>> {
    let trust = place(surroundings)?.map(|place| Trust::new(surroundings, &place));
    let shown = known.agents.into_iter().map(|agent| {
        let used = uses.get(&agent.id);
        let trust = trust.as_ref().filter(|_| agent.is_worker());
        Shown {
            file: known.files.remove(&agent.id),
            standing: trust.map(|trust| trust.standing(&Item::worker(&agent))),
            expires_at: expires(&agent).map(timestamp),
            executions: used.map_or(0, |used| used.executions),
            agent: match surroundings.only() {
                Some(_) => Agent {
                    last_used_at: used.map(|used| used.last.clone()),
                    ..agent
                },
                None => agent,
            },
        }
    });
    Ok(shown.collect())
}

/// Runs `work` in a transaction on the agents of the workspace and commits it; an error leaves nothing behind.
pub(crate) fn write<T>(
    workspace: &Workspace,
    work: impl FnOnce(&mut dyn Transaction) -> Result<T>,
) -> Result<T> {
    write_if(workspace, true, work)
}

/// Runs `work` as [`write()`] does, and commits only when `keeps` is true: else it shows what it would do.
fn write_if<T>(
    workspace: &Workspace,
    keeps: bool,
    work: impl FnOnce(&mut dyn Transaction) -> Result<T>,
) -> Result<T> {
    let mut store = workspace.open_store()?;
    let mut transaction = store.write_records()?;
    let done = work(&mut *transaction)?;
    if keeps {
        transaction.commit()?;
    }
    Ok(done)
}
