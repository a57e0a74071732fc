//! Which changes of agents a caller may make, and which ids are reserved.

use super::Known;
use crate::agent::Agent;
use crate::agent::draft;
use crate::error::{Code, Error, Result};
use crate::net::address::is_plainly_private;
use crate::ops::Surroundings;
use crate::ops::trust::Registrant;
use crate::route::FINALIZE;
use crate::workspace::Workspace;

/// Finds an agent that the caller may change.
pub(super) fn require<'a>(
    surroundings: &Surroundings,
    known: &'a Known,
    id: &str,
) -> Result<&'a Agent> {
    let agent = known.require(id)?;
    if !agent.is_seen_by(surroundings.visible_user()) {
        return Err(known
            .clone()
            .keep_visible(surroundings.visible_user())
            .no_agent(id));
    }
    check_own(surroundings, agent)?;
    Ok(agent)
}

pub(super) fn check_own(surroundings: &Surroundings, agent: &Agent) -> Result<()> {
    if agent.is_own_of(surroundings.visible_user()) {
        return Ok(());
    }
    let message = format!(
        "`{}` is shared by all users; you cannot change it",
        agent.id
    );
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
    let message = format!("the agent `{id}` is defined in {file}, which is yours to {what}");
    Err(draft::invalid(message).fix(format!("cat {typed}")))
}

/// Refuses a worker at an address that plainly is not public, unless that is allowed. Each call checks the address again,
/// after its name is resolved.
pub(super) fn check_address(surroundings: &Surroundings, agent: &Agent) -> Result<()> {
    let is_remote = surroundings.rights.registrant == Registrant::Http;
    if !is_remote || surroundings.defaults.allow_private {
        return Ok(());
    }
    let addresses = [
        ("endpoint", &agent.endpoint),
        ("healthcheck", &agent.healthcheck),
    ];
    for (field, url) in addresses {
        if let Some(url) = url.as_ref().filter(|url| is_plainly_private(url)) {
            let message = format!(
                "{url} is not a public address, as those that are registered over HTTP have to be"
            );
            let fix = "cleo config set --user workers.allowPrivate true";
            let error = Error::new(Code::AgentInvalid, message).or("allow such addresses", fix);
            return Err(error.in_field(field));
        }
    }
    Ok(())
}

/// Endpoints below `/api/agents`, at the place of an id.
const ENDPOINTS: &str =
    "cleanup create delegations execute execution list metrics register registry sync";

/// Names of other senders, of parts of the router, and of an agent without id.
const PARTS: &str = "chat clarifier design draft editor router supervisor user";

/// Refuses an id with a meaning of its own. An agent that has one from earlier is shown, changed and removed like any
/// other.
pub(super) fn refuse_reserved(id: &str) -> Result<()> {
    let Some(meaning) = explain_reserved(id) else {
        return Ok(());
    };
    let error = draft::invalid(format!("`{id}` is {meaning}"));
    Err(error.did_you_mean(&format!("{id}-agent")).in_field("id"))
}

/// Makes an id of a name, with a number if it is reserved: `Metrics` becomes `metrics-2`.
pub(super) fn suggest_id(name: &str) -> String {
    let id = draft::suggest_id(name);
    match explain_reserved(&id) {
        Some(_) => draft::add_number(&id, 2),
        None => id,
    }
}

fn explain_reserved(id: &str) -> Option<&'static str> {
    match id {
        FINALIZE => Some("what the router answers when it means no agent"),
        id if ENDPOINTS.split(' ').any(|it| it == id) => {
            Some("an endpoint of cleo's own below /api/agents")
        }
        id if PARTS.split(' ').any(|it| it == id) => Some("an id of cleo's own"),
        _ => None,
    }
}
