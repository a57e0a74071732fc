//! The options of a run, stored with it so that it resumes as it began; and the limits of a
//! run.

use std::time::Duration;

use clap::Args;
use serde::{Deserialize, Serialize};

use super::request::{RunRequest, duration, price};
use crate::claim::Lease;
use crate::config::{
    CLAIMS_LEASE, GATES_TIME_LIMIT, RUN_IDLE_LIMIT, RUN_JOBS, RUN_REPAIR, RUN_TASK_TIME_LIMIT,
    RUNNERS_COMMAND, RUNNERS_DEFAULT, Settings,
};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::run::spent::dollars;
use crate::runner::agent::{Limits, no_command};

/// The runner that is any command.
const COMMAND: &str = "command";

/// Most agents within agents: cleo that is called by an agent of a run of an agent begins no other.
pub(crate) const DEPTH_MAX: u32 = 3;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Selection {
    /// These; of an epic, everything below it.
    Tasks(Vec<TaskId>),
    Epic(TaskId),
    /// One wave of an epic, as `orchestrator waves` numbers it.
    Wave(TaskId, usize),
    AllReady,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Options {
    pub(crate) selection: Selection,
    /// The runner that is asked for, perhaps with a model, as in `claude:MODEL`; none for those that
    /// the settings say.
    pub(crate) runner: Option<String>,
    /// The command line of the runner `command`.
    pub(crate) command: Option<String>,
    /// The model, if one is asked for.
    pub(crate) model: Option<String>,
    #[serde(flatten)]
    pub(super) rules: Rules,
    /// The budget that the last resume granted, in US dollars; none for a run that got no more than at first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) granted: Option<f64>,
    /// Most turns of an agent.
    pub(crate) max_turns: Option<u32>,
    #[serde(flatten)]
    pub(super) timeouts: Timeouts,
    pub(crate) isolate: bool,
    /// Tools that agents may use without asking; empty for those that their runners give by themselves.
    #[serde(default)]
    pub(crate) tools: Vec<String>,
    /// Variables of the user that agents get too, by name.
    pub(crate) passed: Vec<String>,
}

/// Times in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Timeouts {
    /// Of the run.
    time_limit: Option<u64>,
    /// Of an attempt.
    task_time_limit: Option<u64>,
    /// Of the silence of an agent.
    idle_limit: Option<u64>,
    /// Of the command of a criterion.
    gate_time_limit: u64,
    /// Of claims, which are renewed meanwhile.
    lease: u64,
}

impl Options {
    /// Fills in from the settings what the request leaves open.
    pub(crate) fn new(request: RunRequest, settings: &Settings) -> Result<Options> {
        let number = |name: &str, least: u64| settings.number(name).unwrap_or(least);
        let runner = runner(&request, settings)?;
        let selection = match (request.epic, request.wave) {
            (Some(epic), None) => Selection::Epic(epic),
            (Some(epic), Some(wave)) => Selection::Wave(epic, wave as usize),
            (None, _) if request.all_ready => Selection::AllReady,
            (None, _) => Selection::Tasks(request.tasks),
        };
        Ok(Options {
            selection,
            runner,
            command: request.command,
            model: request.model,
            rules: Rules {
                jobs: request
                    .jobs
                    .map_or(number(RUN_JOBS, 4) as usize, usize::from),
                repairs: request.repair.unwrap_or(number(RUN_REPAIR, 1) as u32),
                max_cost: request.max_cost,
                share: None,
                fail_fast: request.fail_fast,
            },
            granted: None,
            max_turns: request.max_turns,
            timeouts: Timeouts {
                time_limit: request.time_limit,
                task_time_limit: request
                    .task_time_limit
                    .or(settings.number(RUN_TASK_TIME_LIMIT)),
                idle_limit: request.idle_limit.or(settings.number(RUN_IDLE_LIMIT)),
                gate_time_limit: number(GATES_TIME_LIMIT, 600),
                lease: number(CLAIMS_LEASE, 3_600),
            },
            isolate: request.isolate.is_some(),
            tools: request.allow_tool,
            passed: request.pass_env,
        })
    }
}

fn runner(request: &RunRequest, settings: &Settings) -> Result<Option<String>> {
    let is_set = settings.text(RUNNERS_COMMAND).is_some();
    match (&request.command, request.runner.as_deref()) {
        (Some(_), None | Some(COMMAND)) => Ok(Some(COMMAND.to_string())),
        (Some(_), Some(other)) => {
            let message = format!("`--command` is for the runner `{COMMAND}`, not `{other}`");
            Err(Error::new(Code::Usage, message))
        }
        (None, Some(COMMAND)) if !is_set => Err(no_command()),
        (None, runner) => Ok(runner.map(String::from)),
    }
}

// Limits for the rest of a resumed run; omitted ones stay as they were. A doc comment would become
// the help of the command.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct Rest {
    /// Additional cost limit in US dollars [default: the remaining budget]
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = price)]
    pub(crate) max_cost: Option<f64>,

    /// Time limit for the rest: 90, 90s, 10m, 2h [default: that of the whole run]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) time_limit: Option<u64>,
}

impl Rest {
    /// Returns the options of a run that resumes after it spent this much.
    pub(super) fn extend(self, mut options: Options, spent: f64) -> Options {
        let most = self.max_cost.map(|more| dollars(spent + more));
        options.rules.max_cost = most.or(options.rules.max_cost);
        options.timeouts.time_limit = self.time_limit.or(options.timeouts.time_limit);
        Options {
            granted: self.max_cost.or(options.granted),
            ..options
        }
    }
}

impl Options {
    /// Warns of bounds that the runner `command` cannot count: what it runs reports neither turns nor money.
    pub(crate) fn warnings(&self, settings: &Settings) -> Vec<String> {
        let usual = settings.text(RUNNERS_DEFAULT);
        let runner = self.runner.as_ref().or(usual.as_ref());
        if runner.is_none_or(|runner| runner != COMMAND) {
            return Vec::new();
        }
        let turns = self
            .max_turns
            .map(|_| format!("--max-turns bounds nothing: the runner `{COMMAND}` counts no turns"));
        let cost = self.rules.max_cost.map(|_| {
            format!(
                "the runner `{COMMAND}` tells no cost: each attempt counts as an equal share of --max-cost"
            )
        });
        turns.into_iter().chain(cost).collect()
    }

    pub(super) fn gate_time_limit(&self) -> Duration {
        Duration::from_secs(self.timeouts.gate_time_limit)
    }

    /// Returns when the run times out, since it began.
    pub(super) fn time_limit(&self) -> Option<Duration> {
        self.timeouts.time_limit.map(Duration::from_secs)
    }

    pub(super) fn budget(&self) -> Option<f64> {
        self.granted.or(self.rules.max_cost)
    }

    pub(super) fn limits(&self) -> Limits {
        Limits {
            time: self.timeouts.task_time_limit.map(Duration::from_secs),
            idle: self.timeouts.idle_limit.map(Duration::from_secs),
            turns: self.max_turns,
            cost: None,
            budget: None,
        }
    }

    pub(super) fn lease(&self) -> Lease {
        Lease::from_seconds(self.timeouts.lease).unwrap_or_default()
    }
}

/// First pause after too many requests; each one after it is twice as long.
const PAUSE: Duration = Duration::from_secs(2);
const PAUSE_MAX: Duration = Duration::from_secs(300);
/// Longest pause that a server may ask for. A step that has to wait longer fails, to be retried when the run
/// is resumed.
const ASKED_MAX: Duration = Duration::from_secs(3_600);
/// How often a step is tried again after too many requests.
const PAUSES: u32 = 8;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Rules {
    /// Maximum number of steps in progress at a time.
    pub(super) jobs: usize,
    /// Maximum number of repairs of a step.
    pub(super) repairs: u32,
    /// The limit of all in US dollars; steps in progress then continue.
    pub(super) max_cost: Option<f64>,
    /// The cost that an attempt of unknown cost counts as while none is known: the part of a task in the first limit.
    #[serde(default)]
    pub(super) share: Option<f64>,
    /// Begin nothing more after a failure.
    pub(super) fail_fast: bool,
}

impl Rules {
    /// Shares the first limit of money out among so many tasks.
    pub(super) fn share_out(&mut self, tasks: usize) {
        let share = self.max_cost.map(|most| most / tasks.max(1) as f64);
        self.share = self.share.or(share);
    }
}

/// Returns how long to wait after too many requests, for the `number`th time (from 0), or `None` when it is
/// time to stop, also because the server asks for too long a pause. No pause is shorter than
/// asked for. Steps are spread a little, so that they do not all come back at once.
pub(super) fn pause(number: u32, asked: Option<Duration>, step: usize) -> Option<Duration> {
    if number >= PAUSES || asked.is_some_and(|asked| asked > ASKED_MAX) {
        return None;
    }
    let own = PAUSE * 2u32.saturating_pow(number);
    let spread = u32::try_from(step % 8).unwrap_or(0);
    let wait = own + own * spread / 16;
    Some(wait.min(PAUSE_MAX).max(asked.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_bound_and_end() {
        let seconds = |number| pause(number, None, 0).map(|wait| wait.as_secs());
        assert_eq!([0, 1, 2, 7].map(seconds), [2, 4, 8, 256].map(Some));
        assert_eq!(seconds(8), None);
    }

    #[test]
    fn requested_wait_is_the_minimum() {
        let asked = Some(Duration::from_secs(30));
        assert_eq!(pause(0, asked, 3), asked);
        let long = Some(Duration::from_secs(5 * 3_600));
        assert_eq!(pause(0, long, 0), None, "no wait of hours");
        let short = Some(Duration::from_secs(1));
        assert!(pause(0, short, 0) > short);
        assert!(pause(0, None, 1) > pause(0, None, 0));
    }
}
