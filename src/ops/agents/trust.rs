//! Trust in workers. A worker runs a program or calls an address, and what names it may have come
//! with a repository: a file in `.cleo/agents`, or the store of agents itself. So no worker is called
//! that this user has not trusted on this machine.

use serde::Serialize;

use super::{AgentId, One, read_seen, show_one};
use crate::agent::{Agent, Kind};
use crate::error::{Code, Error, Result, quote};
use crate::ops::Surroundings;
use crate::ops::trust::{Item, Registrant, Trust, does};
use crate::workspace::Workspace;

/// An agent after its trust was given or taken.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Trusting {
    #[serde(flatten)]
    pub(crate) one: One,
    /// Whether its standing is new.
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
        trust.give(&Item::worker(agent), Registrant::User, &surroundings.clock)
    })
}

pub(crate) fn untrust(surroundings: &Surroundings, AgentId { id }: AgentId) -> Result<Trusting> {
    change_trust(surroundings, &id, |trust, agent| {
        trust.take(&Item::worker(agent)).map(drop)
    })
}

fn change_trust(
    surroundings: &Surroundings,
    id: &str,
    change: impl FnOnce(&Trust, &Agent) -> Result<()>,
) -> Result<Trusting> {
    let workspace = surroundings.workspace()?;
    let trust = Trust::new(surroundings, &workspace);
    let (mut known, uses) = read_seen(surroundings)?;
    let agent = known.require(id)?.clone();
    let item = Item::worker(&agent);
    let before = trust.standing(&item);
    change(&trust, &agent)?;
    known.agents = vec![agent];
    Ok(Trusting {
        changed: trust.standing(&item) != before,
        one: show_one(surroundings, known, &uses)?,
    })
}

/// Trusts a worker that its registrant has just named; what keeps it from that is a warning, because it is registered
/// nevertheless. A program that somebody names over HTTP is never trusted, nor is what an agent of a run names.
pub(super) fn keep(
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
            does(agent)
        )
    } else {
        let trust = Trust::new(surroundings, workspace);
        let given = trust.give(&Item::worker(agent), by, &surroundings.clock);
        given.err()?.message
    };
    Some(format!("{} is not trusted: {why}", agent.id))
}
