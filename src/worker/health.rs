//! Checks whether a worker is available: by its health address, or by a handshake request that asks for
//! nothing.

use super::{Context, Fault, Reach, Request, fetch_answer, perform_call, prepare, response};
use crate::agent::Agent;
use crate::error::Result;
use crate::words::closed;

pub(crate) const INTENT: &str = "health.check";

closed! {
    /// How the health of a worker is checked.
    How, "way of looking":
    /// Its address for that is read.
    Healthcheck = "healthcheck",
    /// By the usual handshake, with `input.metadata.extra.dry_run`.
    Handshake = "handshake",
}

pub(crate) fn check_method(agent: &Agent) -> How {
    match agent.healthcheck {
        Some(_) => How::Healthcheck,
        None => How::Handshake,
    }
}

/// Checks a worker; the inner result is its fault.
pub(crate) fn check_worker(
    agent: &Agent,
    request_id: String,
    at: String,
    reach: &Reach,
) -> Result<std::result::Result<(), Fault>> {
    if let Some(address) = &agent.healthcheck {
        let call = prepare(address, agent, reach);
        let answered = perform_call(&call, agent, |status| (200..300).contains(&status))?;
        return Ok(answered.map(drop));
    }
    let context = Context {
        timestamp: at,
        ..Context::default()
    };
    let mut request = Request::new(request_id, agent, INTENT, "", context);
    let extra = &mut request.input.metadata.extra;
    extra.insert("dry_run".to_string(), true.into());
    let answered = fetch_answer(agent, &request, reach)?;
    // That it cannot do what it was asked for is an answer, and so it is there.
    Ok(answered.and_then(|answer| response::read(&answer, &request).map(|_| ())))
}
