//! Runs a command: no shell, its own process group, a time limit, output measured but never kept whole.
//!
//! The exit of the command itself counts. Its descendants get a short time to flush their pipes; then its
//! group and daemonized descendants (`strays`) are killed where the system can find them. Only programs that
//! leave a daemon on purpose, such as git, are [`capture`]d, which lets daemons live unless the command was
//! ended. Commands that a task names are ended with cleo even when it is killed (`orphans`).

use std::io::{ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::child::{self, Variable};
use super::orphans::Leash;
use super::pipes::{Kept, Pipes};
use super::signals::{self, Guard};
use super::strays::Strays;
use crate::error::{Code, Error, Result};

/// How long a command may take to end after it was asked to.
pub(super) const GRACE: Duration = Duration::from_millis(2_500);
/// How long pipes may stay open after the command has ended.
pub(super) const LINGER: Duration = Duration::from_millis(500);
/// Shortest and longest pause between two looks at a command.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

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
enum Ending {
    Exited,
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
    let strays = Strays::expect(&mut command);
    let mut leash = (daemons == Daemons::EndWithCleo).then(Leash::begin);
    let start = Instant::now();
    command.stdin(input.as_ref().map_or_else(Stdio::null, |_| Stdio::piped()));
    let mut child = spawn(&mut command)?;
    if let Some(leash) = &mut leash {
        leash.take(&child);
    }
    if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
        // Nobody waits for a command that does not read, or ends without having read everything.
        thread::spawn(move || pipe.write_all(&input));
    }
    let pipes = Pipes::follow(&mut child, keep);
    let is_flooded = || daemons == Daemons::End && pipes.is_cut();
    let ending = wait(&child, start, bounds, &guard, is_flooded);
    let exit_code = finish(&mut child, &pipes, ending, leash);
    if ending != Ending::Exited || daemons != Daemons::GoOn {
        strays.end(Pid::from_child(&child));
    }
    let stopped = (ending == Ending::Interrupted).then_some(Code::Interrupted);
    if let Some(code) = guard.end().or(stopped) {
        return Err(interrupted(code, &command));
    }
    let (output_digest, last_lines) = pipes.heard();
    let Kept {
        bytes,
        is_whole,
        is_cut,
    } = pipes.kept();
    let complaints = pipes.complaints();
    let finished = Finished {
        exit_code,
        duration: start.elapsed(),
        output_digest,
        last_lines,
        timed_out: ending == Ending::TimedOut,
    };
    Ok(Captured {
        finished,
        stdout: bytes,
        is_whole,
        is_cut,
        complaints,
    })
}

fn spawn(command: &mut Command) -> Result<Child> {
    start(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
}

pub(super) fn start(command: &mut Command) -> Result<Child> {
    let started = command.process_group(0).spawn();
    started.map_err(|cause| not_started(command, cause))
}

pub(super) fn not_started(command: &Command, cause: std::io::Error) -> Error {
    let program = command.get_program().to_string_lossy();
    let message = format!("`{program}` cannot be started: {cause}");
    let code = match cause.kind() {
        ErrorKind::NotFound => Code::ProgramMissing,
        _ => Code::FileUnreadable,
    };
    Error::new(code, message).because(cause)
}

fn interrupted(code: Code, command: &Command) -> Error {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    signals::interrupted(code, &format!("`{}` ran", words.join(" ")))
}

fn wait(
    child: &Child,
    start: Instant,
    bounds: &Bounds,
    guard: &Guard,
    is_flooded: impl Fn() -> bool,
) -> Ending {
    loop {
        if has_exited(child) {
            return Ending::Exited;
        }
        let stop = bounds.stop.as_deref();
        let is_stopped = stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        if guard.caught().is_some() || is_stopped {
            return Ending::Interrupted;
        }
        if is_flooded() {
            return Ending::Flooded;
        }
        // Elapsed time is compared, because a moment far ahead may not be one that can be named.
        if start.elapsed() >= bounds.time {
            return Ending::TimedOut;
        }
        pause(start);
    }
}

/// Ends what is still there of a command and returns its exit code, if it ended by itself.
fn finish(child: &mut Child, pipes: &Pipes, ending: Ending, leash: Option<Leash>) -> Option<i32> {
    if ending != Ending::Exited {
        end(child);
    }
    pipes.wait(LINGER);
    // Nothing that the command left running may outlive it.
    signal(child, Signal::KILL);
    // Once the command is collected, its number may become that of another group.
    drop(leash);
    let status = child.wait().ok()?;
    status.code().filter(|_| ending == Ending::Exited)
}

/// Ends a command: asks its whole group to stop, and after a while makes it.
fn end(child: &Child) {
    signal(child, Signal::TERM);
    let asked = Instant::now();
    while !has_exited(child) && asked.elapsed() < GRACE && !signals::is_urged() {
        pause(asked);
    }
    signal(child, Signal::KILL);
}

/// Returns true if the command has exited, without reaping it: until then its number cannot be reused by
/// another group, which a signal would hit.
pub(super) fn has_exited(child: &Child) -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(Pid::from_child(child)), look), Ok(None))
}

/// Sleeps a little: short at first, for commands that are quick; longer for those that are not.
fn pause(start: Instant) {
    thread::sleep((start.elapsed() / 16).clamp(PAUSES.0, PAUSES.1));
}

pub(super) fn signal(child: &Child, signal: Signal) {
    // A group that is gone needs no signal.
    let _ = kill_process_group(Pid::from_child(child), signal);
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
