//! From messages to agents.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Surroundings, agents};
use crate::agent::draft::{suggest_id, words};
use crate::agent::{Agent, AgentStatus, Kind, Role};
use crate::clock::Clock;
use crate::error::{Code, Error, Result, quote, steers};
use crate::file::read_input;
use crate::route::{Decision, Delegation, FINALIZE, Index, Match, Query, Request};

/// Largest file of agents, in bytes.
const FILE_MAX: u64 = 128 << 20;
/// Longest id in such a file, in characters.
const ID_MAX: usize = 200;

#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// A file of agents to choose from, instead of those that are known.
    pub(crate) agents: Option<PathBuf>,
    pub(crate) by: Match,
    /// How many candidates are explained; none leaves them out.
    pub(crate) explain: Option<usize>,
}

pub(crate) struct Router {
    index: Index,
    options: Options,
    clock: Clock,
    /// Warnings about invalid agent files.
    pub(crate) warnings: Vec<String>,
}

/// The decision about a message, and its event.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Routed<'a> {
    #[serde(flatten)]
    pub(crate) decision: Decision<'a>,
    pub(crate) delegation: Delegation<'a>,
}

impl Router {
    pub(crate) fn open(surroundings: &Surroundings, options: Options) -> Result<Router> {
        let (index, warnings) = match &options.agents {
            Some(file) => (list_agents(&surroundings.directory, file)?, Vec::new()),
            None => {
                let known = agents::load_known(surroundings)?;
                let index = Index::new(known.agents);
                (index, known.warnings)
            }
        };
        Ok(Router {
            index,
            options,
            clock: surroundings.clock,
            warnings,
        })
    }

    pub(crate) fn route<'a>(&'a self, query: &'a Query) -> Routed<'a> {
        let decision = self.index.route(&Request {
            message: &query.message,
            agent: query.agent.as_deref(),
            by: self.options.by,
            explain: self.options.explain,
        });
        let delegation = decision.delegation(&query.text, self.clock.timestamp());
        Routed {
            decision,
            delegation,
        }
    }
}

/// Reads the agents of a file. Only the fields that routing needs are read.
fn list_agents(directory: &Path, path: &Path) -> Result<Index> {
    let place = match path.as_os_str() == "-" {
        true => path.to_path_buf(),
        false => directory.join(path),
    };
    let (bytes, name) = (read_input(&place, FILE_MAX)?, path.to_string_lossy());
    let look = format!("head -c 2000 {}", quote(&name));
    let (values, _) = agents::read_values(&bytes, &name).map_err(|error| Error {
        code: Code::InputInvalid,
        ..error.fix(&look)
    })?;
    let mut agents: Vec<Agent> = Vec::with_capacity(values.len());
    let mut numbers = HashMap::new();
    for (number, value) in (1_usize..).zip(values) {
        let refuse = |what: String| {
            let message = format!("{name}: agent {number}{what}");
            Error::new(Code::AgentInvalid, message).fix(&look)
        };
        let listed = serde_json::from_value(value).map_err(|cause| cause.to_string());
        let agent = listed.and_then(Listed::into_agent);
        let agent = agent.map_err(|what| refuse(format!(": {what}")))?;
        if let Some(earlier) = numbers.insert(agent.id.clone(), number) {
            return Err(refuse(format!(
                " has the id of agent {earlier}: `{}`",
                agent.id
            )));
        }
        agents.push(agent);
    }
    Ok(Index::new(agents))
}

/// An agent of a file.
#[derive(Deserialize)]
#[serde(expecting = "an agent with its fields")]
struct Listed {
    id: Option<String>,
    name: Option<String>,
    description: Option<String>,
    objective: Option<String>,
    #[serde(deserialize_with = "words", default)]
    tags: Option<Vec<String>>,
    role: Option<String>,
    status: Option<String>,
}

impl Listed {
    fn into_agent(self) -> std::result::Result<Agent, String> {
        // As in a registry, an id can be made of the name.
        let name = self.name.as_deref().filter(|name| !name.trim().is_empty());
        let id = self.id.or_else(|| name.map(suggest_id)).unwrap_or_default();
        if id.trim().is_empty() || id.contains(steers) || id.chars().count() > ID_MAX {
            return Err(format!(
                "it needs a name, or an id of 1 to {ID_MAX} visible characters"
            ));
        }
        if id == FINALIZE {
            return Err(format!(
                "`{id}` is what the router answers if no agent fits; give it another id, such as `{id}-agent`"
            ));
        }
        let invalid = |what: String| format!("`{id}`: {what}");
        let role = self.role.map(|role| role.parse()).transpose();
        let status = self.status.map(|status| status.parse()).transpose();
        Ok(Agent {
            role: role.map_err(invalid)?.unwrap_or(Role::Specialist),
            status: status.map_err(invalid)?.unwrap_or(AgentStatus::Active),
            description: self.description.unwrap_or_default(),
            objective: self.objective.unwrap_or_default(),
            tags: self.tags.unwrap_or_default(),
            ..Agent::new(
                &id,
                Kind::Persistent,
                self.name.as_deref().unwrap_or_default(),
            )
        })
    }
}
