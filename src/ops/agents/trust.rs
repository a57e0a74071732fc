//! Trust in workers. A worker runs a program or calls an address, and what names it may have come
//! with a repository: a file in `.cleo/agents`, or the store of agents itself. So no worker is called
//! that this user has not trusted on this machine.

use serde::Serialize;

use super::{Known, known_in};
use crate::agent::{Agent, Kind};
use crate::error::{Code, Error, Result, quote};
use crate::ops::Surroundings;
use crate::ops::trust::{Item, Registrant, Standing, Trust};
use crate::workspace::Workspace;

/// An agent after its trust was given or taken.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Trusting {
    pub(crate) agent: Agent,
    /// Whether it may be called now.
    pub(crate) standing: Standing,
    /// Whether that is new.
    pub(crate) changed: bool,
    /// The file that the agent stands in, relative to the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
}

pub(crate) fn trust(surroundings: &Surroundings, id: &str) -> Result<Trusting> {
    surroundings.assignment.refuse_agent("trusts nothing")?;
    let (trust, known) = gathered(surroundings)?;
    let agent = known.require(id)?;
    if !agent.is_worker() {
        let message = format!("`{id}` runs no program and calls no address, so it needs no trust");
        let error = Error::new(Code::AgentInvalid, message);
        return Err(error.fix(format!("cleo agents show {}", quote(id))));
    }
    let before = trust.standing(&Item::worker(agent));
    trust.give(&Item::worker(agent), Registrant::User, &surroundings.clock)?;
    Ok(trusting(&trust, &known, agent, before))
}

pub(crate) fn untrust(surroundings: &Surroundings, id: &str) -> Result<Trusting> {
    let (trust, known) = gathered(surroundings)?;
    let agent = known.require(id)?;
    let before = trust.standing(&Item::worker(agent));
    trust.take(&Item::worker(agent))?;
    Ok(trusting(&trust, &known, agent, before))
}

fn gathered(surroundings: &Surroundings) -> Result<(Trust, Known)> {
    let workspace = surroundings.workspace()?;
    Ok((Trust::new(surroundings, &workspace), known_in(&workspace)?))
}

fn trusting(trust: &Trust, known: &Known, agent: &Agent, before: Standing) -> Trusting {
    let standing = trust.standing(&Item::worker(agent));
    Trusting {
        changed: standing != before,
        standing,
        file: known.file(&agent.id).map(str::to_string),
        agent: agent.clone(),
    }
}

/// Trusts a worker that its registrant has just named; returns what keeps it from that as a warning, because it is
/// registered nevertheless. A program that somebody names over HTTP is never trusted, nor is what an agent of a run
/// names.
pub(super) fn keep(
    surroundings: &Surroundings,
    workspace: &Workspace,
    agent: &Agent,
    by: Registrant,
) -> Option<String> {
    if !agent.is_worker() {
        return None;
    }
    let id = &agent.id;
    let is_of_agent = surroundings.assignment.is_agent();
    if is_of_agent || by == Registrant::Http && agent.kind == Kind::Cli {
        let what = crate::ops::trust::does(agent);
        return Some(format!(
            "{id} is not trusted: `cleo trust` on this machine has to allow it to {what}"
        ));
    }
    let trust = Trust::new(surroundings, workspace);
    let given = trust.give(&Item::worker(agent), by, &surroundings.clock);
    let error = given.err()?;
    Some(format!("{id} is not trusted: {}", error.message))
}
