//! Runs: one record and one stream of events for a routed message, a query, a plan or an epic. Fields and
//! words of the multi-agent notes, sections 1.6 and 1.9. Pure.

pub(crate) mod attempt;
pub(crate) mod coordination;
pub(crate) mod event;
pub(crate) mod log;
mod planned;
mod projection;
pub(crate) mod report;
pub(crate) mod schedule;
pub(crate) mod spent;
mod step;
pub(crate) mod transcript;
pub(crate) mod view;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Code, Error, Result, is_control_character};
use crate::words::closed;

pub(crate) use event::{Event, Line, PLAN_RESUMED, RUN_FINISHED, RunEvent, TaskEvent};
pub(crate) use planned::{Planned, waves};
pub(crate) use projection::RunProjection;
pub(crate) use spent::Spent;
pub(crate) use step::{Counts, StepState, TaskRun};

/// Free fields beside those that all have.
pub(crate) type Detail = Map<String, Value>;

/// Returns the fields of a JSON object.
pub(crate) fn detail(fields: Value) -> Detail {
    match fields {
        Value::Object(detail) => detail,
        _ => Detail::new(),
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Run {
    /// `exec_<ms>_<random>`.
    pub(crate) id: String,
    pub(crate) kind: RunKind,
    pub(crate) status: RunStatus,
    pub(crate) user: String,
    /// The agent that works on it; none when no agent fits.
    pub(crate) agent: Option<String>,
    pub(crate) requested_agent: Option<String>,
    pub(crate) supervisor: String,
    /// The message.
    pub(crate) input: String,
    pub(crate) output: Option<String>,
    /// How the agent was chosen.
    pub(crate) routed_by: RoutedBy,
    pub(crate) routing_reason: String,
    /// The score of the agent, or the best score when no agent fits.
    pub(crate) routing_score: u32,
    /// The source of the answer.
    pub(crate) answered_by: Option<AnsweredBy>,
    /// The model that answered.
    pub(crate) model: Option<String>,
    /// Tokens that the model used, if it reports them.
    pub(crate) usage: Option<Usage>,
    /// Cost in US dollars, if the model reports it.
    pub(crate) cost: Option<f64>,
    /// How long it took, in milliseconds, rounded up.
    pub(crate) execution_time_ms: Option<u64>,
    pub(crate) error: Option<String>,
    pub(crate) conversation: Option<String>,
    /// When it began, RFC 3339 in UTC.
    pub(crate) started_at: String,
    pub(crate) completed_at: Option<String>,
    /// The process that executes it, by the name of its lock.
    #[serde(skip)]
    pub(crate) owner: String,
}

impl Run {
    /// Makes the record of a new run, without routing or result. The caller sets its user, owner and start.
    pub(crate) fn new(id: String, kind: RunKind, supervisor: &str, input: String) -> Run {
        Run {
            id,
            kind,
            supervisor: supervisor.to_string(),
            input,
            ..Run::default()
        }
    }

    /// Adds the time that a process worked on it, in milliseconds.
    pub(crate) fn add_time(&mut self, took: u64) {
        let before = self.execution_time_ms.unwrap_or(0);
        self.execution_time_ms = Some(before.saturating_add(took));
    }

    pub(crate) fn is_over(&self) -> bool {
        !matches!(self.status, RunStatus::Pending | RunStatus::Running)
    }
}

/// Tokens that a model used; none where its server did not count.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Usage {
    pub(crate) input_tokens: Option<u64>,
    pub(crate) output_tokens: Option<u64>,
    pub(crate) total_tokens: Option<u64>,
}

impl Usage {
    /// Adds the tokens of another one; numbers that neither counted stay unknown.
    pub(crate) fn plus(self, other: Usage) -> Usage {
        let both = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        Usage {
            input_tokens: both(self.input_tokens, other.input_tokens),
            output_tokens: both(self.output_tokens, other.output_tokens),
            total_tokens: both(self.total_tokens, other.total_tokens),
        }
    }
}

/// The event of a step; its detail is a [`Step`].
pub(crate) const STEP: &str = "execution_step";
/// The event of a message that was handed to an agent: from, to, reason, query and timestamp.
pub(crate) const DELEGATION: &str = "agent-delegation";

/// The progress of a run, as an agent reports it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct Step {
    /// `step_<run>_<n>`.
    pub(crate) id: String,
    /// When, RFC 3339 in UTC.
    pub(crate) timestamp: String,
    pub(crate) agent: String,
    pub(crate) action: Action,
    pub(crate) content: String,
    /// Progress of the run in percent.
    pub(crate) progress: u8,
    pub(crate) metadata: Detail,
}

closed! {
    /// The subject of a run.
    #[derive(Default)]
    RunKind, "kind of run":
    /// A message, by one agent.
    #[default]
    Execution = "execution",
    /// A query, by workers.
    Query = "query",
    Plan = "plan",
    Epic = "epic",
    /// Tasks that were named.
    Tasks = "tasks",
}

impl RunKind {
    /// Returns true if a run whose process ended before it did can be resumed.
    pub(crate) fn resumes(self) -> bool {
        matches!(self, RunKind::Plan | RunKind::Epic | RunKind::Tasks)
    }
}

closed! {
    #[derive(Default)]
    RunStatus, "status of a run":
    Pending = "pending",
    #[default]
    Running = "running",
    /// It was answered.
    Completed = "completed",
    /// It was routed, and no model is configured that could answer.
    Unanswered = "unanswered",
    /// It was not answered, or its process ended before it did.
    Failed = "failed",
    Cancelled = "cancelled",
    /// Its process ended before it did, and it can be resumed.
    Interrupted = "interrupted",
}

closed! {
    /// How the agent of a run was chosen.
    #[derive(Default)]
    RoutedBy, "way of routing":
    Rule = "rule",
    /// By the caller.
    #[default]
    Requested = "requested",
}

closed! {
    AnsweredBy, "source of an answer":
    Model = "model",
    Worker = "worker",
    /// Nothing: no model is configured, and the answer says so.
    Offline = "offline",
}

closed! {
    /// The action of an agent in a step.
    Action, "action of a step":
    Analyzing = "analyzing",
    Thinking = "thinking",
    Responding = "responding",
    Delegating = "delegating",
    Completing = "completing",
    Routing = "routing",
}

closed! {
    /// How an attempt ended. An agent's own words decide nothing: `Ok` means that its work verified.
    Outcome, "outcome of an attempt":
    /// Its work is there and verifies.
    Ok = "ok",
    /// The agent says that it did a part.
    Partial = "partial",
    /// The agent says that it cannot continue.
    Blocked = "blocked",
    /// The agent ended in good order, and its work is not there as the protocol asks.
    ProtocolViolation = "protocol_violation",
    /// Its work is there, and a command that has to prove it failed or did not run.
    CheckFailed = "check_failed",
    /// The agent's program failed.
    AgentError = "agent_error",
    /// The agent's model refused for too many requests.
    RateLimited = "rate_limited",
    /// It took too long, or was silent for too long.
    Timeout = "timeout",
    /// It was cancelled.
    Cancelled = "cancelled",
    /// Its turns or its money ran out.
    Budget = "budget",
    /// It was not allowed what it needed.
    Permission = "permission",
}

/// Longest title, in characters.
pub(crate) const TITLE_MAX: usize = 200;
pub(crate) const CHAT: &str = "chat";
/// Longest name of a conversation, in bytes.
pub(crate) const ID_MAX: usize = 100;

pub(crate) fn is_id(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    (1..=ID_MAX).contains(&text.len()) && text.chars().all(is_allowed)
}

/// A conversation, as a row of the specification's table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct Conversation {
    /// `conv_<ms>_<random>`.
    pub(crate) id: String,
    pub(crate) user_id: String,
    /// With whom; the supervisor has each message routed.
    pub(crate) agent_id: String,
    /// Its subject, at most 200 characters.
    pub(crate) title: Option<String>,
    pub(crate) kind: ConversationKind,
    pub(crate) status: ConversationStatus,
    /// When it was begun, RFC 3339 in UTC.
    pub(crate) created_at: String,
    /// When it was last changed, also by a message.
    pub(crate) updated_at: String,
    /// When something was last said; at first when it was begun.
    pub(crate) last_message_at: String,
}

/// Something that was said, in a conversation, in a run, or in both; as a row of the specification's table.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub(crate) struct Message {
    /// `msg_<run>_<n>`.
    pub(crate) id: String,
    /// The conversation that shows it.
    #[serde(skip)]
    pub(crate) conversation: Option<String>,
    #[serde(rename = "type")]
    pub(crate) speaker: Speaker,
    pub(crate) content: String,
    /// Its sender, and what failed.
    pub(crate) metadata: Detail,
    /// The run in which it was said.
    #[serde(rename = "execution_id")]
    pub(crate) run: Option<String>,
    /// When it was said, RFC 3339 in UTC.
    pub(crate) created_at: String,
}

closed! {
    Speaker, "type of message":
    /// A person or program that asks.
    User = "user",
    Agent = "agent",
    /// cleo itself.
    System = "system",
}

closed! {
    /// With whom a conversation is.
    ConversationKind, "kind of a conversation":
    Agent = "agent",
    /// With the agents for designs and components.
    Chat = "chat",
}

closed! {
    /// Whether a conversation continues.
    ConversationStatus, "status of a conversation":
    Active = "active",
    /// It is kept for reading.
    Archived = "archived",
}

pub(crate) fn check_title(title: &str) -> Result<Option<String>> {
    let title = title.trim();
    let length = title.chars().count();
    if length > TITLE_MAX {
        let message = format!("the title has {length} characters; {TITLE_MAX} are allowed");
        return Err(Error::new(Code::TextTooLong, message));
    }
    if title.contains(is_control_character) {
        let message = "the title holds characters that cannot be seen";
        return Err(Error::new(Code::TextControl, message));
    }
    Ok(Some(title.to_string()).filter(|title| !title.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_is_one_visible_line_of_bounded_length() {
        assert_eq!(check_title(" Lore ").unwrap().as_deref(), Some("Lore"));
        assert_eq!(check_title(" ").unwrap(), None);
        assert!(check_title(&"ä".repeat(200)).is_ok());
        let long = check_title(&"x".repeat(201)).unwrap_err();
        assert_eq!(long.code, Code::TextTooLong);
        assert_eq!(check_title("a\u{1b}b").unwrap_err().code, Code::TextControl);
    }
}
