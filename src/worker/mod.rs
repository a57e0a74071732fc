//! Workers: agents that are asked through one handshake, behind an address ([`http`]) or as a
//! program ([`cli`]). What goes wrong with a worker is an answer too, with a type and a message.
//! Start at [`call`].

pub(crate) mod cli;
pub(crate) mod health;
pub(crate) mod http;
pub(crate) mod response;

use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::agent::{Agent, Kind};
use crate::error::{Code, Error, Result};
use crate::exchange;
use crate::id;
use crate::runner;

pub(crate) use response::{Fault, FaultKind, WorkerReply};

/// Largest answer of a worker, in bytes.
pub(crate) const ANSWER_MAX: u64 = 4 << 20;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Request {
    /// Names this request; the answer repeats it.
    pub(crate) request_id: String,
    pub(crate) agent_name: String,
    /// What is wished for, such as `summary.create`.
    pub(crate) intent: String,
    pub(crate) input: Input,
    pub(crate) context: Context,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Input {
    pub(crate) text: String,
    pub(crate) metadata: Metadata,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Metadata {
    /// Its language, such as `en`.
    pub(crate) language: String,
    /// Everything else.
    pub(crate) extra: Map<String, Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Context {
    /// The user; none when nobody said.
    pub(crate) user_id: Option<String>,
    /// The conversation, if there is one.
    pub(crate) conversation_id: Option<String>,
    /// When, RFC 3339 in UTC.
    pub(crate) timestamp: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Reach {
    /// The program that talks to servers, `cleo-net`.
    pub(crate) net: PathBuf,
    pub(crate) folder: PathBuf,
    /// Whether only addresses are called that anybody can reach: none on this machine, and none in a
    /// network around it.
    pub(crate) public_only: bool,
}

impl Request {
    /// Makes a request for a worker. Id and context are handed in; see [`request_id`].
    pub(crate) fn new(
        request_id: String,
        agent: &Agent,
        intent: &str,
        text: &str,
        context: Context,
    ) -> Request {
        Request {
            request_id,
            agent_name: agent.name.clone(),
            intent: intent.to_string(),
            input: Input {
                text: text.to_string(),
                metadata: Metadata {
                    language: "en".to_string(),
                    extra: Map::new(),
                },
            },
            context,
        }
    }
}

impl Reach {
    /// Reaches workers with the program beside cleo, and runs programs in a folder.
    pub(crate) fn from(folder: PathBuf) -> Reach {
        Reach {
            net: runner::beside(exchange::PROGRAM),
            folder,
            public_only: false,
        }
    }
}

/// Makes an id that no other request has: a random UUID.
pub(crate) fn request_id() -> Result<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|cause| {
        Error::new(
            Code::Internal,
            format!("the system gives no random numbers: {cause}"),
        )
    })?;
    Ok(id::uuid(random))
}

/// Asks a worker and waits for its answer, at most as long as the agent may take. Whatever is wrong
/// with the worker is in the answer; the error is cleo's own: it is asked to end. Whether the worker
/// may be called at all is for the caller to know (`ops::workers`).
pub(crate) fn call(agent: &Agent, request: &Request, reach: &Reach) -> Result<WorkerReply> {
    let answered = answered(agent, request, reach)?;
    let read = answered.and_then(|answer| response::read(&answer, request));
    Ok(read.unwrap_or_else(|fault| WorkerReply::failed(request, fault)))
}

fn answered(
    agent: &Agent,
    request: &Request,
    reach: &Reach,
) -> Result<std::result::Result<Vec<u8>, Fault>> {
    match agent.kind {
        Kind::Http => http::call(agent, request, reach),
        Kind::Cli => cli::call(agent, request, reach),
        _ => {
            let message = format!(
                "{} is no worker: it has neither endpoint nor command",
                agent.id
            );
            Ok(Err(Fault::new(FaultKind::ConfigError, message)))
        }
    }
}
