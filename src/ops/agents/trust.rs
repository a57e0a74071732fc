//! Trust in workers. A worker is a program or an address, and its definition may have come with a repository: in
//! `.cleo/agents` or in the store. So no worker is called that this user has not trusted on this machine.

use crate::agent::{Agent, Kind};
use crate::ops::Surroundings;
use crate::ops::trust::{Item, Registrant, Trust, describe_worker};
use crate::workspace::Workspace;

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
