//! From a message to an agent: words of the message against the words and tags of each agent, by
//! the rule of the multi-agent notes, sections 1.2 and 1.4. Pure; start at [`Index::route`].

mod index;
pub(crate) mod roster;
mod tally;
#[cfg(test)]
mod tests;
mod verdict;

use std::borrow::Cow;
use std::collections::HashSet;

use serde::Deserialize;

use crate::agent::{Agent, AgentStatus, MESSAGE_MAX, Role};
use crate::error::{Code, Error, Result};
use crate::score::{normalize, terms};

pub(crate) use index::Index;
pub(crate) use verdict::{Candidate, Decided, Decision, Delegation};

/// What is answered instead of an agent when none fits.
pub(crate) const FINALIZE: &str = "finalize";

/// What is answered instead of an agent when it is asked which one is meant.
pub(crate) const CLARIFY: &str = "clarify";

/// Points for a tag that the message names. A word counts one.
pub(crate) const TAG_BOOST: u32 = 2;

/// Shortest word that counts, in characters.
pub(crate) const TERM_MIN: usize = 3;

/// What the router looks at in an agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profile<'a> {
    pub(crate) id: &'a str,
    pub(crate) objective: &'a str,
    /// Its name for people.
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    /// Words by which messages reach it.
    pub(crate) tags: &'a [String],
    /// What it does among the others; a supervisor is never routed to.
    pub(crate) role: Role,
    pub(crate) status: AgentStatus,
}

impl<'a> From<&'a Agent> for Profile<'a> {
    fn from(agent: &'a Agent) -> Profile<'a> {
        Profile {
            id: &agent.id,
            objective: &agent.objective,
            name: &agent.name,
            description: &agent.description,
            tags: &agent.tags,
            role: agent.role,
            status: agent.status,
        }
    }
}

/// When a word of a message counts for an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Match {
    /// It is one of the agent's words.
    #[default]
    Token,
    /// It stands somewhere in the agent's text, also inside a longer word.
    Substring,
}

/// A message to be routed, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) message: &'a Message,
    pub(crate) agent: Option<&'a str>,
    /// When a word counts.
    pub(crate) by: Match,
    /// A lead of fewer points over the runner-up asks for clarification; 0 never does.
    pub(crate) min_margin: u32,
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
            min_margin: 0,
            explain: None,
        }
    }
}

/// From so many words on, a set finds repeated ones faster than looking at all earlier ones.
const MANY: usize = 32;

/// The words of a message: all of them in order, and the distinct ones that count.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    normalized: String,
    words: Vec<(usize, usize)>,
    /// Places in `words` of the first of each distinct word of three characters or more.
    terms: Vec<usize>,
}

impl Message {
    pub(crate) fn of(text: &str) -> Message {
        let normalized = normalize(text);
        let mut words = Vec::with_capacity(normalized.len() / 5 + 1);
        words.extend(terms(&normalized).map(|term| (term.start, term.start + term.text.len())));
        let terms = distinct(&normalized, &words);
        Message {
            normalized,
            words,
            terms,
        }
    }

    /// Returns all words in order, normalized, of any length.
    pub(crate) fn words(&self) -> impl ExactSizeIterator<Item = &str> {
        self.words.iter().map(|place| self.word(*place))
    }

    /// Returns the distinct words that count, in the order of the message.
    pub(crate) fn terms(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.terms.len()).map(|number| self.term(number))
    }

    fn term(&self, number: usize) -> &str {
        self.word(self.words[self.terms[number]])
    }

    fn word(&self, (start, end): (usize, usize)) -> &str {
        &self.normalized[start..end]
    }
}

/// Says whether a normalized word is long enough to count.
fn counts(word: &str) -> bool {
    word.len() >= TERM_MIN && word.chars().nth(TERM_MIN - 1).is_some()
}

fn distinct(text: &str, words: &[(usize, usize)]) -> Vec<usize> {
    let word = |at: usize| &text.as_bytes()[words[at].0..words[at].1];
    let long = (0..words.len()).filter(|at| counts(&text[words[*at].0..words[*at].1]));
    let mut kept: Vec<usize> = Vec::with_capacity(words.len().min(MANY));
    if words.len() < MANY {
        for at in long {
            let new = word(at);
            if kept.iter().all(|earlier| word(*earlier) != new) {
                kept.push(at);
            }
        }
        return kept;
    }
    let mut seen = HashSet::with_capacity(words.len());
    kept.extend(long.filter(|at| seen.insert(word(*at))));
    kept
}

#[derive(Clone, Debug)]
pub(crate) struct Query<'a> {
    /// The message as it was given.
    pub(crate) text: Cow<'a, str>,
    pub(crate) message: Message,
    pub(crate) agent: Option<String>,
}

/// A query as a JSON object; other fields may stand beside these.
#[derive(Deserialize)]
struct Fields {
    message: Option<String>,
    input: Option<String>,
    agent: Option<String>,
    #[serde(rename = "agentId", alias = "agent_id")]
    agent_id: Option<String>,
    metadata: Option<Wish>,
    context: Option<Wish>,
}

#[derive(Deserialize)]
struct Wish {
    requested_agent_id: Option<String>,
}

impl<'a> Query<'a> {
    /// Takes a message that says something and is not too long. No agent is asked for by a blank.
    pub(crate) fn new(text: impl Into<Cow<'a, str>>, agent: Option<String>) -> Result<Query<'a>> {
        let text = text.into();
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
            message: Message::of(&text),
            agent: agent.filter(|id| !id.trim().is_empty()),
            text,
        })
    }

    /// Reads a line: a JSON object with `message` (or `input`) and `agent` (or `agentId`, or
    /// `requested_agent_id` in `metadata` or `context`), else the message itself.
    pub(crate) fn line(bytes: &'a [u8]) -> Result<Query<'a>> {
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        if bytes.trim_ascii_start().starts_with(b"{") {
            return Query::object(bytes);
        }
        let text = std::str::from_utf8(bytes);
        Query::new(
            text.map_err(|_| invalid("the message is no text in UTF-8"))?,
            None,
        )
    }

    fn object(bytes: &[u8]) -> Result<Query<'a>> {
        let fields: Fields = serde_json::from_slice(bytes).map_err(|cause| {
            // The parser sees one line, so its number is not the one that is meant.
            let what = cause.to_string();
            let what = what.split(" at line ").next().unwrap_or_default();
            invalid(format!("column {}: {what}", cause.column()))
        })?;
        let text = fields.message.or(fields.input);
        let text = text.ok_or_else(|| invalid("the message is missing"))?;
        let wish = |wish: Option<Wish>| wish.and_then(|wish| wish.requested_agent_id);
        let (metadata, context) = (wish(fields.metadata), wish(fields.context));
        let named = [fields.agent, fields.agent_id, metadata, context];
        let mut named = named.into_iter().flatten();
        Query::new(text, named.find(|id| !id.trim().is_empty()))
    }
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(Code::InputInvalid, message).fix("cleo route 'Help me design a layout'")
}
