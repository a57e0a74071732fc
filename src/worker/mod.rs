//! Workers: agents that answer one handshake, at an address or as a program. Their failures are answers too, with type and
//! message. Start at [`call`].

pub(crate) mod health;
pub(crate) mod response;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::agent::{Agent, Kind};
use crate::error::{Code, Result};
use crate::id;
use crate::net::{self, Call, Failure};
use crate::runner::process::{self, Finished};
use crate::runner::{child, orphans};
pub(crate) use response::{Fault, FaultKind, WorkerReply};

/// Largest answer of a worker, in bytes.
pub(crate) const ANSWER_MAX: u64 = 4 << 20;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Request {
    /// Names this request; the answer repeats it.
    pub(crate) request_id: String,
    pub(crate) agent_name: String,
    /// The intent, such as `summary.create`.
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
    /// The user; none if it is not known.
    pub(crate) user_id: Option<String>,
    /// The conversation, if there is one.
    pub(crate) conversation_id: Option<String>,
    /// When, RFC 3339 in UTC.
    pub(crate) timestamp: String,
    /// The run that it works for; a program is ended with it.
    #[serde(skip)]
    pub(crate) run: Option<String>,
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
    getrandom::fill(&mut random)
        .map_err(|cause| error!(Internal, "the system gives no random numbers: {cause}"))?;
    Ok(id::uuid(random))
}

/// Asks a worker and waits for its answer within the agent's timeout. Failures of the worker are in the
/// answer; an error is cleo's own interruption. The caller checks whether the worker may be called
/// (`ops::workers`).
pub(crate) fn call(agent: &Agent, request: &Request, reach: &Reach) -> Result<WorkerReply> {
    let answered = fetch_answer(agent, request, reach)?;
    let read = answered.and_then(|answer| response::read(&answer, request));
    let id = &request.request_id;
    Ok(read.unwrap_or_else(|fault| WorkerReply::failure(id.clone(), agent, fault)))
}

/// Asks a worker; the inner result is its answer, unread, or the fault.
fn fetch_answer(
    agent: &Agent,
    request: &Request,
    reach: &Reach,
) -> Result<std::result::Result<Vec<u8>, Fault>> {
    match (agent.kind, &agent.endpoint, agent.command.split_first()) {
        (Kind::Http, Some(endpoint), _) => {
            let headers = ["content-type", "accept"].map(|name| (name, "application/json"));
            let headers = headers.map(|(name, value)| (name.to_string(), value.to_string()));
            let call = Call {
                method: "POST",
                headers: headers.into(),
                body: crate::document::to_json(request).ok(),
                ..prepare(endpoint, agent, reach)
            };
            Ok(perform_call(&call, agent, |status| status == 200)?.map(String::into_bytes))
        }
        (Kind::Cli, _, Some((program, arguments))) => {
            let environment = child::answer_environment(&[]);
            let mut command = child::command(program, &reach.folder, environment);
            command.args(arguments);
            command.envs(request.context.run.iter().map(|run| (orphans::JUDGE, run)));
            call_program(command, program, request, timeout(agent))
        }
        _ => {
            let message = format!(
                "{} is not a worker: it has neither endpoint nor command",
                agent.id
            );
            Ok(Err(Fault::new(FaultKind::ConfigError, message)))
        }
    }
}

/// How many of the last lines of standard error a fault repeats.
const LINES: usize = 5;

fn call_program(
    command: Command,
    program: &str,
    request: &Request,
    limit: Duration,
) -> Result<std::result::Result<Vec<u8>, Fault>> {
    let input = crate::document::to_json(request)
        .unwrap_or_default()
        .into_bytes();
    match process::run_with_input(command, input, limit, ANSWER_MAX as usize) {
        Ok(captured) => Ok(read_printed(captured, program, limit)),
        Err(error) if matches!(error.code, Code::ProgramMissing | Code::FileUnreadable) => {
            Ok(Err(Fault::new(FaultKind::ConfigError, error.message)))
        }
        Err(error) => Err(error),
    }
}

/// Returns what a program printed, or its fault.
pub(crate) fn read_printed(
    captured: Finished,
    program: &str,
    limit: Duration,
) -> std::result::Result<Vec<u8>, Fault> {
    if captured.is_cut {
        let message = format!("`{program}` answered with more than {ANSWER_MAX} bytes");
        return Err(Fault::new(FaultKind::InvalidResponse, message));
    }
    if captured.timed_out {
        let message = format!("no answer within {} ms from `{program}`", limit.as_millis());
        return Err(Fault::new(FaultKind::Timeout, message));
    }
    if captured.exit_code != Some(0) {
        let how = match captured.exit_code {
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
    Ok(captured.stdout)
}

/// Performs a call for a worker; the inner result is the body of an answer with a good status, or the fault.
fn perform_call(
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
