//! On whose behalf an agent is changed, and how far.

use super::Known;
use crate::agent::Agent;
use crate::error::{Code, Error, Result, quote};
use crate::exchange::is_plainly_private;
use crate::ops::trust::Registrant;

/// On whose behalf an agent is changed, and how far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    /// How it comes to cleo.
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
    /// Finds an agent that may be changed. One of another user is not there.
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

    /// Refuses an agent that the user sees and that is not the user's own.
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
