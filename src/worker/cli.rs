//! Workers that are programs: the request on standard input, the answer on standard output, no
//! shell, and little of the environment: none of the keys that may be in it.

use std::time::Duration;

use super::{ANSWER_MAX, Fault, FaultKind, Reach, Request};
use crate::agent::Agent;
use crate::error::{Code, Result};
use crate::runner::child;
use crate::runner::process::{self, Captured};

/// How many of the last lines of standard error a fault repeats.
const LINES: usize = 5;

/// Asks a worker; the inner result is its answer, unread, or what went wrong with it.
pub(super) fn call(
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
    let limit = Duration::from_millis(u64::from(agent.timeout_ms));
    let input = serde_json::to_vec(request).unwrap_or_default();
    match process::converse(command, input, limit, ANSWER_MAX as usize) {
        Ok(captured) => Ok(judged(captured, program, agent)),
        Err(error) if matches!(error.code, Code::ProgramMissing | Code::FileUnreadable) => {
            Ok(Err(Fault::new(FaultKind::ConfigError, error.message)))
        }
        Err(error) => Err(error),
    }
}

fn judged(captured: Captured, program: &str, agent: &Agent) -> std::result::Result<Vec<u8>, Fault> {
    // It was ended for that, whatever its exit code is.
    if captured.is_cut {
        let message = format!("`{program}` answered with more than {ANSWER_MAX} bytes");
        return Err(Fault::new(FaultKind::InvalidResponse, message));
    }
    if captured.finished.timed_out {
        let message = format!("no answer within {} ms from `{program}`", agent.timeout_ms);
        return Err(Fault::new(FaultKind::Timeout, message));
    }
    if captured.finished.exit_code != Some(0) {
        let how = match captured.finished.exit_code {
            Some(code) => format!("ended with exit code {code}"),
            None => "was ended by a signal".to_string(),
        };
        let message = format!("`{program}` {how}{}", tail(&captured.complaints));
        return Err(Fault::new(FaultKind::CliError, message));
    }
    // Whether something that it left running holds its output open does not matter: it has ended.
    Ok(captured.stdout)
}

/// Returns the last lines of standard error, to follow a sentence.
fn tail(lines: &[String]) -> String {
    let last = &lines[lines.len().saturating_sub(LINES)..];
    match last.iter().all(|line| line.is_empty()) {
        true => String::new(),
        false => format!(": {}", last.join("\n")),
    }
}
