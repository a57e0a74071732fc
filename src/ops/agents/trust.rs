//! Trust in workers. A worker runs a program or calls an address, and what names it may have come
//! with a repository: a file in `.cleo/agents`, or the store of agents itself. So no worker is called
//! that this user has not trusted on this machine. What was trusted is kept outside of the project,
//! for one workspace, one agent, and exactly what would be run or called: a change asks again.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Known, known_in};
use crate::agent::{Agent, Kind};
use crate::clock::Clock;
use crate::error::{Code, Error, Result, quote};
use crate::file::{read, unwritable, write_whole};
use crate::id;
use crate::ops::Surroundings;
use crate::runner::crew;
use crate::words::closed;
use crate::workspace::Workspace;

/// Largest record of trust that is read, in bytes.
const RECORD_MAX: u64 = 64 << 10;
/// How many records are written at the same time.
const WRITERS: usize = 32;

closed! {
    /// Who registers an agent.
    Registrant, "way of registering":
    /// The user of this machine, by a command or by trusting it.
    User = "user",
    /// Somebody who called cleo over HTTP.
    Http = "http",
}

closed! {
    /// Whether a worker may be called.
    Standing, "standing of a worker":
    /// It may.
    Trusted = "trusted",
    /// It was trusted, and is now another.
    Changed = "changed",
    /// Nobody here has trusted it.
    Untrusted = "untrusted",
}

/// What is kept of a trusted worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    workspace: String,
    agent: String,
    digest: String,
    by: Registrant,
    at: String,
}

/// Which workers of a workspace this user trusts.
#[derive(Clone, Debug)]
pub struct Trust {
    folder: Option<PathBuf>,
    workspace: String,
}

/// An agent after its trust was given or taken.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub struct Trusting {
    /// The agent.
    pub agent: Agent,
    /// Whether it may be called now.
    pub standing: Standing,
    /// Whether that is new.
    pub changed: bool,
    /// The file that the agent stands in, relative to the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl Trust {
    /// Finds what is kept for a workspace, in the user's folder of data.
    pub fn of(surroundings: &Surroundings, workspace: &Workspace) -> Trust {
        let root = workspace.root.canonicalize();
        let root = root.unwrap_or_else(|_| workspace.root.clone());
        let folder = surroundings.data_home.as_ref();
        Trust {
            folder: folder.map(|home| home.join("cleo/trusted-agents")),
            workspace: root.to_string_lossy().into_owned(),
        }
    }

    /// Says how a worker stands.
    pub fn standing(&self, agent: &Agent) -> Standing {
        match self.record(&agent.id) {
            Some(record) if record.digest == definition(agent) => Standing::Trusted,
            Some(record) if record.by == Registrant::User => Standing::Changed,
            // Also what somebody registered over HTTP as another: nobody has trusted that.
            _ => Standing::Untrusted,
        }
    }

    /// Refuses a worker that is not trusted. Says of a trusted one who has registered it.
    pub fn require(&self, agent: &Agent) -> Result<Registrant> {
        match (self.standing(agent), self.record(&agent.id)) {
            (Standing::Trusted, Some(record)) => Ok(record.by),
            (standing, _) => Err(untrusted(agent, standing)),
        }
    }

    /// Trusts a worker as it is now. A program that somebody names over HTTP is never trusted.
    pub fn give(&self, agent: &Agent, by: Registrant, clock: &Clock) -> Result<()> {
        if by == Registrant::Http && agent.kind == Kind::Cli {
            return Err(untrusted(agent, Standing::Untrusted));
        }
        let record = Record {
            workspace: self.workspace.clone(),
            agent: agent.id.clone(),
            digest: definition(agent),
            by,
            at: clock.timestamp(),
        };
        let text = serde_json::to_string(&record).unwrap_or_default() + "\n";
        write_whole(&self.place(&agent.id)?, &text)
    }

    /// Takes trust away; says whether there was any.
    pub fn take(&self, id: &str) -> Result<bool> {
        let path = self.place(id)?;
        match std::fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(cause) => Err(unwritable(&path, cause)),
        }
    }

    fn record(&self, id: &str) -> Option<Record> {
        let bytes = read(&self.place(id).ok()?, RECORD_MAX).ok()?;
        let record: Record = serde_json::from_slice(&bytes).ok()?;
        let is_it = record.workspace == self.workspace && record.agent == id;
        is_it.then_some(record)
    }

    fn place(&self, id: &str) -> Result<PathBuf> {
        let Some(folder) = &self.folder else {
            let message = "no folder is known in which trust could be kept: HOME is not set";
            return Err(Error::new(Code::ConfigInvalid, message).fix("export HOME=~"));
        };
        let name = id::digest(format!("{}\0{id}", self.workspace));
        let name = name.trim_start_matches("sha256:");
        Ok(folder.join(Path::new(name).with_extension("json")))
    }
}

/// Digest of everything that says what is run or called.
fn definition(agent: &Agent) -> String {
    let parts = (
        agent.kind,
        &agent.command,
        &agent.endpoint,
        &agent.healthcheck,
        agent.timeout_ms,
    );
    id::digest(serde_json::to_vec(&parts).unwrap_or_default())
}

fn untrusted(agent: &Agent, standing: Standing) -> Error {
    let what = does(agent);
    let message = match standing {
        Standing::Changed => format!(
            "`{}` is another than when you trusted it; it would {what}",
            agent.id
        ),
        _ => format!("nobody here has trusted `{}`, which would {what}", agent.id),
    };
    let fix = format!("cleo agents trust {}", quote(&agent.id));
    let look = format!("cleo agents show {}", quote(&agent.id));
    let error = Error::new(Code::AgentUntrusted, message);
    error.fix(fix).or("look at it first", look)
}

/// Says what calling a worker does.
pub fn does(agent: &Agent) -> String {
    match (&agent.endpoint, agent.kind) {
        (Some(endpoint), Kind::Http) => format!("call {endpoint}"),
        _ => {
            let words: Vec<String> = agent.command.iter().map(|word| quote(word)).collect();
            format!("run {}", words.join(" "))
        }
    }
}

/// Trusts a worker as it is now.
pub fn trust(surroundings: &Surroundings, id: &str) -> Result<Trusting> {
    let (trust, known) = gathered(surroundings)?;
    let agent = known.require(id)?;
    if !agent.is_worker() {
        let message = format!("`{id}` runs no program and calls no address, so it needs no trust");
        let error = Error::new(Code::AgentInvalid, message);
        return Err(error.fix(format!("cleo agents show {}", quote(id))));
    }
    let before = trust.standing(agent);
    trust.give(agent, Registrant::User, &surroundings.clock)?;
    Ok(trusting(&trust, &known, agent, before))
}

/// Takes trust in an agent away, also in one that is not there any more.
pub fn untrust(surroundings: &Surroundings, id: &str) -> Result<Trusting> {
    let (trust, known) = gathered(surroundings)?;
    let agent = known.require(id)?;
    let before = trust.standing(agent);
    trust.take(id)?;
    Ok(trusting(&trust, &known, agent, before))
}

fn gathered(surroundings: &Surroundings) -> Result<(Trust, Known)> {
    let workspace = surroundings.workspace()?;
    Ok((Trust::of(surroundings, &workspace), known_in(&workspace)?))
}

fn trusting(trust: &Trust, known: &Known, agent: &Agent, before: Standing) -> Trusting {
    let standing = trust.standing(agent);
    Trusting {
        changed: standing != before,
        standing,
        file: known.file(&agent.id).map(str::to_string),
        agent: agent.clone(),
    }
}

/// Trusts the workers among agents that their registrant has just named himself; what keeps them from
/// that is a warning, because they are registered all the same.
pub(super) fn keep(
    surroundings: &Surroundings,
    workspace: &Workspace,
    agents: &[&Agent],
    by: Registrant,
) -> Vec<String> {
    let trust = Trust::of(surroundings, workspace);
    let workers: Vec<&Agent> = agents
        .iter()
        .filter(|agent| agent.is_worker())
        .copied()
        .collect();
    // Each record waits for the disk, and the disk makes many safe at once.
    let given = crew::each(&workers, WRITERS, |agent| {
        trust.give(agent, by, &surroundings.clock)
    });
    let given = workers.iter().zip(given);
    let failed = given.filter_map(|(agent, given)| Some((agent, given.err()?)));
    let told = |(agent, error): (&&Agent, Error)| {
        format!("{} is not trusted: {}", agent.id, error.message)
    };
    failed.map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_says_what_is_called_is_part_of_the_trust() {
        let agent = || Agent {
            command: vec!["run".into()],
            ..Agent::new("w", Kind::Cli, "W")
        };
        let same = Agent {
            description: "another".into(),
            prompt: "p".into(),
            ..agent()
        };
        assert_eq!(definition(&agent()), definition(&same));
        for other in [
            Agent {
                command: vec!["run".into(), "x".into()],
                ..agent()
            },
            Agent {
                kind: Kind::Http,
                ..agent()
            },
            Agent {
                endpoint: Some("http://a".into()),
                ..agent()
            },
            Agent {
                healthcheck: Some("http://a".into()),
                ..agent()
            },
            Agent {
                timeout_ms: 1,
                ..agent()
            },
        ] {
            assert_ne!(definition(&agent()), definition(&other), "{other:?}");
        }
    }
}
