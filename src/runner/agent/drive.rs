//! Runs one attempt: starts the program in its own process group with a minimal environment, writes the
//! prompt, reads the output, and stops it with all its descendants when it is time. One thread serves it and
//! sleeps while nothing happens, so that many run in one process.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::log::Log;
use super::pipes::{Ends, Pipes, Said, lay};
use super::{Ended, Invocation, Job, Limits, Runner, Sign};
use crate::error::{Code, Error, Result, catch_panic, quote};
use crate::run::Outcome;
use crate::runner::process::{self, GRACE, LINGER};
use crate::runner::signals::{self, Guard};
use crate::runner::strays::Strays;
use crate::runner::{child, orphans};

/// How often to check for a stop request when nobody calls `wake`.
const LOOK: Duration = Duration::from_secs(2);
/// How often to check whether an ending agent is to be killed at once.
const URGE: Duration = Duration::from_millis(100);
/// Most signs that are told of one attempt: no agent has a reason to give more.
const SIGNS_MAX: usize = 100_000;

/// Why a program is listened to no longer.
enum Ending {
    Exited,
    /// It is ended, with an outcome and a reason.
    Ended(Outcome, String),
}

/// Runs an agent until it exits, `stop` is set or cleo is interrupted. `stop` is checked every two seconds,
/// and at once after [`wake`](super::wake). `tell` gets every sign on this thread, so the agent is not read
/// while it runs. All descendants are ended too. It is an error when the program cannot be started or its
/// output cannot be kept.
pub(crate) fn drive(
    runner: &dyn Runner,
    job: &Job,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Sign),
) -> Result<Ended> {
    let guard = Guard::begin()?;
    let invocation = runner.invocation(job);
    let log = Log::begin(&job.raw)?;
    let begun = Instant::now();
    let (mut child, ends, strays) = start(command(&invocation, job)?)?;
    let pipes = Pipes::new(&mut child, ends, &job.prompt, log);
    tell(Sign::Started(child.id(), orphans::born(child.id())));
    let mut attempt = Attempt {
        pipes,
        begun,
        heard: begun,
        refused: false,
        ear: Ear {
            runner,
            tell,
            resume: job.resume.as_deref(),
            has_worked: false,
            ended: Ended {
                before: job.before,
                ..Ended::default()
            },
            signs: 0,
        },
    };
    let wants_end = || stop.load(Ordering::Relaxed) || guard.caught().is_some();
    let ending = catch_panic(|| {
        let ending = attempt.follow(&child, &job.limits, &wants_end);
        attempt.refused = attempt.ear.ended.refused;
        let closed = attempt.close(&mut child, &ending);
        ending.and_then(|ending| closed.map(|code| (ending, code)))
    });
    if ending.is_err() {
        // No agent may go on unheard.
        process::signal(&child, Signal::KILL);
        let _ = child.wait();
    }
    strays.end_all(Pid::from_child(&child));
    let (ending, exit_code) = ending??;
    attempt.judge(ending, exit_code)
}

/// Starts a program; takes its command, which would hold its outputs open.
fn start(mut command: Command) -> Result<(Child, Ends, Strays)> {
    let strays = Strays::expect(&mut command);
    let ends = lay(&mut command).map_err(|cause| process::not_started(&command, cause))?;
    Ok((process::start(&mut command)?, ends, strays))
}

fn command(invocation: &Invocation, job: &Job) -> Result<Command> {
    let Some((name, arguments)) = invocation.words.split_first() else {
        return Err(Error::new(Code::Usage, "the command to run is empty"));
    };
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
    let environment = surroundings(invocation, job);
    let path = environment.get(OsStr::new("PATH"));
    let program = path.and_then(|path| child::find_program(name.as_ref(), path));
    let program = program.unwrap_or_else(|| name.into());
    let mut command = child::command(program, folder, environment);
    command.arg0(name).args(arguments);
    let input = match invocation.reads_prompt {
        true => Stdio::piped(),
        false => Stdio::null(),
    };
    command.stdin(input);
    Ok(command)
}

fn surroundings(invocation: &Invocation, job: &Job) -> BTreeMap<OsString, OsString> {
    let names = invocation.passed.iter().chain(&job.passed);
    let given = invocation.environment.iter().chain(&job.environment);
    let mut all = BTreeMap::new();
    all.extend(child::work_environment(names));
    all.extend(given.map(|(name, value)| (name.into(), value.into())));
    all
}

struct Attempt<'a> {
    pipes: Pipes,
    begun: Instant,
    heard: Instant,
    /// Whether its model refused it when it was ended; what it says after that is no sign of anything.
    refused: bool,
    ear: Ear<'a>,
}

struct Ear<'a> {
    runner: &'a dyn Runner,
    tell: &'a mut dyn FnMut(Sign),
    ended: Ended,
    /// The conversation that it is to go on with, if it is to.
    resume: Option<&'a str>,
    has_worked: bool,
    signs: usize,
}

impl Ear<'_> {
    fn hear(&mut self, said: Said<'_>) {
        let line = match said {
            Said::Out(line) => line,
            Said::Err(line) => return self.runner.overhear(line, &mut self.ended),
        };
        // Whatever else it says shows that its model answers again.
        self.ended.refused = false;
        for sign in self.runner.hear(line, &mut self.ended) {
            let goes_on =
                matches!(&sign, Sign::Conversation(id) if Some(id.as_str()) == self.resume);
            self.has_worked |= goes_on || sign.is_of_work();
            self.signs += 1;
            if self.signs <= SIGNS_MAX {
                (self.tell)(sign);
            }
        }
    }
}

impl Attempt<'_> {
    /// Listens until the program has ended or is to be ended.
    fn follow(
        &mut self,
        child: &Child,
        limits: &Limits,
        wants_end: &dyn Fn() -> bool,
    ) -> Result<Ending> {
        loop {
            if process::has_exited(child) {
                return Ok(Ending::Exited);
            }
            if wants_end() {
                let reason = "cleo was asked to end it".to_string();
                return Ok(Ending::Ended(Outcome::Cancelled, reason));
            }
            if let Some((outcome, reason)) = self.beyond(limits) {
                return Ok(Ending::Ended(outcome, reason));
            }
            let left = |limit: Option<Duration>, since: Instant| {
                limit.map_or(LOOK, |limit| limit.saturating_sub(since.elapsed()))
            };
            let time = left(limits.time, self.begun);
            self.serve(LOOK.min(time).min(left(limits.idle, self.heard)))?;
        }
    }

    fn serve(&mut self, wait: Duration) -> Result<()> {
        let ear = &mut self.ear;
        let has_said = self.pipes.serve(wait, &mut |said| ear.hear(said))?;
        // One that only tries again is as good as silent.
        if has_said && !ear.ended.refused {
            self.heard = Instant::now();
        }
        Ok(())
    }

    fn beyond(&self, limits: &Limits) -> Option<(Outcome, String)> {
        let ended = &self.ear.ended;
        if let Some(limit) = limits.time.filter(|limit| self.begun.elapsed() >= *limit) {
            return Some((Outcome::Timeout, format!("it took longer than {limit:?}")));
        }
        if let Some(limit) = limits.idle.filter(|limit| self.heard.elapsed() >= *limit) {
            return Some((Outcome::Timeout, format!("it was silent for {limit:?}")));
        }
        if let Some(limit) = limits.turns.filter(|limit| ended.turns > Some(*limit)) {
            return Some((Outcome::Budget, format!("it took more than {limit} turns")));
        }
        let limit = limits.cost.filter(|limit| ended.cost > Some(*limit))?;
        let reason = match limits.budget {
            Some(all) => format!("with it the run cost more than the {all} USD given"),
            None => format!("it cost more than {limit} USD"),
        };
        Some((Outcome::Budget, reason))
    }

    /// Ends the program and its group, reads the remaining output, and returns the exit code.
    fn close(&mut self, child: &mut Child, ending: &Result<Ending>) -> Result<Option<i32>> {
        let is_over = matches!(ending, Ok(Ending::Exited));
        let served = match is_over {
            true => self.drain(LINGER),
            false => self.end(child),
        };
        // Nothing that it left running may outlive it.
        process::signal(child, Signal::KILL);
        let served = served.and_then(|()| self.drain(LINGER));
        let status = child.wait().ok();
        served.map(|()| status.and_then(|status| status.code()).filter(|_| is_over))
    }

    /// Asks the group to stop, and listens on for the grace period.
    fn end(&mut self, child: &Child) -> Result<()> {
        process::signal(child, Signal::TERM);
        // One that stands still hears nothing.
        process::signal(child, Signal::CONT);
        let asked = Instant::now();
        while !process::has_exited(child) && asked.elapsed() < GRACE && !signals::is_urged() {
            let left = GRACE.saturating_sub(asked.elapsed());
            self.serve(left.min(URGE))?;
        }
        Ok(())
    }

    /// Reads until both outputs are closed, but no longer than a time.
    fn drain(&mut self, limit: Duration) -> Result<()> {
        let begun = Instant::now();
        while !self.pipes.are_closed() && begun.elapsed() < limit {
            let ear = &mut self.ear;
            let left = limit.saturating_sub(begun.elapsed());
            self.pipes.drain(left, &mut |said| ear.hear(said))?;
        }
        Ok(())
    }

    fn judge(self, ending: Ending, exit_code: Option<i32>) -> Result<Ended> {
        let mut ear = self.ear;
        let was_refused = self.refused;
        let complaints = self.pipes.finish(&mut |said| ear.hear(said))?;
        let mut ended = ear.ended;
        ended.exit_code = exit_code;
        ended.duration_ms = self.begun.elapsed().as_millis() as u64;
        ended.complaints = complaints;
        match ending {
            Ending::Exited => {
                ear.runner.judge(&mut ended);
                ended.not_resumed =
                    ear.resume.is_some() && !ear.has_worked && ended.failed_silently();
            }
            Ending::Ended(outcome, reason) => {
                ended.outcome = Some(match outcome {
                    Outcome::Timeout if was_refused => Outcome::RateLimited,
                    outcome => outcome,
                });
                let said = ended.reason.take().map(|said| format!("{reason}: {said}"));
                ended.reason = Some(said.unwrap_or(reason));
            }
        }
        Ok(ended)
    }
}
