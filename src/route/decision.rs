//! What the router answers, and why.

use serde::Serialize;

use super::{CLARIFY, FINALIZE};
use crate::agent::SUPERVISOR;

/// How it was decided.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decided {
    /// By the score.
    Matched,
    /// By who asked for this agent.
    Requested,
    /// No agent fits.
    Finalize,
    /// Several fit about as well.
    Clarify,
}

/// Where a message goes.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision<'a> {
    /// Id of the agent; `finalize` when none fits, `clarify` when it is asked which one is meant.
    pub agent: &'a str,
    /// How it was decided.
    pub decided: Decided,
    /// Score of the agent; the best score when there is none.
    pub score: u32,
    /// Why, in one line.
    pub reason: String,
    /// Lead over the runner-up, or over nothing; none for an agent that was asked for.
    pub margin: Option<u32>,
    /// The best of the others, if anything speaks for it.
    pub runner_up: Option<RunnerUp<'a>>,
    /// What to ask back when it is not clear which agent is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The distinct words of the message that count, normalized.
    pub terms: Vec<&'a str>,
    /// Candidates with the parts of their scores, best first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<Vec<Candidate<'a>>>,
    /// How many candidates there are.
    pub total: usize,
}

/// The best of the others.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RunnerUp<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its score.
    pub score: u32,
}

/// An agent that could have been chosen, with the parts of its score, which add up.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate<'a> {
    /// Its id.
    pub id: &'a str,
    /// `base` and `tagBoost` together.
    pub score: u32,
    /// One for each of `matchedTerms`.
    pub base: u32,
    /// Two for each of `matchedTags`.
    pub tag_boost: u32,
    /// Words of the message that the agent has.
    pub matched_terms: Vec<&'a str>,
    /// Tags that the message names, as they are written in the agent.
    pub matched_tags: Vec<&'a str>,
}

/// What is told to whoever follows where messages go.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Delegation<'a> {
    /// Who hands the message on: the supervisor.
    pub from: &'static str,
    /// The agent, `finalize` or `clarify`.
    pub to: &'a str,
    /// Why.
    pub reason: String,
    /// The message.
    pub query: &'a str,
    /// When, RFC 3339 in UTC.
    pub timestamp: String,
}

impl<'a> Decision<'a> {
    /// Says whether the message goes to an agent.
    pub fn is_agent(&self) -> bool {
        matches!(self.decided, Decided::Matched | Decided::Requested)
    }

    /// Makes the event of this decision. Every decision has one.
    pub fn delegation(&self, query: &'a str, timestamp: String) -> Delegation<'a> {
        Delegation {
            from: SUPERVISOR,
            to: self.agent,
            reason: self.reason.clone(),
            query,
            timestamp,
        }
    }
}

impl Decided {
    /// Returns what stands in the place of an agent.
    pub(super) fn instead(self) -> &'static str {
        match self {
            Decided::Clarify => CLARIFY,
            _ => FINALIZE,
        }
    }
}
