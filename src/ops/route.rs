//! From messages to agents.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Surroundings, agents};
use crate::agent::draft::{self, suggest_id};
use crate::agent::{Agent, AgentStatus, Kind, Role};
use crate::clock::{Clock, timestamp};
use crate::error::{Code, Error, Result, is_visible_line, quote};
use crate::file::read_input;
use crate::route::{Decision, Delegation, FINALIZE, Index, Match, Message, Query, Request};

/// Largest file of agents, in bytes.
const FILE_MAX: u64 = 16 << 20;
/// Longest id in such a file, in characters.
const ID_MAX: usize = 200;

/// The fields of an agent in such a file that are read.
#[derive(Deserialize)]
struct Candidate {
    id: Option<String>,
    name: Option<String>,
    description: Option<String>,
    objective: Option<String>,
    #[serde(default, deserialize_with = "draft::words")]
    tags: Option<Vec<String>>,
    #[serde(default, deserialize_with = "draft::word")]
    role: Option<Role>,
    #[serde(default, deserialize_with = "draft::word")]
    status: Option<AgentStatus>,
}

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
    /// The last timestamp and its milliseconds: many messages of a stream are routed within one, and writing it takes as
    /// long as a tenth of the rest.
    last: RefCell<(i64, String)>,
    /// Warnings about invalid agent files.
    pub(crate) warnings: Vec<String>,
}

/// The decision about a message, and its event.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Routed<'a> {
    #[serde(flatten)]
    pub(crate) decision: Decision<'a>,
    pub(crate) delegation: Delegation<'a>,
}

impl Router {
    /// Reads the agents, for all messages or for one.
    pub(crate) fn open(
        surroundings: &Surroundings,
        options: Options,
        only: Option<&Message>,
    ) -> Result<Router> {
        // A part of a word is looked for in all words.
        let only = only.filter(|_| options.by == Match::Token);
        let mut index = only.map_or_else(Index::default, Index::of_message);
        let warnings = match &options.agents {
            Some(file) => {
                index = list_agents(&surroundings.directory, file, index)?;
                Vec::new()
            }
            None => {
                let known = agents::load_candidates(surroundings)?;
                let agents = known.agents.into_iter();
                agents.for_each(|agent| index.push(agent.into()));
                known.warnings
            }
        };
        Ok(Router {
            index,
            options,
            clock: surroundings.clock,
            last: RefCell::default(),
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
        let delegation = decision.delegation(&query.text, self.timestamp());
        Routed {
            decision,
            delegation,
        }
    }

    fn timestamp(&self) -> String {
        let (now, mut last) = (self.clock.now(), self.last.borrow_mut());
        if last.0 != now.timestamp_millis() {
            *last = (now.timestamp_millis(), timestamp(now));
        }
        last.1.clone()
    }
}

/// Adds the agents of a file to an index. Only the fields that routing needs are read.
fn list_agents(directory: &Path, path: &Path, mut index: Index) -> Result<Index> {
    let place = match path.as_os_str() == "-" {
        true => path.to_path_buf(),
        false => directory.join(path),
    };
    let (bytes, name) = (read_input(&place, FILE_MAX)?, path.to_string_lossy());
    let look = format!("head -c 2000 {}", quote(&name));
    if bytes.trim_ascii().is_empty() {
        let message = format!("{name} is empty");
        return Err(Error::new(Code::InputInvalid, message).fix(&look));
    }
    let mut agents = Vec::new();
    let read = agents::read_values(&bytes, &name, &mut |value| agents.push(read_agent(value)));
    read.map_err(|error| Error {
        code: Code::InputInvalid,
        ..error.fix(&look)
    })?;
    for (number, agent) in (1_usize..).zip(agents) {
        let refuse = |what: String| {
            let message = format!("{name}: agent {number}{what}");
            Error::new(Code::AgentInvalid, message).fix(&look)
        };
        let agent = agent.map_err(|error| refuse(format!(": {}", error.message)))?;
        if let Some(place) = index.position(&agent.id) {
            let (id, earlier) = (&agent.id, place + 1);
            return Err(refuse(format!(" has the id of agent {earlier}: `{id}`")));
        }
        index.push(agent);
    }
    Ok(index)
}

fn read_agent(value: Value) -> Result<Arc<Agent>> {
    let read: Candidate = draft::read(value)?;
    let name = read.name.unwrap_or_default();
    // As in a registry, an id can be made of the name.
    let suggested = || (!name.trim().is_empty()).then(|| suggest_id(&name));
    let id = read.id.or_else(suggested).unwrap_or_default();
    if !is_visible_line(&id, ID_MAX) {
        return Err(draft::invalid(format!(
            "it needs a name, or an id of 1 to {ID_MAX} visible characters"
        )));
    }
    if id == FINALIZE {
        return Err(draft::invalid(format!(
            "`{id}` is what the router answers if no agent fits; give it another id, such as `{id}-agent`"
        )));
    }
    Ok(Arc::new(Agent {
        role: read.role.unwrap_or(Role::Specialist),
        status: read.status.unwrap_or(AgentStatus::Active),
        description: read.description.unwrap_or_default(),
        objective: read.objective.unwrap_or_default(),
        tags: read.tags.unwrap_or_default(),
        ..Agent::new(&id, Kind::Persistent, &name)
    }))
}
