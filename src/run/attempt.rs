//! An attempt of an agent at a task of a run, read from its events. Pure.

use serde::Serialize;

use super::told::{Told, kind};
use super::track::TaskState;
use super::{Outcome, Usage};

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Attempt {
    pub(crate) attempt: u32,
    /// `waiting` while it waits before it is tried again.
    pub(crate) state: TaskState,
    pub(crate) runner: Option<String>,
    pub(crate) skill: Option<String>,
    /// Whether it went on with an earlier conversation.
    pub(crate) resumes: bool,
    /// When it began, RFC 3339 in UTC like all times.
    pub(crate) started_at: String,
    pub(crate) agent_ended_at: Option<String>,
    pub(crate) ended_at: Option<String>,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) exit_code: Option<i32>,
    pub(crate) duration_ms: Option<u64>,
    pub(crate) turns: Option<u32>,
    pub(crate) said: Option<String>,
    pub(crate) missing: Vec<String>,
    pub(crate) reason: Option<String>,
    /// The last lines of its standard error.
    pub(crate) complaints: Vec<String>,
    /// Tokens that it used, when it says so.
    pub(crate) usage: Option<Usage>,
    /// What it cost in US dollars, when it says so.
    pub(crate) cost: Option<f64>,
}

impl Attempt {
    /// Makes an attempt that begins, after so many others.
    pub(super) fn new(told: &Told, at: &str, before: usize) -> Attempt {
        let number = u32::try_from(before + 1).unwrap_or(u32::MAX);
        Attempt {
            attempt: told.attempt.unwrap_or(number),
            state: TaskState::Running,
            runner: told.runner.clone(),
            skill: told.skill.clone(),
            resumes: told.resumes == Some(true),
            started_at: at.to_string(),
            ..Attempt::default()
        }
    }

    pub(super) fn apply(&mut self, kind: &str, at: &str, told: &Told) {
        match kind {
            kind::AGENT_ENDED => self.end_agent(at, told),
            kind::TASK_LACKING => {
                self.missing.clone_from(&told.missing);
                self.outcome = told.outcome;
                self.end(TaskState::Failed, at);
            }
            kind::TASK_WAITING if self.ended_at.is_some() => self.state = TaskState::Waiting,
            kind::TASK_COMPLETED => {
                self.outcome = Some(Outcome::Ok);
                self.missing.clear();
                self.end(TaskState::Done, at);
            }
            kind::TASK_FAILED => {
                self.reason.clone_from(&told.reason);
                self.outcome = told.outcome.or(self.outcome);
                self.end(TaskState::Failed, at);
            }
            _ => {}
        }
    }

    fn end_agent(&mut self, at: &str, told: &Told) {
        self.state = TaskState::Verifying;
        self.resumes &= told.resumes != Some(false);
        self.agent_ended_at = Some(at.to_string());
        (self.outcome, self.exit_code) = (told.outcome, told.exit_code);
        (self.duration_ms, self.turns) = (told.duration_ms, told.turns);
        (self.usage, self.cost) = (told.usage, told.cost);
        self.said.clone_from(&told.message);
        self.reason.clone_from(&told.reason);
        self.complaints.clone_from(&told.complaints);
    }

    fn end(&mut self, state: TaskState, at: &str) {
        let is_cancelled = self.outcome == Some(Outcome::Cancelled);
        self.state = match state {
            TaskState::Failed if is_cancelled => TaskState::Cancelled,
            state => state,
        };
        self.ended_at.get_or_insert_with(|| at.to_string());
    }

    /// Ends what was under way when the process of the run ended.
    pub(super) fn break_off(&mut self, at: &str) {
        if self.state.is_open() {
            self.outcome.get_or_insert(Outcome::Cancelled);
            self.end(TaskState::Failed, at);
        }
    }
}
