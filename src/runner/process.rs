//! Runs commands within limits of time and output: gates, git, and programs that answer.
//!
//! Only programs that leave a daemon on purpose, such as git, are [`capture`]d, which lets daemons live unless the
//! command was stopped. Commands that a task names end with cleo even when it is killed (`orphans`).

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::child::{self, Variable};
use super::lines::{LAST_LINE_MAX, LAST_LINES, Lines, push_last};
use super::orphans::Watchdog;
use super::signals::{self, Guard};
use super::supervise::{Observer, Program};
use crate::error::{Code, Error, Result};
use crate::id;
use crate::run::log::Stream;

/// How often to check whether cleo, or the command, is to end.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How a command ended, and what was read of its outputs.
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
    /// The last lines of its standard error.
    pub(crate) stderr_tail: Vec<String>,
    /// True when it was ended because it took too long.
    pub(crate) timed_out: bool,
    /// The beginning of its standard output.
    pub(crate) stdout: Vec<u8>,
    /// True when that is all of it, and nothing can come any more.
    pub(crate) is_whole: bool,
    pub(crate) is_cut: bool,
    /// The beginning of its standard error.
    pub(crate) stderr: Vec<u8>,
}

/// Runs a command in a folder with these variables. The first word is the program; nothing is expanded. When
/// cleo is interrupted, or the work of this thread ([`signals::run_until`]), it is ended and an error is returned.
pub(crate) fn run(
    words: &[String],
    folder: &Path,
    limit: Duration,
    environment: Vec<Variable>,
) -> Result<Finished> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(Error::new(Code::Usage, "the command to run is empty"));
    };
    let mut command = child::command(program, folder, environment);
    command.args(arguments);
    run_supervised(command, None, limit, 0, false)
}

/// Runs a command and keeps the first `keep` bytes of its standard output. Its daemons live on.
pub(crate) fn capture(command: Command, limit: Duration, keep: usize) -> Result<Finished> {
    run_supervised(command, None, limit, keep, true)
}

/// Runs a command with input and keeps the first `keep` bytes of its standard output; more output ends it.
/// None of its descendants outlives it, and it does not outlive cleo.
pub(crate) fn run_with_input(
    command: Command,
    input: Vec<u8>,
    limit: Duration,
    keep: usize,
) -> Result<Finished> {
    run_supervised(command, Some(input), limit, keep, false)
}

/// Runs a command. Unless it keeps its daemons, its descendants are killed, also if cleo is killed before.
fn run_supervised(
    mut command: Command,
    input: Option<Vec<u8>>,
    limit: Duration,
    keep: usize,
    keeps_daemons: bool,
) -> Result<Finished> {
    let guard = Guard::begin()?;
    let mut watchdog = (!keeps_daemons).then(Watchdog::begin);
    let start = Instant::now();
    let mut program = Program::start(&mut command, input, keeps_daemons)?;
    if let Some(watchdog) = &mut watchdog {
        watchdog.take(&program.child);
    }
    let mut watch = Watch {
        start,
        limit,
        is_bounded: keep > 0 && !keeps_daemons,
        outputs: [Output::new(keep), Output::new(keep)],
    };
    let reason = program.supervise(&mut watch);
    // Once the command is reaped, its number may become that of another group.
    drop(watchdog);
    let exit_code = program.reap();
    program.end_descendants(!keeps_daemons || !matches!(reason, Ok(None)));
    let [mut out, mut err] = watch.outputs;
    let reason = reason?;
    if let Some(code) = guard.end() {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        let while_what = format!("`{}` ran", words.join(" "));
        return Err(signals::interruption_error(code, &while_what));
    }
    let (is_cut, digests) = (out.is_cut(), format!("{}{}", out.end(), err.end()));
    let stderr_tail: Vec<String> = err.last.into();
    let mut last_lines: Vec<String> = out.last.into();
    last_lines.extend(stderr_tail.iter().cloned());
    last_lines.drain(..last_lines.len().saturating_sub(LAST_LINES));
    Ok(Finished {
        exit_code: exit_code.filter(|_| reason.is_none()),
        duration: start.elapsed(),
        output_digest: id::digest(digests),
        last_lines,
        stderr_tail,
        timed_out: reason == Some(true),
        stdout: out.kept,
        is_whole: program.pipes.is_closed(Stream::Out) && !is_cut,
        is_cut,
        stderr: err.kept,
    })
}

struct Watch {
    start: Instant,
    limit: Duration,
    /// True when more output than is kept ends the command.
    is_bounded: bool,
    outputs: [Output; 2],
}

impl Observer for Watch {
    /// Whether it took too long.
    type Reason = bool;

    fn on_output(&mut self, stream: Stream, bytes: &[u8]) -> Result<()> {
        self.outputs[stream as usize].take(bytes)
    }

    fn check(&mut self) -> ControlFlow<bool, Duration> {
        // Elapsed time is compared, because a moment far ahead may not be one that can be named.
        let left = self.limit.saturating_sub(self.start.elapsed());
        let is_over = self.is_bounded && self.outputs[Stream::Out as usize].is_cut();
        if signals::caught_code().is_some() || is_over {
            ControlFlow::Break(false)
        } else if left.is_zero() {
            ControlFlow::Break(true)
        } else {
            ControlFlow::Continue(left.min(POLL_INTERVAL))
        }
    }
}

/// The recorded part of an output.
struct Output {
    hash: Sha256,
    lines: Lines,
    last: VecDeque<String>,
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
            last: VecDeque::new(),
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
            push_last(last, &trim_line(line));
            Ok(())
        })
    }

    fn is_cut(&self) -> bool {
        (self.kept.len() as u64) < self.length
    }

    /// Counts the line that has not ended, because the command may be ended within it, and returns the digest.
    fn end(&mut self) -> String {
        if let Some((line, _)) = self.lines.last_open_line() {
            push_last(&mut self.last, &trim_line(line));
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
        capture(command, limit, 0).unwrap()
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
    fn hanging_command_is_killed_with_its_children() {
        let finished = sh("sleep 300 & sleep 300", Duration::from_millis(100));
        assert_eq!((finished.exit_code, finished.timed_out), (None, true));
    }

    fn is_quick(finished: &Finished) -> bool {
        finished.duration < Duration::from_secs(20)
    }

    #[test]
    fn command_over_output_limit_is_stopped() {
        let mut command = Command::new("sh");
        command.args(["-c", "yes"]).current_dir("/");
        let captured = run_with_input(command, Vec::new(), Duration::from_secs(60), 1_000).unwrap();
        assert_eq!((captured.is_cut, captured.stdout.len()), (true, 1_000));
        assert!(!captured.timed_out && is_quick(&captured));
    }

    #[test]
    fn longest_limit_is_none() {
        let finished = sh("exit 0", Duration::MAX);
        assert_eq!((finished.exit_code, finished.timed_out), (Some(0), false));
    }

    #[test]
    fn exit_of_command_counts_while_others_hold_its_pipes() {
        for left in ["sleep 60 &", "setsid sleep 60 &"] {
            let finished = sh(&format!("{left} echo hi; exit 0"), Duration::from_secs(30));
            assert_eq!((finished.exit_code, finished.timed_out), (Some(0), false));
            assert_eq!(finished.last_lines, ["hi"]);
            assert!(is_quick(&finished), "{left} {finished:?}");
        }
    }

    #[test]
    fn daemon_does_not_extend_limit() {
        let limit = Duration::from_millis(1_500);
        let finished = sh("setsid sleep 60 & printf half; sleep 60", limit);
        assert_eq!((finished.exit_code, finished.timed_out), (None, true));
        assert_eq!(finished.last_lines, ["half"]);
        assert!(is_quick(&finished), "{finished:?}");
    }

    #[test]
    fn closed_pipes_do_not_end_command() {
        let finished = sh("exec >&- 2>&-; exec sleep 60", Duration::from_millis(300));
        assert_eq!((finished.exit_code, finished.timed_out), (None, true));
        assert!(is_quick(&finished), "{finished:?}");
    }

    #[test]
    fn command_that_ignores_sigterm_is_killed() {
        let script = "trap '' TERM; while :; do sleep 60; done";
        let finished = sh(script, Duration::from_millis(300));
        assert_eq!((finished.exit_code, finished.timed_out), (None, true));
        assert!(is_quick(&finished), "{finished:?}");
    }

    #[test]
    fn digest_covers_bytes_that_were_read() {
        let whole = sh("printf half", Duration::from_secs(60));
        let cut = sh("printf half; exec sleep 60", Duration::from_secs(1));
        assert!(cut.timed_out);
        assert_eq!(cut.output_digest, whole.output_digest);
        let other = sh("printf half >&2", Duration::from_secs(60));
        assert_ne!(other.output_digest, whole.output_digest);
    }

    #[test]
    fn stopped_command_has_no_result() {
        let limit = Duration::from_secs(60);
        let words = ["sleep".to_string(), "60".to_string()];
        let run = || run(&words, Path::new("/"), limit, Vec::new());
        let error = signals::run_until(|| true, run).unwrap_err();
        assert_eq!(error.code, Code::Interrupted);
    }

    #[test]
    fn missing_program_has_own_error_code() {
        let words = ["no-such-program-at-all".to_string()];
        let limit = Duration::from_secs(1);
        let error = run(&words, Path::new("/"), limit, Vec::new()).unwrap_err();
        assert_eq!(error.code, Code::ProgramMissing);
    }

    #[test]
    fn command_gets_its_env_and_folder() {
        let words = ["/bin/sh", "-c", "echo \"<$CARGO_PKG_NAME$GIVEN>$PWD\""].map(String::from);
        let environment = vec![("GIVEN".into(), "x".into())];
        let limit = Duration::from_secs(60);
        let finished = run(&words, Path::new("/usr"), limit, environment).unwrap();
        assert_eq!(finished.last_lines, ["<x>/usr"]);
    }
}
