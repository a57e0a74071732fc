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

use super::index::{Index, Raw};
use super::order::Order;
use crate::error::{Code, Error, Result};
use crate::run::arrivals::Stream;

/// Longest line of the standard output that a runner hears, in bytes.
pub(super) const LINE_MAX: usize = 1 << 20;
/// Longest line of the standard error that is kept, in bytes, and how many of them.
const COMPLAINT_MAX: (usize, usize) = (2_000, 20);
const CHUNK: usize = 64 * 1024;
const LOOK: Duration = Duration::from_millis(50);

struct Output {
    stream: Stream,
    pipe: Option<OwnedFd>,
    raw: Raw,
    lines: Lines,
}

#[derive(Clone, Copy)]
pub(super) enum Said<'a> {
    Out(&'a str),
    /// On its standard error.
    Err(&'a str),
}

/// The read ends of an agent's output. They are created before it starts, because the order of writes is
/// known only from here on.
pub(super) struct Ends {
    out: OwnedFd,
    err: OwnedFd,
    order: Order,
}

impl Ends {
    /// Connects the output of a command to pipes, which close only once the command is dropped too.
    pub(super) fn lay(command: &mut Command) -> std::io::Result<Ends> {
        let ((out, to_out), (err, to_err)) = (pipe()?, pipe()?);
        command.stdout(to_out).stderr(to_err);
        let [out, err] = [out, err].map(OwnedFd::from);
        let order = Order::of([&out, &err]);
        Ok(Ends { out, err, order })
    }
}

pub(super) struct Pipes {
    out: Output,
    err: Output,
    order: Order,
    index: Index,
    input: Option<ChildStdin>,
    prompt: Vec<u8>,
    written: usize,
    complaints: VecDeque<String>,
    end: Option<OwnedFd>,
    bell: Option<Arc<PipeReader>>,
    chunk: Vec<u8>,
}

impl Pipes {
    pub(super) fn of(
        child: &mut Child,
        ends: Ends,
        prompt: &str,
        [out, err]: [Raw; 2],
        index: Index,
    ) -> Pipes {
        let input = child.stdin.take();
        // A prompt may be longer than a pipe holds, and who does not read it holds up nothing.
        let input = input.filter(|input| rustix::io::ioctl_fionbio(input, true).is_ok());
        Pipes {
            order: ends.order,
            out: Output::new(Stream::Out, ends.out, out, LINE_MAX),
            err: Output::new(Stream::Err, ends.err, err, COMPLAINT_MAX.0),
            index,
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
        for stream in self.order.look() {
            has_said |= match stream {
                Stream::Out if out => {
                    let mut hear = |line: &str| hear(Said::Out(line));
                    self.out.read(&mut self.chunk, &mut self.index, &mut hear)?
                }
                Stream::Err if err => {
                    let complaints = &mut self.complaints;
                    let mut note = |line: &str| {
                        hear(Said::Err(line));
                        complaints.push_back(line.to_string());
                        complaints.drain(..complaints.len().saturating_sub(COMPLAINT_MAX.1));
                    };
                    self.err.read(&mut self.chunk, &mut self.index, &mut note)?
                }
                Stream::Out | Stream::Err => false,
            };
        }
        self.index.settle();
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
        let wait = self.index.wait().map_or(wait, |due| due.min(wait));
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

    /// Passes on unterminated last lines, closes the files, and returns the last lines of standard error.
    pub(super) fn finish(mut self, hear: &mut dyn FnMut(Said<'_>)) -> Result<Vec<String>> {
        self.out.lines.end(&mut |line| hear(Said::Out(line)));
        let complaints = &mut self.complaints;
        self.err.lines.end(&mut |line| {
            hear(Said::Err(line));
            complaints.push_back(line.to_string());
        });
        self.out.end(&mut self.index)?;
        self.err.end(&mut self.index)?;
        Ok(self.complaints.into())
    }
}

impl Output {
    fn new(stream: Stream, pipe: OwnedFd, raw: Raw, line_max: usize) -> Output {
        Output {
            stream,
            pipe: Some(pipe),
            raw,
            lines: Lines::new(line_max),
        }
    }

    fn read(
        &mut self,
        chunk: &mut [u8],
        index: &mut Index,
        hear: &mut dyn FnMut(&str),
    ) -> Result<bool> {
        let Some(pipe) = &self.pipe else {
            return Ok(false);
        };
        match rustix::io::read(pipe, &mut *chunk) {
            Err(Errno::INTR | Errno::AGAIN) => Ok(false),
            Ok(0) | Err(_) => {
                self.pipe = None;
                Ok(false)
            }
            Ok(read) => {
                self.lines.take(&chunk[..read], hear);
                self.keep(&chunk[..read], index).map(|()| true)
            }
        }
    }

    fn keep(&mut self, bytes: &[u8], index: &mut Index) -> Result<()> {
        index.expect();
        self.raw.keep(bytes)?;
        index.note(self.stream, self.raw.size());
        Ok(())
    }

    fn end(&mut self, index: &mut Index) -> Result<()> {
        self.raw.end()?;
        index.note(self.stream, self.raw.size());
        Ok(())
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

pub(super) struct Lines {
    line: Vec<u8>,
    max: usize,
}

impl Lines {
    /// Lines of at most `max` bytes; what a line has beyond that is left out.
    pub(super) fn new(max: usize) -> Lines {
        Lines {
            line: Vec::new(),
            max,
        }
    }

    pub(super) fn take(&mut self, bytes: &[u8], hear: &mut dyn FnMut(&str)) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = part.strip_suffix(b"\n");
            let more = text.unwrap_or(part);
            let room = self.max.saturating_sub(self.line.len()).min(more.len());
            self.line.extend_from_slice(&more[..room]);
            if text.is_some() {
                self.end(hear);
            }
        }
    }

    pub(super) fn end(&mut self, hear: &mut dyn FnMut(&str)) {
        let line = String::from_utf8_lossy(self.line.trim_ascii_end());
        if !line.is_empty() {
            hear(&line);
        }
        self.line.clear();
        // A long line does not keep its room for the short ones that follow.
        self.line.shrink_to(64 * 1024);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(text: &str, size: usize, max: usize) -> Vec<String> {
        let mut lines = Lines::new(max);
        let mut heard = Vec::new();
        let mut hear = |line: &str| heard.push(line.to_string());
        for piece in text.as_bytes().chunks(size) {
            lines.take(piece, &mut hear);
        }
        lines.end(&mut hear);
        heard
    }

    #[test]
    fn lines_are_the_same_however_they_arrive() {
        let text = "one\r\n\ntwo and more\nthree";
        for size in [1, 3, 100] {
            assert_eq!(heard(text, size, 100), ["one", "two and more", "three"]);
            assert_eq!(heard(text, size, 3), ["one", "two", "thr"]);
        }
    }
}
