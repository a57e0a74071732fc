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
use crate::run::Planned;
use crate::run::spent::round_dollars;
use crate::runner::agent::{Limits, no_command};

/// The runner that is any command.
const COMMAND: &str = "command";

/// Most agents within agents: cleo that is called by an agent of a run of an agent begins no other.
pub(crate) const DEPTH_MAX: u32 = 3;

/// A request with what the settings add to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Options {
    #[serde(flatten)]
    pub(crate) request: RunRequest,
    /// The command line of the runner `command`.
    pub(crate) command: Option<String>,
    /// Tools that agents may use without asking; empty for those that their runners give by themselves.
    #[serde(default)]
    pub(crate) tools: Vec<String>,
    /// Variables of the user that agents get too, by name.
    pub(crate) passed: Vec<String>,
    /// The cost that an attempt of unknown cost counts as while none is known: the part of a task in the first limit.
    #[serde(default)]
    share: Option<f64>,
    /// The budget that the last resume granted, in US dollars; none for a run that got no more than at first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    granted: Option<f64>,
    /// Time limit of the command of a criterion, in seconds.
    pub(super) gate_time_limit: u64,
    /// Seconds that claims last, which are renewed meanwhile.
    lease: u64,
}

impl Options {
    /// Fills in from the settings what the request leaves open.
    pub(crate) fn new(mut request: RunRequest, settings: &Settings) -> Result<Options> {
        let number = |name: &str, least: u64| settings.number(name).unwrap_or(least);
        request.runner = runner(&request, settings)?;
        request.jobs.get_or_insert(number(RUN_JOBS, 4) as u16);
        request.repair.get_or_insert(number(RUN_REPAIR, 1) as u32);
        let task_time_limit = request.task_time_limit;
        request.task_time_limit = task_time_limit.or(settings.number(RUN_TASK_TIME_LIMIT));
        request.idle_limit = request.idle_limit.or(settings.number(RUN_IDLE_LIMIT));
        Ok(Options {
            command: request.command.take(),
            tools: std::mem::take(&mut request.allow_tool),
            passed: std::mem::take(&mut request.pass_env),
            request,
            share: None,
            granted: None,
            gate_time_limit: number(GATES_TIME_LIMIT, 600),
            lease: number(CLAIMS_LEASE, 3_600),
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
#[derive(Args, Clone, Debug, Default, PartialEq)]
pub(crate) struct ResumeChanges {
    /// Additional cost limit in US dollars [default: the remaining budget]
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = price)]
    pub(crate) max_cost: Option<f64>,

    /// Time limit for the rest: 90, 90s, 10m, 2h [default: that of the whole run]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) time_limit: Option<u64>,

    /// Further environment variable to pass to agents, by name
    #[arg(long, value_name = "NAME")]
    pub(crate) pass_env: Vec<String>,
}

impl ResumeChanges {
    /// Returns the options of a run that resumes after it spent this much.
    pub(super) fn extend_options(self, mut options: Options, spent: f64) -> Options {
        let most = self.max_cost.map(|more| round_dollars(spent + more));
        options.request.max_cost = most.or(options.request.max_cost);
        options.request.time_limit = self.time_limit.or(options.request.time_limit);
        options.passed.extend(self.pass_env);
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
        let runner = self.request.runner.as_ref().or(usual.as_ref());
        if runner.is_none_or(|runner| runner != COMMAND) {
            return Vec::new();
        }
        let turns = self
            .request
            .max_turns
            .map(|_| format!("--max-turns bounds nothing: the runner `{COMMAND}` counts no turns"));
        let cost = self.request.max_cost.map(|_| {
            format!(
                "the runner `{COMMAND}` tells no cost: each attempt counts as an equal share of --max-cost"
            )
        });
        turns.into_iter().chain(cost).collect()
    }

    /// Shares the first limit of money out among the tasks of agents.
    pub(super) fn share_out(&mut self, planned: &[Planned]) {
        let tasks = planned.iter().filter(|task| !task.is_epic).count();
        let share = self.request.max_cost.map(|most| most / tasks.max(1) as f64);
        self.share = self.share.or(share);
    }

    pub(super) fn rules(&self) -> Rules {
        Rules {
            jobs: self.request.jobs.map_or(1, usize::from),
            repairs: self.request.repair.unwrap_or_default(),
            max_cost: self.request.max_cost,
            share: self.share,
            fail_fast: self.request.fail_fast,
        }
    }

    pub(super) fn is_isolated(&self) -> bool {
        self.request.isolate.is_some()
    }

    /// Returns when the run times out, since it began.
    pub(super) fn time_limit(&self) -> Option<Duration> {
        self.request.time_limit.map(Duration::from_secs)
    }

    pub(super) fn budget(&self) -> Option<f64> {
        self.granted.or(self.request.max_cost)
    }

    pub(super) fn limits(&self) -> Limits {
        Limits {
            time: self.request.task_time_limit.map(Duration::from_secs),
            idle: self.request.idle_limit.map(Duration::from_secs),
            turns: self.request.max_turns,
            ..Limits::default()
        }
    }

    pub(super) fn lease(&self) -> Lease {
        Lease::from_seconds(self.lease).unwrap_or_default()
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

#[derive(Debug, Default)]
pub(super) struct Rules {
    /// Maximum number of steps in progress at a time.
    pub(super) jobs: usize,
    /// Maximum number of repairs of a step.
    pub(super) repairs: u32,
    /// The limit of all in US dollars; steps in progress then continue.
    pub(super) max_cost: Option<f64>,
    /// The cost of an attempt while none is known.
    pub(super) share: Option<f64>,
    /// Begin nothing more after a failure.
    pub(super) fail_fast: bool,
}

/// Returns how long to wait after too many requests, for the `number`th time (from 0), or `None` when it is
/// time to stop, also because the server asks for too long a pause. No pause is shorter than
/// asked for. Steps are spread a little, so that they do not all come back at once.
pub(super) fn compute_pause(number: u32, asked: Option<Duration>, step: usize) -> Option<Duration> {
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
        let seconds = |number| compute_pause(number, None, 0).map(|wait| wait.as_secs());
        assert_eq!([0, 1, 2, 7].map(seconds), [2, 4, 8, 256].map(Some));
        assert_eq!(seconds(8), None);
    }

    #[test]
    fn requested_wait_is_the_minimum() {
        let asked = Some(Duration::from_secs(30));
        assert_eq!(compute_pause(0, asked, 3), asked);
        let long = Some(Duration::from_secs(5 * 3_600));
        assert_eq!(compute_pause(0, long, 0), None, "no wait of hours");
        let short = Some(Duration::from_secs(1));
        assert!(compute_pause(0, short, 0) > short);
        assert!(compute_pause(0, None, 1) > compute_pause(0, None, 0));
    }
}
