//! On whose behalf an agent is changed, and how far.

use super::Known;
use crate::agent::{Agent, draft};
use crate::error::{Code, Error, Result, quote};
use crate::net::address::is_plainly_private;
use crate::ops::trust::Registrant;
use crate::route::{CLARIFY, FINALIZE};
use crate::run::CHAT;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) by: Registrant,
    /// The user whose agents may be changed, and whose new ones are; none: the user of this machine,
    /// who may change all and makes what is everybody's.
    pub(crate) user: Option<String>,
    /// When the caller believes that the agent was last changed; another moment is refused. Empty for one
    /// that never was.
    pub(crate) seen: Option<String>,
    /// Whether a worker may be on this machine or around it, whoever registers it.
    pub(crate) allow_private: bool,
    /// Whether it is kept, or only shown how it would be.
    pub(crate) keeps: bool,
}

impl Default for Terms {
    fn default() -> Terms {
        Terms {
            by: Registrant::User,
            user: None,
            seen: None,
            allow_private: true,
            keeps: true,
        }
    }
}

impl Terms {
    pub(super) fn require<'a>(&self, known: &'a Known, id: &str) -> Result<&'a Agent> {
        let user = self.user.as_deref();
        let agent = known.require(id)?;
        if !agent.is_seen_by(user) {
            return Err(known.clone().seen_by(user).no_agent(id));
        }
        self.check_own(agent)?;
        self.check_seen(agent)?;
        Ok(agent)
    }

    pub(super) fn check_own(&self, agent: &Agent) -> Result<()> {
        if agent.is_own_of(self.user.as_deref()) {
            return Ok(());
        }
        let message = format!("`{}` is everybody's, and not yours to change", agent.id);
        Err(Error::new(Code::Forbidden, message))
    }

    /// Refuses a worker at an address that plainly is not public, unless that is allowed. Whoever calls
    /// it looks again, at what its name leads to.
    pub(super) fn check_address(&self, agent: &Agent) -> Result<()> {
        let addresses = [
            ("endpoint", &agent.endpoint),
            ("healthcheck", &agent.healthcheck),
        ];
        let mut given = addresses
            .iter()
            .filter_map(|(field, url)| Some((*field, url.as_ref()?)));
        let is_bound = self.by == Registrant::Http && !self.allow_private;
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

    fn check_seen(&self, agent: &Agent) -> Result<()> {
        let changed = agent.updated_at.as_deref().unwrap_or_default();
        match self.seen.as_deref() {
            Some(seen) if seen != changed => {
                let message = format!("`{}` was changed meanwhile, at {changed}", agent.id);
                let look = format!("cleo agents show {}", quote(&agent.id));
                Err(Error::new(Code::StatusRefused, message).fix(look))
            }
            _ => Ok(()),
        }
    }
}

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

pub(crate) fn is_reserved(id: &str) -> bool {
    meaning(id).is_some()
}

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
