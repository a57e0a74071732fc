//! From a message to an agent: words of the message against the words and tags of each agent, by
//! the rule of the multi-agent notes, sections 1.2 and 1.4. Pure; start at [`Index::route`].

mod decision;
mod index;
mod message;
mod posting;
mod query;
pub mod roster;
mod tally;
mod verdict;

#[cfg(test)]
mod tests;

pub use decision::{Candidate, Decided, Decision, Delegation, RunnerUp};
pub use index::Index;
pub use message::Message;
pub use query::Query;

use crate::agent::{Agent, AgentStatus, Role};

/// What is answered instead of an agent when none fits.
pub const FINALIZE: &str = "finalize";

/// What is answered instead of an agent when it is asked which one is meant.
pub const CLARIFY: &str = "clarify";

/// Points for a tag that the message names. A word counts one.
pub const TAG_BOOST: u32 = 2;

/// Shortest word that counts, in characters.
pub const TERM_MIN: usize = 3;

/// What the router looks at in an agent.
#[derive(Clone, Copy, Debug)]
pub struct Profile<'a> {
    /// Its id.
    pub id: &'a str,
    /// What it works towards.
    pub objective: &'a str,
    /// Its name for people.
    pub name: &'a str,
    /// What it is good at.
    pub description: &'a str,
    /// Words by which messages reach it.
    pub tags: &'a [String],
    /// What it does among the others; a supervisor is never routed to.
    pub role: Role,
    /// Whether messages reach it.
    pub status: AgentStatus,
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
pub enum Match {
    /// It is one of the agent's words.
    #[default]
    Token,
    /// It stands somewhere in the agent's text, also inside a longer word.
    Substring,
}

/// A message to be routed, and how.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The message.
    pub message: &'a Message,
    /// The agent that is asked for, if any.
    pub agent: Option<&'a str>,
    /// When a word counts.
    pub by: Match,
    /// A lead of fewer points over the runner-up asks for clarification; 0 never does.
    pub min_margin: u32,
    /// How many candidates the decision explains; none leaves them out.
    pub explain: Option<usize>,
}

impl<'a> Request<'a> {
    /// Asks for the best agent, by the words of the agents and without an explanation.
    pub fn new(message: &'a Message) -> Request<'a> {
        Request {
            message,
            agent: None,
            by: Match::Token,
            min_margin: 0,
            explain: None,
        }
    }
}
