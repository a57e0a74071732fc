//! Calling workers: only trusted ones, and a worker that was registered over HTTP only at a public address. Everything
//! that calls a worker does it here.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::agents::load_in;
use super::trust::{Item, Registrant, Trust};
use super::{Notes, Surroundings};
use crate::agent::{Agent, AgentStatus, Kind};
use crate::clock::Clock;
use crate::error::{Code, Error, Result, quote};
use crate::runner::pool;
use crate::worker::health::{self, How};
use crate::worker::{self, Context, Reach, Request, WorkerReply};
use crate::workspace::Workspace;

/// Most workers that are checked at once.
const AT_ONCE: usize = 16;

/// The workers of a workspace that may be called.
#[derive(Clone, Debug)]
pub(crate) struct Workers {
    trust: Trust,
    folder: PathBuf,
    allow_private: bool,
    clock: Clock,
}

impl Workers {
    /// `allow_private` lets workers of others have private addresses.
    pub(crate) fn new(
        surroundings: &Surroundings,
        workspace: &Workspace,
        allow_private: bool,
    ) -> Workers {
        Workers {
            trust: Trust::new(surroundings, workspace),
            folder: workspace.root.clone(),
            allow_private,
            clock: surroundings.clock,
        }
    }

    /// Asks a worker. Its failures are in the reply.
    ///
    /// Errors: `E_UNTRUSTED`, and cleo's own when it is asked to end.
    pub(crate) fn call(
        &self,
        agent: &Agent,
        intent: &str,
        text: &str,
        context: Context,
    ) -> Result<WorkerReply> {
        let reach = self.reach_trusted(agent)?;
        let context = Context {
            timestamp: self.clock.timestamp(),
            ..context
        };
        let request = Request::new(worker::request_id()?, agent, intent, text, context);
        worker::call(agent, &request, &reach)
    }

    pub(crate) fn may_call(&self, agent: &Agent) -> Result<()> {
        self.trust.require(&[Item::worker(agent)])
    }

    /// Returns how a worker may be reached; refuses an untrusted one.
    fn reach_trusted(&self, agent: &Agent) -> Result<Reach> {
        let item = Item::worker(agent);
        self.trust.require(std::slice::from_ref(&item))?;
        let is_of_user = self.trust.registrant(&item) == Some(Registrant::User);
        Ok(Reach {
            folder: self.folder.clone(),
            public_only: !is_of_user && !self.allow_private,
        })
    }

    fn check(&self, agent: &Agent) -> Result<Check> {
        let since = Instant::now();
        let fault = match self.reach_trusted(agent) {
            Err(error) => Some((error.code.name().to_string(), error.message)),
            Ok(reach) => {
                let (id, at) = (worker::request_id()?, self.clock.timestamp());
                let checked = health::check_worker(agent, id, at, &reach)?;
                checked.err().map(|fault| (fault.kind, fault.message))
            }
        };
        let (fault, message) = fault.unzip();
        Ok(Check {
            agent: agent.id.clone(),
            kind: agent.kind,
            how: health::check_method(agent),
            up: fault.is_none(),
            fault,
            message,
            time_ms: self.clock.elapsed_ms(since),
        })
    }
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Check {
    pub(crate) agent: String,
    pub(crate) kind: Kind,
    pub(crate) how: How,
    pub(crate) up: bool,
    /// The type of the fault: a worker's, or an error code.
    pub(crate) fault: Option<String>,
    pub(crate) message: Option<String>,
    /// How long it took, in milliseconds.
    pub(crate) time_ms: u64,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Checked {
    /// Each worker, in list order.
    pub(crate) checks: Vec<Check>,
    pub(crate) total: usize,
    /// How many of them are up.
    pub(crate) up: usize,
    pub(crate) down: usize,
}

#[derive(Default, Args, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Checking {
    /// Ids of workers [default: all active ones]
    #[arg(value_name = "ID")]
    agents: Vec<String>,
}

/// Checks workers in parallel: the named ones, or all active ones.
pub(crate) fn check(
    surroundings: &Surroundings,
    notes: &mut Notes,
    wanted: Checking,
) -> Result<Checked> {
    let workspace = surroundings.workspace()?;
    let known = load_in(&workspace)?;
    let is_meant = |agent: &&Agent| agent.is_worker() && agent.status == AgentStatus::Active;
    let agents: Vec<&Agent> = match wanted.agents.is_empty() {
        true => known.agents.iter().filter(is_meant).collect(),
        false => {
            let find = |id: &String| known.require(id).and_then(worker_only);
            wanted.agents.iter().map(find).collect::<Result<_>>()?
        }
    };
    let allows_private = surroundings.defaults.allow_private;
    let workers = Workers::new(surroundings, &workspace, allows_private);
    let checks = pool::map_parallel(&agents, AT_ONCE, |agent| workers.check(agent));
    let checks = checks.into_iter().collect::<Result<Vec<_>>>()?;
    let up = checks.iter().filter(|check| check.up).count();
    let checked = Checked {
        total: checks.len(),
        up,
        down: checks.len() - up,
        checks,
    };
    notes.failure = checked.error();
    notes.warn(known.warnings);
    Ok(checked)
}

fn worker_only(agent: &Agent) -> Result<&Agent> {
    if agent.is_worker() {
        return Ok(agent);
    }
    let message = format!(
        "`{}` is not a worker: it has neither endpoint nor command",
        agent.id
    );
    Err(Error::new(Code::AgentInvalid, message).fix("cleo agents list --kind http --kind cli"))
}

impl Checked {
    fn error(&self) -> Option<Error> {
        let down: Vec<&Check> = self.checks.iter().filter(|check| !check.up).collect();
        let first = down.first()?;
        let names: Vec<&str> = down.iter().map(|check| check.agent.as_str()).collect();
        let message = format!(
            "{} of {} workers are not there: {}",
            self.down,
            self.total,
            names.join(", ")
        );
        let fix = match first.fault.as_deref() {
            Some("E_UNTRUSTED") => "cleo trust".to_string(),
            _ => format!("cleo agents show {}", quote(&first.agent)),
        };
        Some(Error::new(Code::AgentDown, message).fix(fix))
    }
}
