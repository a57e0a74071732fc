//! Runs a command to its end: no shell, its own process group, a time limit, output measured but
//! never kept whole.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use sha2::{Digest, Sha256};

use crate::error::{Code, Error, Result, quote};
use crate::id;

/// How many of the last lines are kept.
const LAST_LINES: usize = 20;
/// Longest part of a line that is kept, in bytes.
const LINE_MAX: u64 = 2_000;
/// How long a command may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(3);

/// What became of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Its exit code; none when a signal ended it.
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration: Duration,
    /// Digest of what it wrote to standard output, then to standard error.
    pub output_digest: String,
    /// The last lines of both, standard error last.
    pub last_lines: Vec<String>,
    /// True when it was ended because it took too long.
    pub timed_out: bool,
}

/// Runs the words of a command in a folder. The first word is a program; nothing is expanded.
pub fn run(words: &[String], folder: &Path, limit: Duration) -> Result<Finished> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(Error::new(Code::Usage, "the command to run is empty"));
    };
    let start = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|cause| not_started(program, cause))?;
    let (ended, wait) = mpsc::channel();
    let stdout = child.stdout.take().map(|pipe| follow(pipe, ended.clone()));
    let stderr = child.stderr.take().map(|pipe| follow(pipe, ended));
    let timed_out = !both_closed(&wait, start, limit);
    let exit_code = if timed_out {
        end(&mut child)
    } else {
        reap(&mut child, start, limit)
    };
    // Nothing that the command left running may outlive it or hold its pipes open.
    signal(&child, Signal::KILL);
    let [out, err] = [stdout, stderr].map(|thread| {
        thread
            .and_then(|thread| thread.join().ok())
            .unwrap_or_default()
    });
    let mut last_lines: Vec<String> = out.lines.into_iter().chain(err.lines).collect();
    last_lines.drain(..last_lines.len().saturating_sub(LAST_LINES));
    let output_digest = id::digest(format!("{}{}", out.digest, err.digest));
    Ok(Finished {
        exit_code,
        duration: start.elapsed(),
        output_digest,
        last_lines,
        timed_out,
    })
}

fn not_started(program: &str, cause: std::io::Error) -> Error {
    let message = format!("`{program}` cannot be started: {cause}");
    let code = match cause.kind() {
        ErrorKind::NotFound => Code::ProgramMissing,
        _ => Code::FileUnreadable,
    };
    Error::new(code, message)
        .fix(format!("command -v {}", quote(program)))
        .because(cause)
}

/// What was read from a pipe.
#[derive(Default)]
struct Followed {
    digest: String,
    lines: VecDeque<String>,
}

/// Reads a pipe to its end on a thread of its own and keeps only a digest and the last lines.
fn follow(
    pipe: impl Read + Send + 'static,
    ended: mpsc::Sender<()>,
) -> thread::JoinHandle<Followed> {
    thread::spawn(move || {
        let mut input = BufReader::new(pipe);
        let (mut hash, mut lines, mut line) = (Sha256::new(), VecDeque::new(), Vec::new());
        while (&mut input)
            .take(LINE_MAX)
            .read_until(b'\n', &mut line)
            .is_ok_and(|read| read > 0)
        {
            hash.update(&line);
            lines.push_back(String::from_utf8_lossy(line.trim_ascii_end()).into_owned());
            if lines.len() > LAST_LINES {
                lines.pop_front();
            }
            line.clear();
        }
        // The receiver is gone when the command took too long; nobody waits then.
        let _ = ended.send(());
        Followed {
            digest: id::hex(&hash.finalize()),
            lines,
        }
    })
}

/// Waits until both pipes are closed; false when the limit came first.
fn both_closed(wait: &mpsc::Receiver<()>, start: Instant, limit: Duration) -> bool {
    (0..2).all(|_| {
        wait.recv_timeout(limit.saturating_sub(start.elapsed()))
            .is_ok()
    })
}

/// Waits for a command that has closed its output, until the limit.
fn reap(child: &mut Child, start: Instant, limit: Duration) -> Option<i32> {
    wait_until(child, start + limit).unwrap_or_else(|| end(child))
}

/// Ends a command: asks its whole group to stop, and after a while makes it.
fn end(child: &mut Child) -> Option<i32> {
    signal(child, Signal::TERM);
    if wait_until(child, Instant::now() + GRACE).is_none() {
        signal(child, Signal::KILL);
        let _ = child.wait();
    }
    None
}

/// Waits for the end of a command until a moment; the outer option says whether it came.
fn wait_until(child: &mut Child, moment: Instant) -> Option<Option<i32>> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.code()),
            Err(_) => return Some(None),
            Ok(None) if Instant::now() >= moment => return None,
            Ok(None) => thread::sleep(Duration::from_millis(5)),
        }
    }
}

fn signal(child: &Child, signal: Signal) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(group) = group {
        // A group that is gone needs no signal.
        let _ = kill_process_group(group, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, limit: Duration) -> Finished {
        let words = ["sh", "-c", script].map(String::from);
        run(&words, Path::new("/"), limit).unwrap()
    }

    #[test]
    fn exit_code_and_last_lines_are_kept() {
        let finished = sh("seq 1 100; echo bad >&2; exit 3", Duration::from_secs(60));
        assert_eq!((finished.exit_code, finished.timed_out), (Some(3), false));
        assert_eq!(finished.last_lines.len(), LAST_LINES);
        assert_eq!(finished.last_lines.last().map(String::as_str), Some("bad"));
        let again = sh("seq 1 100; echo bad >&2; exit 3", Duration::from_secs(60));
        assert_eq!(finished.output_digest, again.output_digest);
    }

    #[test]
    fn a_command_that_hangs_is_ended_with_its_children() {
        let finished = sh("sleep 300 & sleep 300", Duration::from_millis(100));
        assert_eq!((finished.exit_code, finished.timed_out), (None, true));
    }

    #[test]
    fn a_program_that_is_not_there_has_a_code_of_its_own() {
        let words = ["no-such-program-at-all".to_string()];
        let error = run(&words, Path::new("/"), Duration::from_secs(1)).unwrap_err();
        assert_eq!(error.code, Code::ProgramMissing);
    }
}
