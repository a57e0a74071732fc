//! Runs one attempt: starts the program with a minimal environment and the prompt, reads its output, and stops it at
//! its limits. One thread serves it and sleeps while nothing happens, so that many run in one process.

use std::collections::VecDeque;
use std::env;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::log::Log;
use super::{Invocation, Job, OutputState, Runner};
use crate::error::{Code, Error, Result, quote};
use crate::run::event::AgentEnd;
use crate::run::log::{LINE_MAX, Stream};
use crate::run::{Outcome, TaskEvent};
use crate::runner::lines::{Lines, push_last};
use crate::runner::signals::{self, Guard};
use crate::runner::supervise::{Observer, Program};
use crate::runner::{child, orphans};

/// How often to check for a stop request.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Most events that are passed on of one attempt.
const EVENTS_MAX: usize = 100_000;

/// Runs an agent until it exits, or cleo or the work of this thread is interrupted. `tell` gets every event on this thread, so the
/// agent is not read while it runs. All descendants are ended too. It is an error when the program cannot be started
/// or its output cannot be kept.
pub(crate) fn drive(
    runner: &dyn Runner,
    job: &Job,
    tell: &mut dyn FnMut(TaskEvent),
) -> Result<AgentEnd> {
    let _guard = Guard::begin()?;
    let invocation = runner.invocation(job);
    let log = Log::begin(&job.raw)?;
    let started = Instant::now();
    let input = invocation.reads_prompt.then(|| job.prompt.clone().into());
    let mut program = Program::start(&mut command(&invocation, job)?, input, false)?;
    let id = program.child.id();
    tell(TaskEvent::AgentStarted {
        group: Some(id),
        process_start_time: orphans::start_time(id),
    });
    let mut attempt = Attempt {
        runner,
        job,
        tell,
        log,
        lines: [Lines::new(LINE_MAX), Lines::new(LINE_MAX)],
        stderr_tail: VecDeque::new(),
        started,
        active_at: started,
        has_worked: false,
        state: OutputState {
            before: job.before,
            ..OutputState::default()
        },
        n_events: 0,
    };
    let reason = program.supervise(&mut attempt);
    let exit_code = program.reap();
    program.end_descendants(true);
    attempt.judge(reason?, exit_code)
}

fn command(invocation: &Invocation, job: &Job) -> Result<Command> {
    let Some((name, arguments)) = invocation.words.split_first() else {
        return Err(Error::new(Code::Usage, "the command to run is empty"));
    };
    let name = job.program.as_ref().unwrap_or(name);
    let folder: &Path = &job.folder;
    // The system does not tell a program that is missing from a folder that is.
    if !folder.is_dir() {
        let message = format!(
            "{} is not a folder that an agent could work in",
            folder.display()
        );
        let fix = format!("ls -ld {}", quote(&folder.to_string_lossy()));
        return Err(Error::new(Code::FileUnreadable, message).fix(fix));
    }
    let names = invocation.passed.iter().chain(&job.passed);
    let mut command = child::command(name, folder, child::work_environment(names));
    let given = invocation.environment.iter().chain(&job.environment);
    command
        .args(arguments)
        .envs(given.map(|(name, value)| (name, value)));
    Ok(command)
}

struct Attempt<'a> {
    runner: &'a dyn Runner,
    job: &'a Job,
    tell: &'a mut dyn FnMut(TaskEvent),
    log: Log,
    lines: [Lines; 2],
    stderr_tail: VecDeque<String>,
    started: Instant,
    /// When it last wrote something that shows that it works.
    active_at: Instant,
    has_worked: bool,
    state: OutputState,
    n_events: usize,
}

impl Observer for Attempt<'_> {
    /// How the attempt ended, and why.
    type Reason = (Outcome, String);

    fn on_output(&mut self, stream: Stream, bytes: &[u8]) -> Result<()> {
        let mut lines = std::mem::replace(&mut self.lines[stream as usize], Lines::new(LINE_MAX));
        lines.split(bytes, &mut |line, beyond| {
            self.take_line(stream, line, beyond)
        })?;
        self.lines[stream as usize] = lines;
        // An agent that only retries counts as silent.
        if !self.state.refused {
            self.active_at = Instant::now();
        }
        self.log.flush()
    }

    fn check(&mut self) -> ControlFlow<(Outcome, String), Duration> {
        let (limits, state) = (self.job.limits, &self.state);
        if signals::caught_code().is_some() {
            let reason = "cleo was asked to end it".to_string();
            return ControlFlow::Break((Outcome::Cancelled, reason));
        }
        let timeout = match state.refused {
            true => Outcome::RateLimited,
            false => Outcome::Timeout,
        };
        if let Some(limit) = limits.time.filter(|limit| self.started.elapsed() >= *limit) {
            return ControlFlow::Break((timeout, format!("it took longer than {limit:?}")));
        }
        if let Some(limit) = limits
            .idle
            .filter(|limit| self.active_at.elapsed() >= *limit)
        {
            return ControlFlow::Break((timeout, format!("it was silent for {limit:?}")));
        }
        let reason = match (limits.turns, limits.cost, limits.budget) {
            (Some(limit), ..) if state.end.turns > Some(limit) => {
                format!("it took more than {limit} turns")
            }
            (_, Some(limit), Some(all)) if state.end.cost > Some(limit) => {
                format!("with it the run cost more than the {all} USD given")
            }
            (_, Some(limit), None) if state.end.cost > Some(limit) => {
                format!("it cost more than {limit} USD")
            }
            _ => {
                let left = |limit: Option<Duration>, since: Instant| {
                    limit.map_or(POLL_INTERVAL, |limit| limit.saturating_sub(since.elapsed()))
                };
                let (time, idle) = (
                    left(limits.time, self.started),
                    left(limits.idle, self.active_at),
                );
                return ControlFlow::Continue(POLL_INTERVAL.min(time).min(idle));
            }
        };
        ControlFlow::Break((Outcome::Budget, reason))
    }
}

impl Attempt<'_> {
    /// Keeps a line in the log, with how many bytes it lacks, and has the runner read it unless it is blank.
    fn take_line(&mut self, stream: Stream, line: &[u8], beyond: usize) -> Result<()> {
        let text = String::from_utf8_lossy(line);
        self.log
            .add(stream, text.strip_suffix('\r').unwrap_or(&text), beyond)?;
        let line = text.trim_ascii_end();
        match stream {
            _ if line.is_empty() => {}
            Stream::Out => self.read_line(line),
            Stream::Err => {
                self.runner.read_error(line, &mut self.state);
                push_last(&mut self.stderr_tail, line);
            }
        }
        Ok(())
    }

    fn read_line(&mut self, line: &str) {
        // Any other output shows that its model answers again.
        self.state.refused = false;
        self.runner.read_line(line, &mut self.state);
        for event in std::mem::take(&mut self.state.events) {
            self.has_worked |= match &event {
                TaskEvent::AgentConversation { conversation } => *conversation == self.job.resume,
                event => matches!(event, TaskEvent::AgentProgress { .. }),
            };
            self.n_events += 1;
            if self.n_events <= EVENTS_MAX {
                (self.tell)(event);
            }
        }
    }

    fn judge(
        mut self,
        reason: Option<(Outcome, String)>,
        exit_code: Option<i32>,
    ) -> Result<AgentEnd> {
        for stream in [Stream::Out, Stream::Err] {
            let lines = std::mem::replace(&mut self.lines[stream as usize], Lines::new(0));
            if let Some((line, beyond)) = lines.last_open_line() {
                self.take_line(stream, line, beyond)?;
            }
        }
        self.log.end()?;
        let mut state = self.state;
        state.end.exit_code = exit_code.filter(|_| reason.is_none());
        state.end.duration_ms = Some(self.started.elapsed().as_millis() as u64);
        state.end.stderr_tail = self.stderr_tail.into();
        match reason {
            None => {
                self.runner.judge(&mut state);
                let is_missing =
                    self.job.resume.is_some() && !self.has_worked && state.is_silent_failure();
                state.end.resumes = is_missing.then_some(false);
            }
            Some((outcome, reason)) => {
                state.end.outcome = Some(outcome);
                let said = state.end.reason.take();
                let said = said.map(|said| format!("{reason}: {said}"));
                state.end.reason = Some(said.unwrap_or(reason));
            }
        }
        if state.end.outcome != Some(Outcome::Ok)
            && let Some(name) = find_missing_variable(self.runner, self.job, &state.end)
        {
            let hint = format!("{name} is not passed to the agent; pass it with --pass-env {name}");
            let parts = [state.end.reason.take(), Some(hint)];
            state.end.reason = Some(Vec::from_iter(parts.into_iter().flatten()).join("; "));
        }
        Ok(state.end)
    }
}

/// Finds a variable that a failed agent names, and that is set here and not passed to it.
fn find_missing_variable(runner: &dyn Runner, job: &Job, end: &AgentEnd) -> Option<String> {
    let said = end.stderr_tail.iter().chain(&end.reason);
    let mut words =
        said.flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    let invocation = runner.invocation(job);
    let passed = child::work_environment(invocation.passed.iter().chain(&job.passed));
    let is_missing = |word: &&str| {
        let is_name = word.contains('_') && !word.contains(|c: char| c.is_ascii_lowercase());
        is_name && env::var_os(word).is_some() && !passed.iter().any(|(name, _)| name == word)
    };
    words.find(is_missing).map(String::from)
}
