//! An attempt of an agent at a task of a run, read from its events. Pure.

use serde::Serialize;

use super::event::{AgentEnd, AttemptStart, TaskEvent};
use super::{Outcome, StepState, Usage};

#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Attempt {
    pub(crate) attempt: u32,
    /// `waiting` until the next attempt starts.
    pub(crate) state: StepState,
    pub(crate) runner: Option<String>,
    pub(crate) skill: Option<String>,
    /// Whether it resumed an earlier conversation.
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
    pub(crate) violations: Vec<String>,
    pub(crate) reason: Option<String>,
    /// The last lines of its standard error.
    pub(crate) stderr_tail: Vec<String>,
    /// Tokens that it used, if its program reports them.
    pub(crate) usage: Option<Usage>,
    /// Cost in US dollars, if its program reports it.
    pub(crate) cost: Option<f64>,
}

impl Attempt {
    pub(super) fn new(number: u32, start: &AttemptStart, at: &str) -> Attempt {
        Attempt {
            attempt: number,
            state: StepState::Running,
            runner: start.setup.runner.clone(),
            skill: start.setup.skill.clone(),
            resumes: start.resumes,
            started_at: at.to_string(),
            ..Attempt::default()
        }
    }

    pub(super) fn apply(&mut self, at: &str, event: &TaskEvent) {
        match event {
            TaskEvent::AgentEnded(end) => self.end_agent(at, end),
            TaskEvent::VerificationFailed {
                outcome,
                violations,
                ..
            } => {
                self.violations.clone_from(violations);
                self.outcome = *outcome;
                self.end(StepState::Failed, at);
            }
            TaskEvent::Waiting { .. } if self.ended_at.is_some() => self.state = StepState::Waiting,
            TaskEvent::Completed { .. } => {
                self.outcome = Some(Outcome::Ok);
                self.violations.clear();
                self.end(StepState::Done, at);
            }
            TaskEvent::Failed { outcome, reason } => {
                self.reason.clone_from(reason);
                self.outcome = outcome.or(self.outcome);
                self.end(StepState::Failed, at);
            }
            _ => {}
        }
    }

    fn end_agent(&mut self, at: &str, end: &AgentEnd) {
        self.state = StepState::Verifying;
        self.resumes &= end.resumes != Some(false);
        self.agent_ended_at = Some(at.to_string());
        (self.outcome, self.exit_code) = (end.outcome, end.exit_code);
        (self.duration_ms, self.turns) = (end.duration_ms, end.turns);
        (self.usage, self.cost) = (end.usage, end.cost);
        self.said.clone_from(&end.message);
        self.reason.clone_from(&end.reason);
        self.stderr_tail.clone_from(&end.stderr_tail);
    }

    fn end(&mut self, state: StepState, at: &str) {
        let is_cancelled = self.outcome == Some(Outcome::Cancelled);
        self.state = match state {
            StepState::Failed if is_cancelled => StepState::Cancelled,
            state => state,
        };
        self.ended_at.get_or_insert_with(|| at.to_string());
    }

    /// Ends an attempt that was in progress when the process of the run ended.
    pub(super) fn break_off(&mut self, at: &str) {
        if self.state.is_open() {
            self.outcome.get_or_insert(Outcome::Cancelled);
            self.end(StepState::Failed, at);
        }
    }
}
