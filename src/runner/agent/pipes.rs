//! The three pipes of an agent, served by the thread that runs it, which sleeps until one is ready or the
//! agent has exited; and the bell that wakes all such threads.

use std::collections::VecDeque;
use std::io::{ErrorKind, PipeReader, PipeWriter, Write, pipe};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, ChildStdin, Command};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Pid;

use super::log::Log;
use crate::error::{Code, Error, Result};
use crate::run::log::{LINE_MAX, Stream};

/// Longest line of the standard error that counts as a complaint, in bytes, and how many do.
const COMPLAINT_MAX: (usize, usize) = (2_000, 20);
const CHUNK: usize = 64 * 1024;
const LOOK: Duration = Duration::from_millis(50);

struct Output {
    stream: Stream,
    pipe: Option<OwnedFd>,
    lines: Lines,
}

#[derive(Clone, Copy)]
pub(super) enum Said<'a> {
    Out(&'a str),
    /// On its standard error.
    Err(&'a str),
}

/// The read ends of the two outputs of an agent.
pub(super) type Ends = [OwnedFd; 2];

/// Connects the outputs of a command to pipes, which close only once the command is dropped too.
pub(super) fn lay(command: &mut Command) -> std::io::Result<Ends> {
    let ((out, to_out), (err, to_err)) = (pipe()?, pipe()?);
    command.stdout(to_out).stderr(to_err);
    Ok([out, err].map(OwnedFd::from))
}

pub(super) struct Pipes {
    out: Output,
    err: Output,
    log: Log,
    input: Option<ChildStdin>,
    prompt: Vec<u8>,
    written: usize,
    complaints: VecDeque<String>,
    end: Option<OwnedFd>,
    bell: Option<Arc<PipeReader>>,
    chunk: Vec<u8>,
}

impl Pipes {
    pub(super) fn new(child: &mut Child, [out, err]: Ends, prompt: &str, log: Log) -> Pipes {
        let input = child.stdin.take();
        // A prompt may be longer than a pipe holds, and who does not read it holds up nothing.
        let input = input.filter(|input| rustix::io::ioctl_fionbio(input, true).is_ok());
        let output = |stream, pipe| Output {
            stream,
            pipe: Some(pipe),
            lines: Lines::default(),
        };
        Pipes {
            out: output(Stream::Out, out),
            err: output(Stream::Err, err),
            log,
            input,
            prompt: prompt.as_bytes().to_vec(),
            written: 0,
            complaints: VecDeque::new(),
            end: end_of(Pid::from_child(child)),
            bell: listen(),
            chunk: vec![0; CHUNK],
        }
    }

    pub(super) fn are_closed(&self) -> bool {
        self.out.pipe.is_none() && self.err.pipe.is_none()
    }

    /// Waits for at most `wait` and serves the ready pipes, passing on lines of both. Returns true if the
    /// agent wrote anything.
    pub(super) fn serve(&mut self, wait: Duration, hear: &mut dyn FnMut(Said<'_>)) -> Result<bool> {
        let [out, err, input, _, rung] = self.ready(wait)?;
        if rung {
            self.bell = listen();
        }
        if input {
            self.write();
        }
        let mut has_said = false;
        for (is_ready, output) in [(out, &mut self.out), (err, &mut self.err)] {
            if is_ready {
                let stream = output.stream;
                let (log, complaints) = (&mut self.log, &mut self.complaints);
                has_said |= output.read(&mut self.chunk, &mut |line, beyond| {
                    keep(log, complaints, stream, (line, beyond), hear)
                })?;
            }
        }
        self.log.flush()?;
        Ok(has_said)
    }

    /// Serves the outputs of an agent that has ended: others may still write to them.
    pub(super) fn drain(&mut self, wait: Duration, hear: &mut dyn FnMut(Said<'_>)) -> Result<()> {
        self.input = None;
        // It would be ready all the time.
        self.end = None;
        self.bell = None;
        self.serve(wait, hear).map(drop)
    }

    fn ready(&self, wait: Duration) -> Result<[bool; 5]> {
        let wait = match self.end {
            Some(_) => wait,
            None => wait.min(LOOK),
        };
        let out = self.out.pipe.as_ref().map(AsFd::as_fd);
        let err = self.err.pipe.as_ref().map(AsFd::as_fd);
        let input = self.input.as_ref().map(AsFd::as_fd);
        let end = self.end.as_ref().map(AsFd::as_fd);
        let wanted = [
            (out, PollFlags::IN),
            (err, PollFlags::IN),
            (input, PollFlags::OUT),
            (end, PollFlags::IN),
            (self.bell.as_ref().map(AsFd::as_fd), PollFlags::IN),
        ];
        look(wanted, wait)
    }

    fn write(&mut self) {
        let Some(input) = &mut self.input else { return };
        match input.write(&self.prompt[self.written..]) {
            Ok(written) => self.written += written,
            Err(cause)
                if matches!(cause.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                return;
            }
            // It does not want the rest.
            Err(_) => self.written = self.prompt.len(),
        }
        if self.written == self.prompt.len() {
            self.input = None;
        }
    }

    /// Passes on unterminated last lines, ends the log, and returns the last lines of standard error.
    pub(super) fn finish(mut self, hear: &mut dyn FnMut(Said<'_>)) -> Result<Vec<String>> {
        for output in [self.out, self.err] {
            let (log, complaints) = (&mut self.log, &mut self.complaints);
            if let Some((line, beyond)) = output.lines.rest() {
                keep(log, complaints, output.stream, (&line, beyond), hear)?;
            }
        }
        self.log.end()?;
        Ok(self.complaints.into())
    }
}

/// Keeps a line, with how many bytes it lacks, in the log, and passes it on unless it is blank.
fn keep(
    log: &mut Log,
    complaints: &mut VecDeque<String>,
    stream: Stream,
    (line, beyond): (&[u8], usize),
    hear: &mut dyn FnMut(Said<'_>),
) -> Result<()> {
    let text = String::from_utf8_lossy(line);
    log.add(stream, text.strip_suffix('\r').unwrap_or(&text), beyond)?;
    let said = text.trim_ascii_end();
    match stream {
        _ if said.is_empty() => {}
        Stream::Out => hear(Said::Out(said)),
        Stream::Err => {
            let said = &said[..said.floor_char_boundary(COMPLAINT_MAX.0)];
            hear(Said::Err(said));
            complaints.push_back(said.to_string());
            complaints.drain(..complaints.len().saturating_sub(COMPLAINT_MAX.1));
        }
    }
    Ok(())
}

/// Takes a line, and how many bytes of it were left out.
type Take<'a> = dyn FnMut(&[u8], usize) -> Result<()> + 'a;

impl Output {
    fn read(&mut self, chunk: &mut [u8], take: &mut Take<'_>) -> Result<bool> {
        let Some(pipe) = &self.pipe else {
            return Ok(false);
        };
        match rustix::io::read(pipe, &mut *chunk) {
            Err(Errno::INTR | Errno::AGAIN) => Ok(false),
            Ok(0) | Err(_) => {
                self.pipe = None;
                Ok(false)
            }
            Ok(read) => self.lines.split(&chunk[..read], take).map(|()| true),
        }
    }
}

fn look(wanted: [(Option<BorrowedFd<'_>>, PollFlags); 5], wait: Duration) -> Result<[bool; 5]> {
    let open = wanted.iter().filter_map(|(fd, flags)| {
        let fd = fd.as_ref()?;
        Some(PollFd::from_borrowed_fd(*fd, *flags))
    });
    let mut open: Vec<PollFd<'_>> = open.collect();
    let wait = Timespec::try_from(wait).ok();
    match poll(&mut open, wait.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(cause) => {
            let message = "an agent's output cannot be waited for";
            return Err(Error::new(Code::Internal, message).because(std::io::Error::from(cause)));
        }
    }
    let mut looked = open.iter().map(|fd| !fd.revents().is_empty());
    Ok(wanted.map(|(fd, _)| fd.is_some() && looked.next() == Some(true)))
}

#[cfg(target_os = "linux")]
fn end_of(process: Pid) -> Option<OwnedFd> {
    use rustix::process::{PidfdFlags, pidfd_open};
    pidfd_open(process, PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn end_of(_process: Pid) -> Option<OwnedFd> {
    None
}

static BELL: Mutex<Option<(Arc<PipeReader>, PipeWriter)>> = Mutex::new(None);

pub(crate) fn wake() {
    let bell = BELL.lock().unwrap_or_else(PoisonError::into_inner).take();
    drop(bell);
}

/// Returns a pipe that is readable once the bell rings, or `None` where there can be no pipe.
pub(super) fn listen() -> Option<Arc<PipeReader>> {
    let mut bell = BELL.lock().unwrap_or_else(PoisonError::into_inner);
    if bell.is_none() {
        let (ear, rope) = std::io::pipe().ok()?;
        *bell = Some((Arc::new(ear), rope));
    }
    bell.as_ref().map(|(ear, _)| Arc::clone(ear))
}

/// A line of at most [`LINE_MAX`] bytes that has not ended.
#[derive(Default)]
struct Lines {
    line: Vec<u8>,
    /// How many bytes it has beyond that.
    beyond: usize,
}

impl Lines {
    fn split(&mut self, bytes: &[u8], take: &mut Take<'_>) -> Result<()> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = part.strip_suffix(b"\n");
            let more = text.unwrap_or(part);
            let room = LINE_MAX.saturating_sub(self.line.len()).min(more.len());
            self.line.extend_from_slice(&more[..room]);
            self.beyond += more.len() - room;
            if text.is_some() {
                take(&self.line, self.beyond)?;
                self.beyond = 0;
                self.line.clear();
                // A long line does not keep its room for the short ones that follow.
                self.line.shrink_to(64 * 1024);
            }
        }
        Ok(())
    }

    fn rest(self) -> Option<(Vec<u8>, usize)> {
        (!self.line.is_empty()).then_some((self.line, self.beyond))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_however_they_arrive() {
        let long = "x".repeat(LINE_MAX + 3);
        let text = format!("one\r\n\n{long}\nthree");
        for size in [1, 3, 100] {
            let (mut lines, mut taken) = (Lines::default(), Vec::new());
            for piece in text.as_bytes().chunks(size) {
                let take = &mut |line: &[u8], beyond| {
                    taken.push((line.len(), beyond));
                    Ok(())
                };
                lines.split(piece, take).unwrap();
            }
            assert_eq!(taken, [(4, 0), (0, 0), (LINE_MAX, 3)]);
            assert_eq!(lines.rest(), Some((b"three".to_vec(), 0)));
        }
    }
}
