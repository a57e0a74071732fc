//! Ids that no new agent can have, because something of cleo's own is called so. An agent that has one from
//! earlier is shown, changed and removed by the commands like any other.

use crate::agent::draft;
use crate::error::Result;
use crate::route::{CLARIFY, FINALIZE};
use crate::run::CHAT;

/// What stands below `/api/agents` where an agent would.
const ENDPOINTS: [&str; 11] = [
    "cleanup",
    "create",
    "delegations",
    "execute",
    "execution",
    "graph",
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

/// Says whether an id is that of something else than an agent.
pub(crate) fn is_reserved(id: &str) -> bool {
    meaning(id).is_some()
}

/// Refuses an id that was said and is that of something else than an agent.
pub(super) fn refuse_reserved(id: &str) -> Result<()> {
    let Some(meaning) = meaning(id) else {
        return Ok(());
    };
    let error = draft::invalid(format!("`{id}` is {meaning}"));
    Err(error.did_you_mean(&format!("{id}-agent")).in_field("id"))
}

/// Makes an id of a name, with a number where that would be reserved: `Metrics` becomes `metrics-2`.
pub(super) fn suggested(name: &str) -> String {
    let id = draft::suggested(name);
    match is_reserved(&id) {
        true => draft::numbered(&id, 2),
        false => id,
    }
}

fn meaning(id: &str) -> Option<&'static str> {
    match id {
        FINALIZE | CLARIFY => Some("what the router answers when it means no agent"),
        id if ENDPOINTS.contains(&id) => Some("an endpoint of cleo's own below /api/agents"),
        id if PARTS.contains(&id) => Some("an id of cleo's own"),
        _ => None,
    }
}
