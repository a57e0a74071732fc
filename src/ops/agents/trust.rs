//! Trust in workers. A worker is a program or an address, and its definition may have come with a repository: in
//! `.cleo/agents` or in the store. So no worker is called that this user has not trusted on this machine.

use serde::Serialize;

use super::{AgentId, One, Registry};
use crate::agent::{Agent, Kind};
use crate::error::{Code, Error, Result, quote};
use crate::ops::Surroundings;
use crate::ops::trust::{Item, Registrant, Trust, describe_worker};
use crate::workspace::Workspace;

/// An agent after a change of its trust.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Trusting {
    #[serde(flatten)]
    pub(crate) one: One,
    /// Whether its standing changed.
    pub(crate) changed: bool,
}

pub(crate) fn trust(surroundings: &Surroundings, AgentId { id }: AgentId) -> Result<Trusting> {
    surroundings.assignment.refuse_agent("trusts nothing")?;
    change_trust(surroundings, &id, |trust, agent| {
        if !agent.is_worker() {
            let message =
                format!("`{id}` runs no program and calls no address, so it needs no trust");
            let error = Error::new(Code::AgentInvalid, message);
            return Err(error.fix(format!("cleo agents show {}", quote(&id))));
        }
        trust.trust(&Item::worker(agent), Registrant::User, &surroundings.clock)
    })
}

pub(crate) fn untrust(surroundings: &Surroundings, AgentId { id }: AgentId) -> Result<Trusting> {
    change_trust(surroundings, &id, |trust, agent| {
        trust.untrust(&Item::worker(agent)).map(drop)
    })
}

fn change_trust(
    surroundings: &Surroundings,
    id: &str,
    change: impl FnOnce(&Trust, &Agent) -> Result<()>,
) -> Result<Trusting> {
    let workspace = surroundings.workspace()?;
    let trust = Trust::new(surroundings, &workspace);
    let registry = Registry::load(surroundings)?;
    let agent = registry.known.require(id)?;
    let item = Item::worker(agent);
    let before = trust.standing(&item);
    change(&trust, agent)?;
    Ok(Trusting {
        changed: trust.standing(&item) != before,
        one: registry.show(agent.clone()),
    })
}

/// Trusts a worker that its registrant has just named. Returns a warning if it cannot be trusted: it stays registered.
/// A program that was named over HTTP is never trusted, nor is a worker that an agent of a run names.
pub(super) fn trust_registered(
    surroundings: &Surroundings,
    workspace: &Workspace,
    agent: &Agent,
    by: Registrant,
) -> Option<String> {
    if !agent.is_worker() {
        return None;
    }
    let is_of_agent = surroundings.assignment.is_agent();
    let why = if is_of_agent || by == Registrant::Http && agent.kind == Kind::Cli {
        format!(
            "`cleo trust` on this machine has to allow it to {}",
            describe_worker(agent)
        )
    } else {
        let trust = Trust::new(surroundings, workspace);
        trust
            .trust(&Item::worker(agent), by, &surroundings.clock)
            .err()?
            .message
    };
    Some(format!("{} is not trusted: {why}", agent.id))
}
