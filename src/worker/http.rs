//! Workers behind an address: one POST, of which only 200 is an answer.

use super::{ANSWER_MAX, Fault, FaultKind, Reach, Request};
use crate::agent::Agent;
use crate::error::{Code, Result};
use crate::exchange::wire::{self, Call};
use crate::exchange::{self, Failure};

/// Asks a worker; the inner result is its answer, unread, or what went wrong with it.
pub(super) fn call(
    agent: &Agent,
    request: &Request,
    reach: &Reach,
) -> Result<std::result::Result<Vec<u8>, Fault>> {
    let Some(endpoint) = &agent.endpoint else {
        let message = format!("{} has no endpoint", agent.id);
        return Ok(Err(Fault::new(FaultKind::ConfigError, message)));
    };
    let call = prepared(endpoint, agent, request);
    let mut body = String::new();
    let done = exchange::perform(&reach.net, &call, &mut |_, text| body += text);
    Ok(match done {
        Ok(head) if head.status == 200 => Ok(body.into_bytes()),
        Ok(head) => {
            let message = format!("HTTP {} calling {endpoint}", head.status);
            Err(Fault::new(FaultKind::HttpError, message))
        }
        Err(Failure::Fault(fault)) => Err(judged(&fault, endpoint, agent)),
        Err(Failure::Own(error)) if error.code == Code::ProgramMissing => {
            Err(Fault::new(FaultKind::ConfigError, error.message))
        }
        Err(Failure::Own(error)) => return Err(error),
    })
}

fn prepared(endpoint: &str, agent: &Agent, request: &Request) -> Call {
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json"),
    ];
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_string()));
    Call {
        method: "POST".to_string(),
        url: endpoint.to_string(),
        headers: headers.into(),
        body: serde_json::to_string(request).ok(),
        connect_timeout_ms: u64::from(agent.timeout_ms),
        timeout_ms: u64::from(agent.timeout_ms),
        max_bytes: ANSWER_MAX,
    }
}

fn judged(fault: &wire::Fault, endpoint: &str, agent: &Agent) -> Fault {
    use wire::FaultKind::*;
    let (kind, message) = match fault.kind {
        Timeout => {
            let message = format!("no answer within {} ms from {endpoint}", agent.timeout_ms);
            return Fault::new(FaultKind::Timeout, message);
        }
        TooLarge => (FaultKind::InvalidResponse, &fault.message),
        Address => (FaultKind::ConfigError, &fault.message),
        _ => (FaultKind::NetworkError, &fault.message),
    };
    Fault::new(kind, format!("calling {endpoint}: {message}"))
}
