//! Runs one attempt: starts the program with a minimal environment and the prompt, takes what it writes, and
//! says when it is to be ended. One thread serves it and sleeps while nothing happens, so that many run in one
//! process.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::log::Log;
use super::{AgentEvent, Ended, Invocation, Job, Runner};
use crate::error::{Code, Error, Result, quote};
use crate::run::Outcome;
use crate::run::log::{LINE_MAX, Stream};
use crate::runner::lines::{LastLines, Lines};
use crate::runner::process::{Observer, Program};
use crate::runner::signals::Guard;
use crate::runner::{child, orphans};

/// How often to check for a stop request when nobody calls `wake`.
const LOOK: Duration = Duration::from_secs(2);
/// Most signs that are told of one attempt: no agent has a reason to give more.
const SIGNS_MAX: usize = 100_000;

/// Runs an agent until it exits, `stop` is set or cleo is interrupted. `stop` is checked every two seconds,
/// and at once after [`wake`](super::wake). `tell` gets every sign on this thread, so the agent is not read
/// while it runs. All descendants are ended too. It is an error when the program cannot be started or its
/// output cannot be kept.
pub(crate) fn drive(
    runner: &dyn Runner,
    job: &Job,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(AgentEvent),
) -> Result<Ended> {
    let guard = Guard::begin()?;
    let invocation = runner.invocation(job);
    let log = Log::begin(&job.raw)?;
    let begun = Instant::now();
    let input = invocation.reads_prompt.then(|| job.prompt.clone().into());
    let mut program = Program::start(&mut command(&invocation, job)?, input)?;
    let id = program.child.id();
    tell(AgentEvent::Started(id, orphans::start_time(id)));
    let mut attempt = Attempt {
        runner,
        job,
        tell,
        wants_end: &|| stop.load(Ordering::Relaxed) || guard.caught().is_some(),
        log,
        lines: [Lines::new(LINE_MAX), Lines::new(LINE_MAX)],
        complaints: LastLines::default(),
        begun,
        heard: begun,
        has_worked: false,
        ended: Ended {
            before: job.before,
            ..Ended::default()
        },
        signs: 0,
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
            "{} is no folder that an agent could work in",
            folder.display()
        );
        let fix = format!("ls -ld {}", quote(&folder.to_string_lossy()));
        return Err(Error::new(Code::FileUnreadable, message).fix(fix));
    }
    let names = invocation.passed.iter().chain(&job.passed);
    let given = invocation.environment.iter().chain(&job.environment);
    let mut environment: BTreeMap<OsString, OsString> = BTreeMap::new();
    environment.extend(child::work_environment(names));
    environment.extend(given.map(|(name, value)| (name.into(), value.into())));
    let path = environment.get(OsStr::new("PATH"));
    let program = path.and_then(|path| child::find_program(name.as_ref(), path));
    let program = program.unwrap_or_else(|| name.into());
    let mut command = child::command(program, folder, environment);
    command.arg0(name).args(arguments);
    Ok(command)
}

struct Attempt<'a> {
    runner: &'a dyn Runner,
    job: &'a Job,
    tell: &'a mut dyn FnMut(AgentEvent),
    wants_end: &'a dyn Fn() -> bool,
    log: Log,
    lines: [Lines; 2],
    complaints: LastLines,
    begun: Instant,
    /// When it last wrote something that shows that it works.
    heard: Instant,
    has_worked: bool,
    ended: Ended,
    signs: usize,
}

impl Observer for Attempt<'_> {
    /// How the attempt ended, and why.
    type Reason = (Outcome, String);

    fn take(&mut self, stream: Stream, bytes: &[u8]) -> Result<()> {
        let mut lines = std::mem::replace(&mut self.lines[stream as usize], Lines::new(LINE_MAX));
        lines.split(bytes, &mut |line, beyond| {
            self.take_line(stream, line, beyond)
        })?;
        self.lines[stream as usize] = lines;
        // One that only tries again is as good as silent.
        if !self.ended.refused {
            self.heard = Instant::now();
        }
        self.log.flush()
    }

    fn check(&mut self) -> ControlFlow<(Outcome, String), Duration> {
        let (limits, ended) = (self.job.limits, &self.ended);
        if (self.wants_end)() {
            let reason = "cleo was asked to end it".to_string();
            return ControlFlow::Break((Outcome::Cancelled, reason));
        }
        let timeout = match ended.refused {
            true => Outcome::RateLimited,
            false => Outcome::Timeout,
        };
        if let Some(limit) = limits.time.filter(|limit| self.begun.elapsed() >= *limit) {
            return ControlFlow::Break((timeout, format!("it took longer than {limit:?}")));
        }
        if let Some(limit) = limits.idle.filter(|limit| self.heard.elapsed() >= *limit) {
            return ControlFlow::Break((timeout, format!("it was silent for {limit:?}")));
        }
        let reason = match (limits.turns, limits.cost, limits.budget) {
            (Some(limit), ..) if ended.turns > Some(limit) => {
                format!("it took more than {limit} turns")
            }
            (_, Some(limit), Some(all)) if ended.cost > Some(limit) => {
                format!("with it the run cost more than the {all} USD given")
            }
            (_, Some(limit), None) if ended.cost > Some(limit) => {
                format!("it cost more than {limit} USD")
            }
            _ => {
                let left = |limit: Option<Duration>, since: Instant| {
                    limit.map_or(LOOK, |limit| limit.saturating_sub(since.elapsed()))
                };
                let (time, idle) = (left(limits.time, self.begun), left(limits.idle, self.heard));
                return ControlFlow::Continue(LOOK.min(time).min(idle));
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
                self.runner.read_error(line, &mut self.ended);
                self.complaints.push(line);
            }
        }
        Ok(())
    }

    fn read_line(&mut self, line: &str) {
        // Whatever else it says shows that its model answers again.
        self.ended.refused = false;
        self.runner.read_line(line, &mut self.ended);
        for sign in std::mem::take(&mut self.ended.signs) {
            let resumed = match &sign {
                AgentEvent::Conversation(name) => Some(name),
                _ => None,
            };
            let goes_on = resumed.is_some() && resumed == self.job.resume.as_ref();
            self.has_worked |= goes_on || sign.is_of_work();
            self.signs += 1;
            if self.signs <= SIGNS_MAX {
                (self.tell)(sign);
            }
        }
    }

    fn judge(mut self, reason: Option<(Outcome, String)>, exit_code: Option<i32>) -> Result<Ended> {
        for stream in [Stream::Out, Stream::Err] {
            let lines = std::mem::replace(&mut self.lines[stream as usize], Lines::new(0));
            if let Some((line, beyond)) = lines.rest() {
                self.take_line(stream, line, beyond)?;
            }
        }
        self.log.end()?;
        let mut ended = self.ended;
        ended.exit_code = exit_code.filter(|_| reason.is_none());
        ended.duration_ms = self.begun.elapsed().as_millis() as u64;
        ended.complaints = self.complaints.into();
        match reason {
            None => {
                self.runner.judge(&mut ended);
                ended.not_resumed =
                    self.job.resume.is_some() && !self.has_worked && ended.is_silent_failure();
            }
            Some((outcome, reason)) => {
                ended.outcome = Some(outcome);
                let said = ended.reason.take().map(|said| format!("{reason}: {said}"));
                ended.reason = Some(said.unwrap_or(reason));
            }
        }
        Ok(ended)
    }
}
