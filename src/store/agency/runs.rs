use crate::error::Result;
use crate::run::{AnsweredBy, Detail, Event, Run, RunKind, RunStatus};

/// What agents carried out, and what happened in it.
pub(crate) trait Runs {
    /// Writes a run, new or changed, whole. A changed one keeps its place.
    fn put_run(&mut self, run: &Run) -> Result<()>;

    /// Reads a run.
    fn run(&self, id: &str) -> Result<Option<Run>>;

    /// Lists runs, those that were written first last.
    fn runs(&self, filter: &RunFilter) -> Result<RunPage>;

    /// Names the owners of runs that are not over.
    fn owners(&self) -> Result<Vec<String>>;

    /// Reads the runs of an owner that are not over, oldest first.
    fn unfinished(&self, owner: &str) -> Result<Vec<Run>>;

    /// Reads the last executions of a user, or of all, newest first, as far as they began since a moment.
    fn executions_since(&self, user: Option<&str>, since: &str, limit: u32)
    -> Result<Vec<Glimpse>>;

    /// Counts the runs of a user, or of all, by agent, kind and status, in this order.
    fn tallies(&self, user: Option<&str>) -> Result<Vec<Tally>>;

    /// Adds an event and returns its cursor.
    fn add_event(&mut self, run: &str, at: &str, kind: &str, detail: &Detail) -> Result<u64>;

    /// Reads the events after a cursor, of one run or of all, at most `limit`.
    fn events(&self, run: Option<&str>, since: u64, limit: u32) -> Result<Vec<Event>>;

    /// Reads the events that tell where messages went, in the runs of a user or of all, newest first;
    /// before a cursor, at most `limit`.
    fn delegations(
        &self,
        user: Option<&str>,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<Event>>;

    /// Returns the cursor of the last event; 0 when there is none.
    fn last_event(&self) -> Result<u64>;

    /// Notes when an agent answered.
    fn use_agent(&mut self, agent: &str, at: &str) -> Result<()>;

    /// Reads when each agent last answered, by id.
    fn agent_uses(&self) -> Result<Vec<(String, String)>>;
}

/// Which runs to list. Empty parts let everything through.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunFilter {
    /// Of this user.
    pub(crate) user: Option<String>,
    /// By this agent.
    pub(crate) agent: Option<String>,
    /// With this status.
    pub(crate) status: Option<RunStatus>,
    /// Of this kind.
    pub(crate) kind: Option<RunKind>,
    /// At most so many.
    pub(crate) limit: u32,
    /// Without the first so many.
    pub(crate) offset: u32,
}

/// Runs, and how many there are without the limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RunPage {
    /// The runs.
    pub(crate) runs: Vec<Run>,
    /// How many fit in all.
    pub(crate) total: u64,
}

/// What is counted of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Glimpse {
    /// The agent that it went to.
    pub(crate) agent: Option<String>,
    /// Where it stands.
    pub(crate) status: RunStatus,
    /// What its answer comes from.
    pub(crate) answered_by: Option<AnsweredBy>,
    /// Whether somebody else answered because its agent failed.
    pub(crate) stood_in: bool,
    /// How long it took, in milliseconds.
    pub(crate) time_ms: Option<u64>,
    /// When it began, RFC 3339 in UTC.
    pub(crate) started_at: String,
}

/// Runs of one sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    /// The agent that worked on them.
    pub(crate) agent: Option<String>,
    /// What they are.
    pub(crate) kind: RunKind,
    /// Where they stand.
    pub(crate) status: RunStatus,
    /// How many there are.
    pub(crate) runs: u64,
    /// How many of them say how long they took.
    pub(crate) timed: u64,
    /// How long these took together, in milliseconds.
    pub(crate) time_ms: u64,
    /// When the last of them began.
    pub(crate) last_started: String,
    /// Executions that somebody else answered because their agent failed.
    pub(crate) stood_in: u64,
    /// Executions that asked back which agent is meant.
    pub(crate) asked_back: u64,
}
