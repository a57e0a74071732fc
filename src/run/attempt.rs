//! An attempt of an agent at a task of a run, read from its events. Pure.

use serde::Serialize;

use super::told::{Told, kind};
use super::{Outcome, Usage};
use crate::words::closed;

closed! {
    #[derive(Default)]
    Stage, "stage of an attempt":
    #[default]
    Running = "running",
    /// It has ended, and cleo looks at what it left.
    Verifying = "verifying",
    /// It waits before it is tried again.
    Waiting = "waiting",
    /// What it left verified.
    Done = "done",
    /// It did not, or the agent failed.
    Failed = "failed",
}

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Attempt {
    pub(crate) attempt: u32,
    pub(crate) state: Stage,
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
    /// What cleo found; none before it looked.
    pub(crate) verification: Option<Verification>,
}

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Verification {
    pub(crate) started_at: String,
    pub(crate) ended_at: Option<String>,
    /// What it came to; none while cleo looks.
    pub(crate) passed: Option<bool>,
}

impl Attempt {
    /// Makes an attempt that begins, after so many others.
    pub(super) fn new(told: &Told, at: &str, before: usize) -> Attempt {
        let number = u32::try_from(before + 1).unwrap_or(u32::MAX);
        Attempt {
            attempt: told.attempt.unwrap_or(number),
            runner: told.runner.clone(),
            skill: told.skill.clone(),
            resumes: told.resumes == Some(true),
            started_at: at.to_string(),
            ..Attempt::default()
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.state == Stage::Failed && !self.was_cancelled()
    }

    pub(crate) fn was_cancelled(&self) -> bool {
        self.state == Stage::Failed && self.outcome == Some(Outcome::Cancelled)
    }

    pub(super) fn apply(&mut self, kind: &str, at: &str, told: &Told) {
        match kind {
            kind::AGENT_ENDED => self.end_agent(at, told),
            kind::TASK_LACKING => {
                self.missing.clone_from(&told.missing);
                self.outcome = told.outcome;
                self.note_verdict(at, false);
                self.end(Stage::Failed, at);
            }
            kind::TASK_WAITING if self.ended_at.is_some() => self.state = Stage::Waiting,
            kind::TASK_COMPLETED => {
                self.outcome = Some(Outcome::Ok);
                self.missing.clear();
                self.note_verdict(at, true);
                self.end(Stage::Done, at);
            }
            kind::TASK_FAILED => {
                self.reason.clone_from(&told.reason);
                self.outcome = told.outcome.or(self.outcome);
                self.end(Stage::Failed, at);
            }
            _ => {}
        }
    }

    fn end_agent(&mut self, at: &str, told: &Told) {
        self.state = Stage::Verifying;
        self.resumes &= told.resumes != Some(false);
        self.agent_ended_at = Some(at.to_string());
        (self.outcome, self.exit_code) = (told.outcome, told.exit_code);
        (self.duration_ms, self.turns) = (told.duration_ms, told.turns);
        (self.usage, self.cost) = (told.usage, told.cost);
        self.said.clone_from(&told.message);
        self.reason.clone_from(&told.reason);
        self.complaints.clone_from(&told.complaints);
        self.verification = Some(Verification {
            started_at: at.to_string(),
            ended_at: None,
            passed: None,
        });
    }

    fn note_verdict(&mut self, at: &str, passed: bool) {
        let begun = self.agent_ended_at.as_deref().unwrap_or(at).to_string();
        self.verification = Some(Verification {
            started_at: begun,
            ended_at: Some(at.to_string()),
            passed: Some(passed),
        });
    }

    fn end(&mut self, state: Stage, at: &str) {
        self.state = state;
        self.ended_at.get_or_insert_with(|| at.to_string());
        // An agent that was ended was not looked at.
        self.verification.take_if(|one| one.passed.is_none());
    }

    /// Ends what was under way when the process of the run ended.
    pub(super) fn break_off(&mut self, at: &str) {
        let is_open = matches!(
            self.state,
            Stage::Running | Stage::Verifying | Stage::Waiting
        );
        if is_open {
            self.end(Stage::Failed, at);
            self.outcome.get_or_insert(Outcome::Cancelled);
        }
    }
}
