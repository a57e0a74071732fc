//! Workers: agents that answer one handshake, at an address ([`call_address`]) or as a program
//! ([`call_program`]). Their failures are answers too, with type and message. Start at [`call`].

pub(crate) mod health;
pub(crate) mod response;

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::agent::{Agent, Kind};
use crate::error::{Code, Error, Result};
use crate::id;
use crate::net::{self, Call, Failure};
use crate::runner::child;
use crate::runner::process::{self, Captured};
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

/// Asks a worker and waits for its answer within the agent's timeout. Failures of the worker are in the
/// answer; an error is cleo's own interruption. The caller checks whether the worker may be called
/// (`ops::workers`).
pub(crate) fn call(agent: &Agent, request: &Request, reach: &Reach) -> Result<WorkerReply> {
    let answered = fetch_answer(agent, request, reach)?;
    let read = answered.and_then(|answer| response::read(&answer, request));
    Ok(read.unwrap_or_else(|fault| WorkerReply::failure(request, fault)))
}

fn fetch_answer(
    agent: &Agent,
    request: &Request,
    reach: &Reach,
) -> Result<std::result::Result<Vec<u8>, Fault>> {
    match agent.kind {
        Kind::Http => call_address(agent, request, reach),
        Kind::Cli => call_program(agent, request, reach),
        _ => {
            let message = format!(
                "{} is no worker: it has neither endpoint nor command",
                agent.id
            );
            Ok(Err(Fault::new(FaultKind::ConfigError, message)))
        }
    }
}

/// How many of the last lines of standard error a fault repeats.
const LINES: usize = 5;

/// Asks a worker; the inner result is its answer, unread, or what went wrong with it.
fn call_program(
    agent: &Agent,
    request: &Request,
    reach: &Reach,
) -> Result<std::result::Result<Vec<u8>, Fault>> {
    let Some((program, arguments)) = agent.command.split_first() else {
        let message = format!("{} has no command", agent.id);
        return Ok(Err(Fault::new(FaultKind::ConfigError, message)));
    };
    let mut command = child::command(program, &reach.folder, child::answer_environment(&[]));
    command.args(arguments);
    let limit = timeout(agent);
    let input = serde_json::to_vec(request).unwrap_or_default();
    match process::run_with_input(command, input, limit, ANSWER_MAX as usize) {
        Ok(captured) => Ok(read_printed(captured, program, limit)),
        Err(error) if matches!(error.code, Code::ProgramMissing | Code::FileUnreadable) => {
            Ok(Err(Fault::new(FaultKind::ConfigError, error.message)))
        }
        Err(error) => Err(error),
    }
}

/// Returns what a program printed, or what went wrong with it.
pub(crate) fn read_printed(
    captured: Captured,
    program: &str,
    limit: Duration,
) -> std::result::Result<Vec<u8>, Fault> {
    // It was ended for that, whatever its exit code is.
    if captured.is_cut {
        let message = format!("`{program}` answered with more than {ANSWER_MAX} bytes");
        return Err(Fault::new(FaultKind::InvalidResponse, message));
    }
    if captured.finished.timed_out {
        let message = format!("no answer within {} ms from `{program}`", limit.as_millis());
        return Err(Fault::new(FaultKind::Timeout, message));
    }
    if captured.finished.exit_code != Some(0) {
        let how = match captured.finished.exit_code {
            Some(code) => format!("ended with exit code {code}"),
            None => "was ended by a signal".to_string(),
        };
        let stderr_tail = &captured.stderr_tail;
        let last = &stderr_tail[stderr_tail.len().saturating_sub(LINES)..];
        let tail = match last.iter().all(|line| line.is_empty()) {
            true => String::new(),
            false => format!(": {}", last.join("\n")),
        };
        let message = format!("`{program}` {how}{tail}");
        return Err(Fault::new(FaultKind::CliError, message));
    }
    // Whether something that it left running holds its output open does not matter: it has ended.
    Ok(captured.stdout)
}

/// Asks a worker; the inner result is its answer, unread, or what went wrong with it.
fn call_address(
    agent: &Agent,
    request: &Request,
    reach: &Reach,
) -> Result<std::result::Result<Vec<u8>, Fault>> {
    let Some(endpoint) = &agent.endpoint else {
        let message = format!("{} has no endpoint", agent.id);
        return Ok(Err(Fault::new(FaultKind::ConfigError, message)));
    };
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json"),
    ];
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_string()));
    let call = Call {
        method: "POST",
        headers: headers.into(),
        body: serde_json::to_string(request).ok(),
        ..prepare(endpoint, agent, reach)
    };
    Ok(perform(&call, agent, |status| status == 200)?.map(String::into_bytes))
}

/// Performs a call for a worker; the inner result is the body of an answer whose status is good, or what went wrong.
fn perform(
    call: &Call,
    agent: &Agent,
    is_good: impl Fn(u16) -> bool,
) -> Result<std::result::Result<String, Fault>> {
    let (mut body, url) = (String::new(), &call.url);
    match net::perform(call, &mut |_, text| body += text) {
        Ok(head) if is_good(head.status) => Ok(Ok(body)),
        Ok(head) => {
            let message = format!("HTTP {} calling {url}", head.status);
            Ok(Err(Fault::new(FaultKind::HttpError, message)))
        }
        Err(Failure::Fault(fault)) => Ok(Err(describe_fault(&fault, url, agent))),
        Err(Failure::Own(error)) => Err(error),
    }
}

fn prepare(url: &str, agent: &Agent, reach: &Reach) -> Call {
    Call {
        method: "GET",
        url: url.to_string(),
        headers: Vec::new(),
        body: None,
        connect_timeout: timeout(agent),
        timeout: timeout(agent),
        max_bytes: ANSWER_MAX,
        public_only: reach.public_only,
    }
}

fn timeout(agent: &Agent) -> Duration {
    Duration::from_millis(u64::from(agent.timeout_ms))
}

fn describe_fault(fault: &net::Fault, address: &str, agent: &Agent) -> Fault {
    use net::FaultKind::*;
    let (kind, message) = match fault.kind {
        Timeout => {
            let message = format!("no answer within {} ms from {address}", agent.timeout_ms);
            return Fault::new(FaultKind::Timeout, message);
        }
        TooLarge => (FaultKind::InvalidResponse, &fault.message),
        Address | NotPublic => (FaultKind::ConfigError, &fault.message),
        _ => (FaultKind::NetworkError, &fault.message),
    };
    Fault::new(kind, format!("calling {address}: {message}"))
}
