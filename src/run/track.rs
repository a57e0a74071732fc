//! A run as people watch it: the attempts of each task, its waits, and the number of agents over time. Read
//! from events, also incrementally. Pure.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde::Serialize;
use serde_json::Value;

use super::board::{Board, TaskRun, TaskState};
use super::told::{Told, kind};
use super::{Event, Outcome, RUN_FINISHED, Usage};
use crate::id::TaskId;
use crate::words::closed;

/// Most changes of the number of agents that are kept; the earliest go.
const LOAD_MAX: usize = 5_000;
/// Most tries of a task that are kept; the last one counts always.
const ATTEMPTS_MAX: usize = 200;

closed! {
    #[derive(Default)]
    Stage, "stage of a try":
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
    /// What it came to; none while it goes on.
    pub(crate) passed: Option<bool>,
}

/// How many agents worked from a moment on.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Load {
    pub(crate) at: String,
    pub(crate) n: u32,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Track {
    pub(crate) board: Board,
    /// Cursor of the last event that was read.
    pub(crate) cursor: u64,
    /// How the run is carried out, as it was told last.
    pub(crate) options: Option<Value>,
    pub(crate) started_at: Option<String>,
    pub(crate) load: Vec<Load>,
    attempts: HashMap<TaskId, Vec<Attempt>>,
    working: u32,
}

impl Track {
    /// Takes more events; those that were taken before are passed over.
    pub(crate) fn take(&mut self, events: &[Event]) {
        for event in events {
            if event.cursor > self.cursor {
                self.cursor = event.cursor;
                self.happened(event);
            }
        }
    }

    pub(crate) fn attempts(&self, task: TaskId) -> &[Attempt] {
        self.attempts.get(&task).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn stage(&self, task: &TaskRun) -> Option<Stage> {
        let last = self.attempts(task.task_id).last();
        last.map(|last| last.state)
            .filter(|_| task.state == TaskState::Running)
    }

    pub(crate) fn tally(&self) -> (usize, usize, usize) {
        let all = || self.attempts.values().flatten();
        let failed = all().filter(|one| one.has_failed()).count();
        let told = all().filter(|one| one.usage.is_some() || one.cost.is_some());
        (all().count(), failed, told.count())
    }

    fn happened(&mut self, event: &Event) {
        let told = Told::read(&event.detail);
        let (kind, at) = (event.kind.as_str(), event.at.as_str());
        self.board.take(kind, at, &told);
        match kind {
            kind::RUN_STARTED => {
                self.options.clone_from(&told.options);
                self.started_at = Some(at.to_string());
            }
            kind::RUN_RESUMED => {
                self.broke_off(at);
                self.options = told.options.clone().or(self.options.take());
            }
            RUN_FINISHED => self.broke_off(at),
            kind::AGENT_STARTED => self.works(at, 1),
            kind::AGENT_ENDED => self.works(at, -1),
            _ => {}
        }
        if let Some(task) = told.task_id {
            let attempts = self.attempts.entry(task).or_default();
            if kind == kind::TASK_STARTED {
                attempts.push(begun(&told, at, attempts.len()));
                if attempts.len() > ATTEMPTS_MAX {
                    attempts.remove(0);
                }
            } else if let Some(last) = attempts.last_mut() {
                last.happened(kind, at, &told);
            }
        }
    }

    fn works(&mut self, at: &str, more: i32) {
        self.working = self.working.saturating_add_signed(more);
        self.load.push(Load {
            at: at.to_string(),
            n: self.working,
        });
        if self.load.len() > LOAD_MAX {
            self.load.drain(..LOAD_MAX / 2);
        }
    }

    fn broke_off(&mut self, at: &str) {
        if self.working > 0 {
            self.working = 0;
            self.works(at, 0);
        }
        for attempt in self.attempts.values_mut().filter_map(|all| all.last_mut()) {
            if matches!(
                attempt.state,
                Stage::Running | Stage::Verifying | Stage::Waiting
            ) {
                attempt.end(Stage::Failed, at);
                attempt.outcome.get_or_insert(Outcome::Cancelled);
            }
        }
    }
}

fn begun(told: &Told, at: &str, before: usize) -> Attempt {
    Attempt {
        attempt: told
            .attempt
            .unwrap_or(u32::try_from(before + 1).unwrap_or(u32::MAX)),
        runner: told.runner.clone(),
        skill: told.skill.clone(),
        resumes: told.resumes == Some(true),
        started_at: at.to_string(),
        ..Attempt::default()
    }
}

impl Attempt {
    pub(crate) fn has_failed(&self) -> bool {
        self.state == Stage::Failed && !self.was_cancelled()
    }

    pub(crate) fn was_cancelled(&self) -> bool {
        self.state == Stage::Failed && self.outcome == Some(Outcome::Cancelled)
    }

    fn happened(&mut self, kind: &str, at: &str, told: &Told) {
        match kind {
            kind::AGENT_ENDED => self.agent_ended(at, told),
            kind::TASK_LACKING => {
                self.missing.clone_from(&told.missing);
                self.outcome = told.outcome;
                self.verified(at, false);
                self.end(Stage::Failed, at);
            }
            kind::TASK_WAITING if self.ended_at.is_some() => self.state = Stage::Waiting,
            kind::TASK_COMPLETED => {
                self.outcome = Some(Outcome::Ok);
                self.missing.clear();
                self.verified(at, true);
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

    fn agent_ended(&mut self, at: &str, told: &Told) {
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

    fn verified(&mut self, at: &str, passed: bool) {
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
}
