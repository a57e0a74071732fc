//! From messages to agents.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{Surroundings, agents};
use crate::clock::Clock;
use crate::error::{Code, Error, Result, quote};
use crate::file;
use crate::route::roster::{self, FILE_MAX};
use crate::route::{Decision, Delegation, Index, Match, Query, Request};

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
    /// Of invalid files of agents.
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

fn list_agents(directory: &Path, path: &Path) -> Result<Index> {
    let is_yaml = path
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("yaml") || end.eq_ignore_ascii_case("yml"));
    let place = match path.as_os_str() == "-" {
        true => path.to_path_buf(),
        false => directory.join(path),
    };
    let bytes = file::read_input(&place, FILE_MAX)?;
    let agents = roster::read(&bytes, is_yaml).map_err(|fault| faulty(path, &fault))?;
    Ok(Index::new(agents))
}

fn faulty(path: &Path, fault: &roster::Fault) -> Error {
    let name = path.display();
    let shown = quote(&path.to_string_lossy());
    match fault.place {
        Some((line, column)) => {
            let message = format!("{name}, line {line}, column {column}: {}", fault.what);
            Error::new(Code::InputInvalid, message).fix(file::look(path, &[line]))
        }
        None => {
            let message = format!("{name}: {}", fault.what);
            Error::new(Code::AgentInvalid, message).fix(format!("head -c 2000 {shown}"))
        }
    }
}
