//! Traits for agents and what they ran and said, and for what the chat works on.
use crate::run::{AnsweredBy, Conversation, ConversationStatus, Run, RunKind, RunStatus};
use clap::Args;
use serde::Deserialize;

// Which runs. A doc comment would become the help of the command.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, Args, Deserialize)]
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

/// Which way rows are sorted.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Dir {
    /// The smallest first.
    #[default]
    Asc,
    /// The largest first.
    Desc,
}

/// By what runs are sorted; what is equal, newest first.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
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
pub(crate) struct ExecutionStat {
    pub(crate) agent: Option<String>,
    /// Where it stands.
    pub(crate) status: RunStatus,
    pub(crate) answered_by: Option<AnsweredBy>,
    /// Whether somebody else answered because its agent failed.
    pub(crate) answered_by_fallback: bool,
    /// How long it took, in milliseconds.
    pub(crate) time_ms: Option<u64>,
    /// When it began, RFC 3339 in UTC.
    pub(crate) started_at: String,
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

// Which conversations. A doc comment would become the help of the command.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, Args, Deserialize)]
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
