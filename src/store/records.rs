//! Traits for agents and what they ran and said, and for what the chat works on.

use clap::Args;
use serde::Deserialize;

use crate::agent::Agent;
use crate::chat::Chat;
use crate::chat::record::{
    Answer, Answered, Client, Component, Design, Guard, Media, Question, SecurityGroup,
};
use crate::error::Result;
use crate::run::{
    Conversation, ConversationStatus, Detail, Event, Message, Run, RunKind, RunStatus,
};

pub(crate) trait Agents {
    fn agents(&self) -> Result<Vec<Agent>>;

    fn agent(&self, id: &str) -> Result<Option<Agent>>;

    /// Returns true if an agent has the id, also one that the database does not show to this transaction.
    fn is_agent_taken(&self, id: &str) -> Result<bool>;

    fn runtime_agents(&self) -> Result<u64>;

    /// Returns a number that grows with each change of an agent; 0 when there was none.
    fn agents_revision(&self) -> Result<u64>;

    fn put_agent(&mut self, agent: &Agent) -> Result<()>;

    fn remove_agent(&mut self, id: &str) -> Result<bool>;

    /// Notes when an agent last answered.
    fn use_agent(&mut self, agent: &str, at: &str) -> Result<()>;

    fn agent_uses(&self) -> Result<Vec<(String, String)>>;
}

pub(crate) trait Runs {
    fn put_run(&mut self, run: &Run) -> Result<()>;

    fn run(&self, id: &str) -> Result<Option<Run>>;

    /// Reads runs of a user, or of all.
    fn runs(&self, user: Option<&str>, filter: &RunFilter) -> Result<RunPage>;

    fn owners(&self) -> Result<Vec<String>>;

    /// Returns whether a process that carries out runs was there a moment ago. A file of one machine keeps no such notes.
    fn is_present(&self, owner: &str) -> Result<bool>;

    fn list_unfinished(&self, owner: &str) -> Result<Vec<Run>>;

    /// Counts the runs of a user, or of all, by agent, kind and status, in this order.
    fn tallies(&self, user: Option<&str>) -> Result<Vec<Tally>>;

    fn add_event(&mut self, run: &str, at: &str, kind: &str, detail: Detail) -> Result<Event>;

    /// Reads the events after a cursor, of one run or of all, at most `limit`.
    fn events(&self, run: Option<&str>, since: u64, limit: u32) -> Result<Vec<Event>>;

    /// Reads up to `limit` delegation events of a user or of all, newest first, before a cursor.
    fn delegations(
        &self,
        user: Option<&str>,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<Event>>;

    /// Returns the cursor of the last event; 0 when there is none.
    fn last_event(&self) -> Result<u64>;
}

#[derive(Clone, Debug, Default, Args, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct RunFilter {
    /// Only runs of this agent
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,

    /// Only runs with this status: pending, running, completed, failed, cancelled or
    /// interrupted
    #[arg(long, value_name = "STATUS")]
    pub(crate) status: Option<RunStatus>,

    /// Only runs of this kind: execution, query, plan, epic or tasks
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<RunKind>,

    /// Words to look for in id and message, among the last 10,000
    #[arg(skip)]
    #[serde(rename = "q")]
    pub(crate) words: String,

    /// Sort order of the last 10,000 [default: newest first]
    #[arg(skip)]
    #[serde(rename = "sort")]
    pub(crate) order: Order,

    /// Direction [default: largest first]
    #[arg(skip)]
    pub(crate) dir: Option<Dir>,

    /// Maximum number of runs
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: u32,

    /// Number of runs to skip
    #[arg(skip)]
    pub(crate) offset: u32,
}

impl RunFilter {
    /// The newest runs with a status.
    pub(crate) fn by_status(status: RunStatus, limit: u32) -> RunFilter {
        RunFilter {
            status: Some(status),
            limit,
            ..RunFilter::default()
        }
    }
}

/// Which way rows are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Dir {
    /// The smallest first.
    #[default]
    Asc,
    /// The largest first.
    Desc,
}

/// By what runs are sorted; what is equal, newest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Order {
    /// By when they began.
    #[default]
    Started,
    /// By how long they took; those that are not over stand last.
    Duration,
    /// By what they cost; those that do not say stand last.
    Cost,
    /// By status, in the order of its words.
    Status,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RunPage {
    pub(crate) runs: Vec<Run>,
    pub(crate) total: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) agent: Option<String>,
    pub(crate) kind: RunKind,
    pub(crate) status: RunStatus,
    pub(crate) runs: u64,
    pub(crate) timed: u64,
    /// How long these took together, in milliseconds.
    pub(crate) time_ms: u64,
    pub(crate) last_started: String,
    /// Executions that somebody else answered because their agent failed.
    pub(crate) answered_by_fallback: u64,
}

pub(crate) trait Conversations {
    fn put_conversation(&mut self, conversation: &Conversation) -> Result<()>;

    fn conversation(&self, id: &str) -> Result<Option<Conversation>>;

    /// Reads the conversations of a user, or of all, the one in which something was said last first.
    fn conversations(
        &self,
        user: Option<&str>,
        filter: &ConversationFilter,
    ) -> Result<ConversationPage>;

    fn add_message(&mut self, message: &Message) -> Result<()>;

    /// Reads the last `limit` messages of a conversation, or those before a given one, in the order in which they were
    /// said; `None` if the conversation does not have that one.
    fn messages(
        &self,
        conversation: &str,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Option<Vec<Message>>>;

    /// Reads up to `limit` messages after a cursor, oldest first, each with its cursor.
    fn messages_after(&self, cursor: u64, limit: u32) -> Result<Vec<(u64, Message)>>;

    /// Returns the cursor of what was said last, also outside of conversations; 0 when nothing was.
    fn last_said(&self) -> Result<u64>;

    fn message_count(&self, conversation: &str) -> Result<u64>;

    fn run_messages(&self, run: &str) -> Result<Vec<Message>>;
}

#[derive(Clone, Debug, Default, Args, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ConversationFilter {
    /// Only conversations with this agent
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,

    /// Only conversations with this status: active or archived
    #[arg(long, value_name = "STATUS")]
    pub(crate) status: Option<ConversationStatus>,

    /// Words to look for in the title.
    #[arg(skip)]
    #[serde(skip)]
    pub(crate) words: String,

    /// Maximum number of conversations
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: u32,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ConversationPage {
    pub(crate) conversations: Vec<Conversation>,
    pub(crate) total: u64,
}

/// Records of the chat. All queries are for one client, so none sees those of another.
pub(crate) trait Components {
    fn client(&self, client: &str) -> Result<Option<Client>>;

    fn design(&self, client: &str) -> Result<Option<Design>>;

    fn components(&self, client: &str) -> Result<Vec<Component>>;

    fn component(&self, client: &str, id: &str) -> Result<Option<Component>>;

    fn last_removed(&self, client: &str) -> Result<Option<i64>>;

    fn security_groups(&self, client: &str) -> Result<Vec<SecurityGroup>>;

    fn security_groups_of(&self, client: &str, component: &str) -> Result<Vec<String>>;

    fn list_answered(&self, client: &str) -> Result<Vec<Answered>>;

    fn media(&self, client: &str, library: &str) -> Result<Option<Media>>;

    fn put_client(&mut self, client: &Client) -> Result<()>;

    fn put_design(&mut self, design: &Design) -> Result<()>;

    fn put_component(&mut self, component: &Component) -> Result<()>;

    fn remove_component(&mut self, client: &str, id: &str) -> Result<bool>;

    fn put_security_group(&mut self, group: &SecurityGroup) -> Result<()>;

    /// Has a group guard a component; once is as good as twice.
    fn put_guard(&mut self, guard: &Guard) -> Result<()>;

    /// Takes a group from a component; returns whether it was there.
    fn remove_guard(&mut self, guard: &Guard) -> Result<bool>;

    fn put_question(&mut self, question: &Question) -> Result<()>;

    fn put_answer(&mut self, answer: &Answer) -> Result<()>;

    fn put_media(&mut self, media: &Media) -> Result<()>;

    /// Finds a row that names one that is not there, or that does not fit to another, and says why.
    fn find_fault(&self) -> Result<Option<String>>;
}

pub(crate) trait Chats {
    /// Reads what is remembered of a conversation; nothing where that is damaged, which is noted.
    fn chat(&self, conversation: &str) -> Result<Chat>;

    fn put_chat(&mut self, conversation: &str, chat: &Chat) -> Result<()>;
}
