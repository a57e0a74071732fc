//! Workers behind an address: one POST, of which only 200 is an answer.

use super::{ANSWER_MAX, Fault, FaultKind, Reach, Request};
use crate::agent::Agent;
use crate::error::{Code, Result};
use crate::exchange::{self, Call, Failure};

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
    let call = prepared(endpoint, agent, request, reach);
    Ok(
        perform(&call, agent, reach)?.and_then(|(status, body)| match status {
            200 => Ok(body.into_bytes()),
            status => {
                let message = format!("HTTP {status} calling {endpoint}");
                Err(Fault::new(FaultKind::HttpError, message))
            }
        }),
    )
}

/// Performs a call for a worker; the inner result is status and body, or what went wrong.
pub(super) fn perform(
    call: &Call,
    agent: &Agent,
    reach: &Reach,
) -> Result<std::result::Result<(u16, String), Fault>> {
    let mut body = String::new();
    let done = exchange::perform(&reach.net, call, &mut |_, text| body += text);
    Ok(match done {
        Ok(head) => Ok((head.status, body)),
        Err(Failure::Fault(fault)) => Err(judged(&fault, &call.url, agent)),
        Err(Failure::Own(error)) if error.code == Code::ProgramMissing => {
            Err(Fault::new(FaultKind::ConfigError, error.message))
        }
        Err(Failure::Own(error)) => return Err(error),
    })
}

fn prepared(endpoint: &str, agent: &Agent, request: &Request, reach: &Reach) -> Call {
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
        public_only: reach.public_only,
    }
}

fn judged(fault: &exchange::Fault, address: &str, agent: &Agent) -> Fault {
    use exchange::FaultKind::*;
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
