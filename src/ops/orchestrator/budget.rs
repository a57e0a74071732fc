//! How full the context of an orchestrating agent is.

use serde::Serialize;

use crate::config::{ORCHESTRATOR_CONTEXT_TOKENS, Settings};

/// Tokens that an orchestrator should stay under by default (ORC-005).
const LIMIT: usize = 10_000;
/// From how many hundredths on it is warned, and from how many on it is to stop.
const WARNING: usize = 70;
pub(super) const CRITICAL: usize = 80;

/// Returns how many tokens an orchestrating agent may use.
pub(crate) fn limit(settings: &Settings) -> usize {
    let set = settings.number(ORCHESTRATOR_CONTEXT_TOKENS);
    let set = set.and_then(|tokens| usize::try_from(tokens).ok());
    set.unwrap_or(LIMIT)
}

/// How full the context is.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// There is room.
    Ok,
    /// From 70 percent on.
    Warning,
    /// From 80 percent on: hand over.
    Critical,
}

/// What is counted, against what an orchestrator may read.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Budget {
    pub(crate) tokens: usize,
    /// Tokens that an orchestrator should stay under.
    pub(crate) limit: usize,
    /// Hundredths of the limit, rounded down.
    pub(crate) percent: usize,
    pub(crate) state: State,
    /// How the tokens were counted.
    pub(crate) method: &'static str,
}

impl Budget {
    /// Compares so many tokens with a limit, which is more than none.
    pub(crate) fn compare(tokens: usize, limit: usize, method: &'static str) -> Budget {
        let percent = tokens.saturating_mul(100) / limit.max(1);
        let state = match percent {
            CRITICAL.. => State::Critical,
            WARNING.. => State::Warning,
            _ => State::Ok,
        };
        Budget {
            tokens,
            limit,
            percent,
            state,
            method,
        }
    }
}
