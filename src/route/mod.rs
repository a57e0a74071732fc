//! From a message to an agent: words of the message against the words and tags of each agent, by
//! the rule of the multi-agent notes, sections 1.2 and 1.4. Pure; start at [`Index::route`].

mod index;
mod scoring;
#[cfg(test)]
mod tests;
mod verdict;

use std::collections::HashSet;

use foldhash::fast::RandomState;
use serde::Deserialize;

use crate::agent::MESSAGE_MAX;
use crate::error::{Code, Error, Result};
use crate::score::{Words, is_long_enough};

pub(crate) use index::Index;
pub(crate) use verdict::{Candidate, Decided, Decision, Delegation};

/// The answer of the router if no agent fits.
pub(crate) const FINALIZE: &str = "finalize";

/// Points for a tag that the message names. A word counts one.
pub(crate) const TAG_BOOST: u32 = 2;

/// When a word of a message counts for an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Match {
    /// It is one of the agent's words.
    #[default]
    Token,
    /// It is part of the agent's text, also inside a longer word.
    Substring,
}

/// A message to be routed, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) message: &'a Message,
    pub(crate) agent: Option<&'a str>,
    /// When a word counts.
    pub(crate) by: Match,
    /// How many candidates the decision explains; none leaves them out.
    pub(crate) explain: Option<usize>,
}

impl<'a> Request<'a> {
    /// Asks for the best agent, by the words of the agents and without an explanation.
    pub(crate) fn new(message: &'a Message) -> Request<'a> {
        Request {
            message,
            agent: None,
            by: Match::Token,
            explain: None,
        }
    }
}

/// The words of a message: all of them in order, and the distinct ones that count.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) words: Words,
    /// Places in `words` of the first of each distinct word of three characters or more.
    terms: Vec<usize>,
}

impl Message {
    pub(crate) fn parse(text: &str) -> Message {
        let words = Words::parse(text);
        let all = words.iter().enumerate();
        let mut seen = HashSet::with_capacity_and_hasher(all.len(), RandomState::default());
        let terms = all.filter(|(_, word)| is_long_enough(word) && seen.insert(*word));
        let terms = terms.map(|(at, _)| at).collect();
        Message { words, terms }
    }

    /// Returns the distinct words that count, in the order of the message.
    pub(crate) fn terms(&self) -> impl ExactSizeIterator<Item = &str> {
        self.terms.iter().map(|at| self.words.get(*at))
    }

    fn term(&self, number: usize) -> &str {
        self.words.get(self.terms[number])
    }
}

/// A message that is to be routed, or answered.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    /// The message as it was given.
    pub(crate) text: String,
    pub(crate) message: Message,
    pub(crate) agent: Option<String>,
    pub(crate) conversation: Option<String>,
}

/// A query as a JSON object; other fields may stand beside these.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema)]
#[schemars(transform = crate::task::schema::require_one("oneOf", serde_json::json!({
        "input": {"type": "string", "pattern": crate::task::schema::SEEN},
        "message": {"type": "string", "pattern": crate::task::schema::SEEN},
    })))]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageRequest {
    /// The message.
    #[serde(alias = "message")]
    pub(crate) input: Option<String>,
    /// The requested agent. If it is not available, the reason says so and the router chooses.
    #[serde(alias = "agent_id", alias = "agent")]
    agent_id: Option<String>,
    /// Conversation that the message belongs to.
    #[serde(alias = "conversation_id", alias = "conversation")]
    conversation_id: Option<String>,
    /// May hold the requested agent, if `agentId` does not.
    metadata: Option<Wish>,
    /// As `metadata`.
    context: Option<Wish>,
}

/// An object that may hold the requested agent.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct Wish {
    requested_agent_id: Option<String>,
}

impl MessageRequest {
    /// Refuses a blank or too long message. A blank agent is none.
    pub(crate) fn query(self) -> Result<Query> {
        let text = self
            .input
            .ok_or_else(|| invalid("the message is missing"))?;
        let wishes = [self.metadata, self.context].into_iter().flatten();
        let wishes = wishes.filter_map(|wish| wish.requested_agent_id);
        let mut agents = self.agent_id.into_iter().chain(wishes);
        let agent = agents.find(|id| !id.trim().is_empty());
        Ok(Query {
            conversation: self.conversation_id,
            ..Query::new(text, agent)?
        })
    }
}

impl Query {
    pub(crate) fn new(text: String, agent: Option<String>) -> Result<Query> {
        if text.len() > MESSAGE_MAX {
            let message = format!(
                "the message has {} bytes; at most {MESSAGE_MAX} are allowed",
                text.len()
            );
            return Err(invalid(message));
        }
        if text.trim().is_empty() {
            return Err(invalid("the message is empty"));
        }
        Ok(Query {
            message: Message::parse(&text),
            agent: agent.filter(|id| !id.trim().is_empty()),
            text,
            conversation: None,
        })
    }

    /// Reads a line: a JSON object, else the message itself.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Query> {
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        if bytes.trim_ascii_start().starts_with(b"{") {
            let said: MessageRequest = serde_json::from_slice(bytes).map_err(|cause| {
                // The parser sees one line, so its number is not the one that is meant.
                let what = cause.to_string();
                let what = what.split(" at line ").next().unwrap_or_default();
                invalid(format!("column {}: {what}", cause.column()))
            })?;
            return said.query();
        }
        let text = std::str::from_utf8(bytes);
        let text = text.map_err(|_| invalid("the message is not text in UTF-8"))?;
        Query::new(text.to_string(), None)
    }
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(Code::InputInvalid, message).fix("cleo route 'Help me design a layout'")
}
