//! Runs: what agents carry out. One record and one stream of events for all of them, a routed
//! message, a query, a plan or an epic. Fields and words of the multi-agent notes, sections 1.6
//! and 1.9. Pure.

pub mod arrivals;
pub mod board;
pub mod conversation;
pub mod elapsed;
pub mod escapes;
pub mod event;
pub mod outcome;
pub mod report;
pub mod schedule;
pub mod spent;
pub mod told;
pub mod track;
pub mod transcript;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::words::closed;

pub use conversation::{Conversation, ConversationStatus, Message, Speaker};
pub use event::{Event, Line, PLAN_RESUMED, RUN_FINISHED};
pub use outcome::Outcome;
pub use spent::Spent;

/// Free fields beside those that all have.
pub type Detail = Map<String, Value>;

/// One thing that agents carry out.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// `exec_<ms>_<random>`.
    pub id: String,
    /// What is carried out.
    pub kind: RunKind,
    /// Where it stands.
    pub status: RunStatus,
    /// Whose it is.
    pub user: String,
    /// The agent that works on it; none when no agent fits.
    pub agent: Option<String>,
    /// The agent that was asked for.
    pub requested_agent: Option<String>,
    /// Who coordinates it.
    pub supervisor: String,
    /// The message.
    pub input: String,
    /// The answer.
    pub output: Option<String>,
    /// Who chose the agent.
    pub routed_by: RoutedBy,
    /// Why this agent.
    pub routing_reason: String,
    /// The score of the agent, or the best score when no agent fits.
    pub routing_score: u32,
    /// What the answer comes from.
    pub answered_by: Option<AnsweredBy>,
    /// The model that answered.
    pub model: Option<String>,
    /// Tokens that the model says it used; none when it says nothing.
    pub usage: Option<Usage>,
    /// What the model says it cost, in US dollars; none when it says nothing.
    pub cost: Option<f64>,
    /// How long it took, in milliseconds, rounded up.
    pub execution_time_ms: Option<u64>,
    /// What failed.
    pub error: Option<String>,
    /// The conversation that it belongs to.
    pub conversation: Option<String>,
    /// When it began, RFC 3339 in UTC.
    pub started_at: String,
    /// When it ended.
    pub completed_at: Option<String>,
    /// The process that carries it out, by the name of its sign of life.
    #[serde(skip)]
    pub owner: String,
}

impl Run {
    /// Makes the record of a run that begins: nobody routed it, and nothing has come of it yet. Its
    /// user, its owner and when it began are for whoever begins it.
    pub fn new(id: String, kind: RunKind, supervisor: &str, input: String) -> Run {
        Run {
            id,
            kind,
            status: RunStatus::Running,
            user: String::new(),
            agent: None,
            requested_agent: None,
            supervisor: supervisor.to_string(),
            input,
            output: None,
            routed_by: RoutedBy::Requested,
            routing_reason: String::new(),
            routing_score: 0,
            answered_by: None,
            model: None,
            usage: None,
            cost: None,
            execution_time_ms: None,
            error: None,
            conversation: None,
            started_at: String::new(),
            completed_at: None,
            owner: String::new(),
        }
    }

    /// Adds what a process took that carried it out to what those before took, in milliseconds.
    pub fn add_time(&mut self, took: u64) {
        let before = self.execution_time_ms.unwrap_or(0);
        self.execution_time_ms = Some(before.saturating_add(took));
    }

    /// Says whether it is over.
    pub fn is_over(&self) -> bool {
        !matches!(self.status, RunStatus::Pending | RunStatus::Running)
    }
}

/// Tokens that a model used; none where its server did not count.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Read.
    pub input_tokens: Option<u64>,
    /// Written.
    pub output_tokens: Option<u64>,
    /// Both.
    pub total_tokens: Option<u64>,
}

impl Usage {
    /// Adds what another one used; what nobody counted stays unknown.
    pub fn plus(self, other: Usage) -> Usage {
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
pub const STEP: &str = "execution_step";
/// The event of a message that was handed to an agent: from, to, reason, query and timestamp.
pub const DELEGATION: &str = "agent-delegation";

/// How far a run has come, as an agent tells it.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// `step_<run>_<n>`.
    pub id: String,
    /// When, RFC 3339 in UTC.
    pub timestamp: String,
    /// Whose step it is.
    pub agent: String,
    /// What it does.
    pub action: Action,
    /// What it does, in words.
    pub content: String,
    /// How much of the run is done, in percent.
    pub progress: u8,
    /// What belongs to it.
    pub metadata: Detail,
}

closed! {
    /// What a run carries out.
    RunKind, "kind of run":
    /// A message, by one agent.
    Execution = "execution",
    /// A query, by workers.
    Query = "query",
    /// A plan.
    Plan = "plan",
    /// An epic.
    Epic = "epic",
    /// Tasks that were named.
    Tasks = "tasks",
}

impl RunKind {
    /// Says whether a run whose process ended before it did can be gone on with.
    pub fn resumes(self) -> bool {
        matches!(self, RunKind::Plan | RunKind::Epic | RunKind::Tasks)
    }
}

closed! {
    /// Where a run stands.
    RunStatus, "status of a run":
    /// It has not begun.
    Pending = "pending",
    /// Under way.
    Running = "running",
    /// Somebody or something answered.
    Completed = "completed",
    /// Nobody answered, or its process ended before it did.
    Failed = "failed",
    /// It was given up.
    Cancelled = "cancelled",
    /// Its process ended before it did, and it can be gone on with.
    Interrupted = "interrupted",
}

closed! {
    /// Who chose the agent of a run.
    RoutedBy, "way of routing":
    /// The rule of the router.
    Rule = "rule",
    /// Whoever asked for it.
    Requested = "requested",
}

closed! {
    /// What an answer comes from.
    AnsweredBy, "source of an answer":
    /// A model.
    Model = "model",
    /// A worker.
    Worker = "worker",
    /// Nothing: no model is configured, and the answer says so.
    Offline = "offline",
}

closed! {
    /// What an agent does in a step.
    Action, "action of a step":
    /// It looks at the message.
    Analyzing = "analyzing",
    /// It thinks.
    Thinking = "thinking",
    /// It answers.
    Responding = "responding",
    /// It hands the message on.
    Delegating = "delegating",
    /// It is done.
    Completing = "completing",
    /// It looks for an agent.
    Routing = "routing",
}
