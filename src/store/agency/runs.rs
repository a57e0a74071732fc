use crate::error::Result;
use crate::run::{AnsweredBy, Detail, Event, Run, RunKind, RunStatus};

pub(crate) trait Runs {
    fn put_run(&mut self, run: &Run) -> Result<()>;

    fn run(&self, id: &str) -> Result<Option<Run>>;

    /// Lists runs, those that were written first last.
    fn runs(&self, filter: &RunFilter) -> Result<RunPage>;

    fn owners(&self) -> Result<Vec<String>>;

    fn unfinished(&self, owner: &str) -> Result<Vec<Run>>;

    /// Reads the last executions of a user, or of all, newest first, as far as they began since a moment.
    fn executions_since(&self, user: Option<&str>, since: &str, limit: u32)
    -> Result<Vec<Glimpse>>;

    /// Counts runs by user, agent, kind and status, in this order.
    fn tallies(&self) -> Result<Vec<Tally>>;

    /// Counts executions that somebody else answered because their agent failed, by user and agent, in
    /// this order.
    fn stood_in(&self) -> Result<Vec<StoodIn>>;

    /// Counts executions that asked back which agent is meant, by user, in this order.
    fn asked_back(&self) -> Result<Vec<(String, u64)>>;

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

    fn use_agent(&mut self, agent: &str, at: &str) -> Result<()>;

    fn agent_uses(&self) -> Result<Vec<(String, String)>>;
}

#[derive(Clone, Debug, Default)]
pub(crate) struct RunFilter {
    pub(crate) user: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) status: Option<RunStatus>,
    pub(crate) kind: Option<RunKind>,
    pub(crate) limit: u32,
    pub(crate) offset: u32,
}

impl RunFilter {
    /// Says whether runs of a tally are among those that are looked for.
    pub(crate) fn takes(&self, tally: &Tally) -> bool {
        (self.user.as_ref()).is_none_or(|user| *user == tally.user)
            && (self.agent.as_ref()).is_none_or(|agent| tally.agent.as_ref() == Some(agent))
            && self.status.is_none_or(|status| status == tally.status)
            && self.kind.is_none_or(|kind| kind == tally.kind)
    }
}

/// Runs, and how many there are without the limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RunPage {
    pub(crate) runs: Vec<Run>,
    pub(crate) total: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Glimpse {
    pub(crate) agent: Option<String>,
    /// Where it stands.
    pub(crate) status: RunStatus,
    pub(crate) answered_by: Option<AnsweredBy>,
    /// Whether somebody else answered because its agent failed.
    pub(crate) stood_in: bool,
    /// How long it took, in milliseconds.
    pub(crate) time_ms: Option<u64>,
    /// When it began, RFC 3339 in UTC.
    pub(crate) started_at: String,
}

/// Executions that somebody else answered because their agent failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoodIn {
    pub(crate) user: String,
    pub(crate) agent: String,
    pub(crate) runs: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) user: String,
    pub(crate) agent: Option<String>,
    pub(crate) kind: RunKind,
    pub(crate) status: RunStatus,
    pub(crate) runs: u64,
    pub(crate) timed: u64,
    /// How long these took together, in milliseconds.
    pub(crate) time_ms: u64,
    pub(crate) last_started: String,
}
