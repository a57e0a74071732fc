//! Starts and supervises programs: no shell, a process group of their own, one thread for each that reads
//! its outputs and ends it when it is time.
//!
//! The exit of the program itself counts. Its descendants get a short time to flush their pipes; then its
//! group and daemonized descendants (`descendants`) are killed where the system can find them. Only programs that
//! leave a daemon on purpose, such as git, are [`capture`]d, which lets daemons live unless the command was
//! ended. Commands that a task names are ended with cleo even when it is killed (`orphans`).

use std::borrow::Cow;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use sha2::{Digest, Sha256};

use super::child::{self, Variable};
use super::descendants::Descendants;
use super::lines::{LAST_LINE_MAX, LAST_LINES, LastLines, Lines};
use super::orphans::Watchdog;
use super::pipes::Pipes;
use super::signals::{self, Guard};
use crate::error::{Code, Error, Result, catch_panic};
use crate::id;
use crate::run::log::Stream;

/// How long a program may take to end after it was asked to.
const GRACE: Duration = Duration::from_millis(2_500);
/// How long pipes may stay open after the program has ended.
const LINGER: Duration = Duration::from_millis(500);
/// How often to check whether cleo, or the command, is to end.
const LOOK: Duration = Duration::from_millis(50);

/// Decides what becomes of a program while it runs.
pub(super) trait Observer {
    /// Why a program is ended.
    type Reason;

    /// Takes what it wrote.
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> Result<()>;

    /// Returns why it is to be ended now, or after which time to ask again.
    fn check(&mut self) -> ControlFlow<Self::Reason, Duration>;
}

/// A program that runs.
pub(super) struct Program {
    pub(super) child: Child,
    pipes: Pipes,
    descendants: Descendants,
}

impl Program {
    /// Starts a program in a process group of its own.
    pub(super) fn start(command: &mut Command, input: Option<Vec<u8>>) -> Result<Program> {
        let descendants = Descendants::expect(command);
        let stdin = input.as_ref().map_or_else(Stdio::null, |_| Stdio::piped());
        command
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.process_group(0).spawn().map_err(|cause| {
            let program = command.get_program().to_string_lossy();
            let message = format!("`{program}` cannot be started: {cause}");
            let code = match cause.kind() {
                ErrorKind::NotFound => Code::ProgramMissing,
                _ => Code::FileUnreadable,
            };
            Error::new(code, message).because(cause)
        })?;
        let pipes = Pipes::new(&mut child, input.unwrap_or_default());
        Ok(Program {
            child,
            pipes,
            descendants,
        })
    }

    /// Serves a program until it has exited or is ended, and kills the rest of its group. Returns why it was
    /// ended. The program is not reaped, so its number stays its own.
    pub(super) fn supervise<O: Observer>(&mut self, observer: &mut O) -> Result<Option<O::Reason>> {
        let ended = catch_panic(|| {
            let reason = self.follow(observer)?;
            match reason {
                Some(_) => self.end(observer)?,
                None => self.drain(observer)?,
            }
            Ok(reason)
        });
        // Nothing that it left running may outlive it, nor may it go on unheard.
        self.signal(Signal::KILL);
        let reason = ended??;
        if reason.is_some() {
            self.drain(observer)?;
        }
        Ok(reason)
    }

    fn follow<O: Observer>(&mut self, observer: &mut O) -> Result<Option<O::Reason>> {
        loop {
            if self.has_exited() {
                return Ok(None);
            }
            match observer.check() {
                ControlFlow::Break(reason) => return Ok(Some(reason)),
                ControlFlow::Continue(wait) => self.serve(wait, observer)?,
            }
        }
    }

    /// Asks the group to stop, and serves it for the grace period.
    fn end<O: Observer>(&mut self, observer: &mut O) -> Result<()> {
        self.signal(Signal::TERM);
        // A stopped process receives nothing else.
        self.signal(Signal::CONT);
        let asked = Instant::now();
        while !self.has_exited() && asked.elapsed() < GRACE && !signals::is_urged() {
            self.serve(LOOK, observer)?;
        }
        Ok(())
    }

    fn serve<O: Observer>(&mut self, wait: Duration, observer: &mut O) -> Result<()> {
        let take = &mut |stream, bytes: &[u8]| observer.take(stream, bytes);
        self.pipes.serve(wait, take)
    }

    fn drain<O: Observer>(&mut self, observer: &mut O) -> Result<()> {
        let take = &mut |stream, bytes: &[u8]| observer.take(stream, bytes);
        self.pipes.drain(LINGER, take)
    }

    /// Reaps a program and returns its exit code; none when a signal ended it.
    pub(super) fn reap(&mut self) -> Option<i32> {
        self.child.wait().ok()?.code()
    }

    /// Ends what it left behind. It was reaped before.
    pub(super) fn end_descendants(&self, ends_unmarked: bool) {
        self.descendants
            .end(Pid::from_child(&self.child), ends_unmarked);
    }

    /// Returns true if the program has exited, without reaping it: until then its number cannot be reused by
    /// another group, which a signal would hit.
    fn has_exited(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let child = WaitId::Pid(Pid::from_child(&self.child));
        !matches!(waitid(child, look), Ok(None))
    }

    fn signal(&self, signal: Signal) {
        // A group that is gone needs no signal.
        let _ = kill_process_group(Pid::from_child(&self.child), signal);
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    /// It is ended after so long.
    pub(crate) time: Duration,
    /// It is ended when this is set, as if cleo were asked to end.
    pub(crate) stop: Option<Arc<AtomicBool>>,
}

impl From<Duration> for Bounds {
    fn from(time: Duration) -> Bounds {
        Bounds { time, stop: None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finished {
    /// Its exit code; none when a signal ended it.
    pub(crate) exit_code: Option<i32>,
    /// How long it took.
    pub(crate) duration: Duration,
    /// Digest of what was read of its standard output, then of its standard error.
    pub(crate) output_digest: String,
    /// The last lines of both, standard error last.
    pub(crate) last_lines: Vec<String>,
    /// True when it was ended because it took too long.
    pub(crate) timed_out: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    TimedOut,
    Flooded,
    Interrupted,
}

pub(crate) struct Captured {
    pub(crate) finished: Finished,
    /// The beginning of its standard output.
    pub(crate) stdout: Vec<u8>,
    /// True when that is all of it, and nothing can come any more.
    pub(crate) is_whole: bool,
    pub(crate) is_cut: bool,
    /// The beginning of its standard error.
    pub(crate) stderr: Vec<u8>,
    /// The last lines of its standard error.
    pub(crate) complaints: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Daemons {
    End,
    /// They end, and all of its group ends when cleo is killed before.
    EndWithCleo,
    GoOn,
}

/// Runs a command in a folder with these variables. The first word is the program; nothing is expanded. When
/// cleo is interrupted or the command is stopped, it is ended and an error is returned.
pub(crate) fn run(
    words: &[String],
    folder: &Path,
    bounds: &Bounds,
    environment: Vec<Variable>,
) -> Result<Finished> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(Error::new(Code::Usage, "the command to run is empty"));
    };
    let mut command = child::command(program, folder, environment);
    command.args(arguments);
    Ok(follow(command, None, bounds, 0, Daemons::EndWithCleo)?.finished)
}

/// Runs a command and keeps the first `keep` bytes of its standard output. Its daemons live on.
pub(crate) fn capture(command: Command, limit: Duration, keep: usize) -> Result<Captured> {
    follow(command, None, &limit.into(), keep, Daemons::GoOn)
}

/// Runs a command with input and keeps the first `keep` bytes of its standard output; more output ends it.
/// None of its descendants outlives it.
pub(crate) fn converse(
    command: Command,
    input: Vec<u8>,
    limit: Duration,
    keep: usize,
) -> Result<Captured> {
    follow(command, Some(input), &limit.into(), keep, Daemons::End)
}

fn follow(
    mut command: Command,
    input: Option<Vec<u8>>,
    bounds: &Bounds,
    keep: usize,
    daemons: Daemons,
) -> Result<Captured> {
    let guard = Guard::begin()?;
    let mut watchdog = (daemons == Daemons::EndWithCleo).then(Watchdog::begin);
    let start = Instant::now();
    let mut program = Program::start(&mut command, input)?;
    if let Some(watchdog) = &mut watchdog {
        watchdog.take(&program.child);
    }
    let mut watch = Watch {
        start,
        bounds,
        guard: &guard,
        is_bounded: daemons == Daemons::End,
        outputs: [Output::new(keep), Output::new(keep)],
    };
    let reason = program.supervise(&mut watch);
    // Once the command is reaped, its number may become that of another group.
    drop(watchdog);
    let exit_code = program.reap();
    if daemons != Daemons::GoOn || !matches!(reason, Ok(None)) {
        program.end_descendants(false);
    }
    let [mut out, mut err] = watch.outputs;
    let reason = reason?;
    let stopped = (reason == Some(Reason::Interrupted)).then_some(Code::Interrupted);
    if let Some(code) = guard.end().or(stopped) {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        let while_what = format!("`{}` ran", words.join(" "));
        return Err(signals::interrupted(code, &while_what));
    }
    let (is_cut, digests) = (out.is_cut(), format!("{}{}", out.end(), err.end()));
    let complaints: Vec<String> = err.last.into();
    let mut last_lines: Vec<String> = out.last.into();
    last_lines.extend(complaints.iter().cloned());
    last_lines.drain(..last_lines.len().saturating_sub(LAST_LINES));
    Ok(Captured {
        finished: Finished {
            exit_code: exit_code.filter(|_| reason.is_none()),
            duration: start.elapsed(),
            output_digest: id::digest(digests),
            last_lines,
            timed_out: reason == Some(Reason::TimedOut),
        },
        stdout: out.kept,
        is_whole: program.pipes.is_closed(Stream::Out) && !is_cut,
        is_cut,
        stderr: err.kept,
        complaints,
    })
}

struct Watch<'a> {
    start: Instant,
    bounds: &'a Bounds,
    guard: &'a Guard,
    /// True when more output than is kept ends the command.
    is_bounded: bool,
    outputs: [Output; 2],
}

impl Observer for Watch<'_> {
    type Reason = Reason;

    fn take(&mut self, stream: Stream, bytes: &[u8]) -> Result<()> {
        self.outputs[stream as usize].take(bytes)
    }

    fn check(&mut self) -> ControlFlow<Reason, Duration> {
        let stop = self.bounds.stop.as_deref();
        let is_stopped = stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        // Elapsed time is compared, because a moment far ahead may not be one that can be named.
        let left = self.bounds.time.saturating_sub(self.start.elapsed());
        if self.guard.caught().is_some() || is_stopped {
            ControlFlow::Break(Reason::Interrupted)
        } else if self.is_bounded && self.outputs[Stream::Out as usize].is_cut() {
            ControlFlow::Break(Reason::Flooded)
        } else if left.is_zero() {
            ControlFlow::Break(Reason::TimedOut)
        } else {
            ControlFlow::Continue(left.min(LOOK))
        }
    }
}

/// What is kept of an output.
struct Output {
    hash: Sha256,
    lines: Lines,
    last: LastLines,
    /// The first bytes, `keep` at most.
    kept: Vec<u8>,
    keep: usize,
    length: u64,
}

impl Output {
    fn new(keep: usize) -> Output {
        Output {
            hash: Sha256::new(),
            lines: Lines::new(LAST_LINE_MAX),
            last: LastLines::default(),
            kept: Vec::new(),
            keep,
            length: 0,
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<()> {
        self.hash.update(bytes);
        self.length += bytes.len() as u64;
        let room = bytes.len().min(self.keep - self.kept.len());
        self.kept.extend_from_slice(&bytes[..room]);
        let last = &mut self.last;
        self.lines.split(bytes, &mut |line, _| {
            last.push(&trim_line(line));
            Ok(())
        })
    }

    fn is_cut(&self) -> bool {
        (self.kept.len() as u64) < self.length
    }

    /// Counts the line that has not ended, because the command may be ended within it, and returns the digest.
    fn end(&mut self) -> String {
        if let Some((line, _)) = self.lines.rest() {
            self.last.push(&trim_line(line));
        }
        id::hex(&std::mem::take(&mut self.hash).finalize())
    }
}

fn trim_line(line: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(line.trim_ascii_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, limit: Duration) -> Finished {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir("/");
        capture(command, limit, 0).unwrap().finished
    }

    #[test]
    fn exit_code_and_last_lines_are_kept() {
        let finished = sh("seq 1 100; echo bad >&2; exit 3", Duration::from_secs(60));
        assert_eq!((finished.exit_code, finished.timed_out), (Some(3), false));
        assert_eq!(finished.last_lines.len(), 20);
        assert_eq!(finished.last_lines.last().map(String::as_str), Some("bad"));
        let again = sh("seq 1 100; echo bad >&2; exit 3", Duration::from_secs(60));
        assert_eq!(finished.output_digest, again.output_digest);
    }

    #[test]
    fn a_command_that_hangs_is_ended_with_its_children() {
        let finished = sh("sleep 300 & sleep 300", Duration::from_millis(100));
        assert_eq!((finished.exit_code, finished.timed_out), (None, true));
    }

    fn is_quick(finished: &Finished) -> bool {
        finished.duration < Duration::from_secs(20)
    }

    #[test]
    fn who_writes_more_than_may_be_kept_is_ended() {
        let mut command = Command::new("sh");
        command.args(["-c", "yes"]).current_dir("/");
        let captured = converse(command, Vec::new(), Duration::from_secs(60), 1_000).unwrap();
        assert_eq!((captured.is_cut, captured.stdout.len()), (true, 1_000));
        assert!(!captured.finished.timed_out && is_quick(&captured.finished));
    }

    #[test]
    fn the_longest_limit_is_none() {
        let finished = sh("exit 0", Duration::MAX);
        assert_eq!((finished.exit_code, finished.timed_out), (Some(0), false));
    }

    #[test]
    fn the_exit_of_the_command_decides_and_not_who_holds_its_pipes() {
        for left in ["sleep 60 &", "setsid sleep 60 &"] {
            let finished = sh(&format!("{left} echo hi; exit 0"), Duration::from_secs(30));
            assert_eq!((finished.exit_code, finished.timed_out), (Some(0), false));
            assert_eq!(finished.last_lines, ["hi"]);
            assert!(is_quick(&finished), "{left} {finished:?}");
        }
    }

    #[test]
    fn a_daemon_does_not_stretch_the_limit() {
        let limit = Duration::from_millis(1_500);
        let finished = sh("setsid sleep 60 & printf half; sleep 60", limit);
        assert_eq!((finished.exit_code, finished.timed_out), (None, true));
        assert_eq!(finished.last_lines, ["half"]);
        assert!(is_quick(&finished), "{finished:?}");
    }

    #[test]
    fn closed_pipes_are_no_end() {
        let finished = sh("exec >&- 2>&-; exec sleep 60", Duration::from_millis(300));
        assert_eq!((finished.exit_code, finished.timed_out), (None, true));
        assert!(is_quick(&finished), "{finished:?}");
    }

    #[test]
    fn a_command_that_will_not_stop_is_made_to() {
        let script = "trap '' TERM; while :; do sleep 60; done";
        let finished = sh(script, Duration::from_millis(300));
        assert_eq!((finished.exit_code, finished.timed_out), (None, true));
        assert!(is_quick(&finished), "{finished:?}");
    }

    #[test]
    fn the_digest_is_that_of_the_bytes_that_were_read() {
        let whole = sh("printf half", Duration::from_secs(60));
        let cut = sh("printf half; exec sleep 60", Duration::from_secs(1));
        assert!(cut.timed_out);
        assert_eq!(cut.output_digest, whole.output_digest);
        let other = sh("printf half >&2", Duration::from_secs(60));
        assert_ne!(other.output_digest, whole.output_digest);
    }

    #[test]
    fn a_command_that_is_stopped_is_ended_and_has_no_result() {
        let stop = Some(Arc::new(AtomicBool::new(true)));
        let time = Duration::from_secs(60);
        let words = ["sleep".to_string(), "60".to_string()];
        let error = run(&words, Path::new("/"), &Bounds { time, stop }, Vec::new()).unwrap_err();
        assert_eq!(error.code, Code::Interrupted);
    }

    #[test]
    fn a_program_that_is_not_there_has_a_code_of_its_own() {
        let words = ["no-such-program-at-all".to_string()];
        let bounds = Duration::from_secs(1).into();
        let error = run(&words, Path::new("/"), &bounds, Vec::new()).unwrap_err();
        assert_eq!(error.code, Code::ProgramMissing);
    }

    #[test]
    fn a_command_sees_what_it_is_given() {
        let words = ["/bin/sh", "-c", "echo \"<$CARGO_PKG_NAME$GIVEN>$PWD\""].map(String::from);
        let environment = vec![("GIVEN".into(), "x".into())];
        let bounds = Duration::from_secs(60).into();
        let finished = run(&words, Path::new("/usr"), &bounds, environment).unwrap();
        assert_eq!(finished.last_lines, ["<x>/usr"]);
    }
}
