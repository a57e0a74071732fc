//! Which changes of agents a caller may make, and which ids are not to be had.

use super::Known;
use crate::agent::Agent;
use crate::agent::draft::{self, Draft};
use crate::error::{Code, Error, Result};
use crate::net::address::is_plainly_private;
use crate::ops::trust::Registrant;
use crate::ops::{Scope, Surroundings};
use crate::route::FINALIZE;
use crate::run::CHAT;
use crate::workspace::Workspace;

/// Finds an agent that the caller may change.
pub(super) fn require<'a>(
    surroundings: &Surroundings,
    known: &'a Known,
    id: &str,
) -> Result<&'a Agent> {
    let agent = known.require(id)?;
    if !agent.is_seen_by(surroundings.only()) {
        return Err(known.clone().keep_visible(surroundings.only()).no_agent(id));
    }
    check_own(surroundings, agent)?;
    Ok(agent)
}

pub(super) fn check_own(surroundings: &Surroundings, agent: &Agent) -> Result<()> {
    if agent.is_own_of(surroundings.only()) {
        return Ok(());
    }
    let message = format!("`{}` is everybody's, and not yours to change", agent.id);
    Err(Error::new(Code::Forbidden, message))
}

/// Refuses to change or remove an agent that a file defines.
pub(super) fn refuse_of_file(
    surroundings: &Surroundings,
    workspace: &Workspace,
    known: &Known,
    id: &str,
    what: &str,
) -> Result<()> {
    let Some(file) = known.files.get(id) else {
        return Ok(());
    };
    let typed = surroundings.path_for_command(Some(workspace), file);
    let message = format!("the agent `{id}` stands in {file}, which is yours to {what}");
    Err(draft::invalid(message).fix(format!("cat {typed}")))
}

/// Refuses a program of a caller who may not have any run.
pub(super) fn check_command(surroundings: &Surroundings, draft: &Draft) -> Result<()> {
    match draft.has_command() {
        true => surroundings.rights.require(Scope::Admin),
        false => Ok(()),
    }
}

/// Refuses a worker at an address that plainly is not public, unless that is allowed. Each call looks again, at what
/// its name leads to.
pub(super) fn check_address(surroundings: &Surroundings, agent: &Agent) -> Result<()> {
    let addresses = [
        ("endpoint", &agent.endpoint),
        ("healthcheck", &agent.healthcheck),
    ];
    let mut given = addresses
        .iter()
        .filter_map(|(field, url)| Some((*field, url.as_ref()?)));
    let is_remote = surroundings.rights.registrant == Registrant::Http;
    let is_bound = is_remote && !surroundings.defaults.allow_private;
    match given.find(|(_, url)| is_bound && is_plainly_private(url)) {
        None => Ok(()),
        Some((field, url)) => {
            let message = format!(
                "{url} is not a public address, as those that are registered over HTTP have to be"
            );
            let fix = "cleo config set --user workers.allowPrivate true";
            let error = Error::new(Code::AgentInvalid, message).or("allow such addresses", fix);
            Err(error.in_field(field))
        }
    }
}

/// What stands below `/api/agents` where an agent would.
const ENDPOINTS: [&str; 10] = [
    "cleanup",
    "create",
    "delegations",
    "execute",
    "execution",
    "list",
    "metrics",
    "register",
    "registry",
    "sync",
];

/// Who speaks besides agents, what messages go through, and what an agent is called before it has an id.
const PARTS: [&str; 8] = [
    CHAT,
    "clarifier",
    "design",
    "draft",
    "editor",
    "router",
    "supervisor",
    "user",
];

/// Refuses an id that something of cleo's own has. An agent that has one from earlier is shown, changed and
/// removed by the commands like any other.
pub(super) fn refuse_reserved(id: &str) -> Result<()> {
    let Some(meaning) = meaning(id) else {
        return Ok(());
    };
    let error = draft::invalid(format!("`{id}` is {meaning}"));
    Err(error.did_you_mean(&format!("{id}-agent")).in_field("id"))
}

/// Makes an id of a name, with a number where that would be reserved: `Metrics` becomes `metrics-2`.
pub(super) fn suggest_id(name: &str) -> String {
    let id = draft::suggest_id(name);
    match meaning(&id) {
        Some(_) => draft::add_number(&id, 2),
        None => id,
    }
}

fn meaning(id: &str) -> Option<&'static str> {
    match id {
        FINALIZE => Some("what the router answers when it means no agent"),
        id if ENDPOINTS.contains(&id) => Some("an endpoint of cleo's own below /api/agents"),
        id if PARTS.contains(&id) => Some("an id of cleo's own"),
        _ => None,
    }
}
