//! The pipes of a program, served by the thread that supervises it. The thread sleeps until one of them is ready, or
//! the program has exited.

use std::io::{ErrorKind, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ChildStdin};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Pid;

use super::supervise::Observer;
use crate::error::{Code, Error, Result};
use crate::run::log::Stream;

const CHUNK: usize = 64 * 1024;
/// Longest wait where the system does not report the exit of a program.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

pub(super) struct Pipes {
    outputs: [(Stream, Option<OwnedFd>); 2],
    stdin: Option<ChildStdin>,
    input: Vec<u8>,
    /// How many bytes of the input are written.
    written: usize,
    exit: Option<OwnedFd>,
    chunk: Vec<u8>,
}

impl Pipes {
    pub(super) fn new(child: &mut Child, input: Vec<u8>) -> Pipes {
        let stdin = child.stdin.take();
        Pipes {
            outputs: [
                (Stream::Out, child.stdout.take().map(OwnedFd::from)),
                (Stream::Err, child.stderr.take().map(OwnedFd::from)),
            ],
            // The input may be longer than a pipe holds, and a program that does not read it blocks nothing.
            stdin: stdin.filter(|stdin| rustix::io::ioctl_fionbio(stdin, true).is_ok()),
            input,
            written: 0,
            exit: exit_of(Pid::from_child(child)),
            chunk: vec![0; CHUNK],
        }
    }

    pub(super) fn is_closed(&self, stream: Stream) -> bool {
        self.outputs[stream as usize].1.is_none()
    }

    /// Waits for at most `wait`, writes input and passes on what the program wrote.
    pub(super) fn serve(&mut self, wait: Duration, observer: &mut impl Observer) -> Result<()> {
        let [out, err, input, _] = self.poll(wait)?;
        if input {
            self.write();
        }
        for (is_ready, (stream, output)) in [out, err].into_iter().zip(&mut self.outputs) {
            let Some(pipe) = output.as_ref().filter(|_| is_ready) else {
                continue;
            };
            match rustix::io::read(pipe, &mut *self.chunk) {
                Err(Errno::INTR | Errno::AGAIN) => {}
                Ok(0) | Err(_) => *output = None,
                Ok(read) => observer.on_output(*stream, &self.chunk[..read])?,
            }
        }
        Ok(())
    }

    /// Passes on the rest of a program that has exited, until its outputs are closed or the limit is over:
    /// other processes may still hold them.
    pub(super) fn drain(&mut self, limit: Duration, observer: &mut impl Observer) -> Result<()> {
        // It would be ready all the time.
        self.exit = None;
        self.stdin = None;
        let begun = Instant::now();
        while self.outputs.iter().any(|(_, pipe)| pipe.is_some()) && begun.elapsed() < limit {
            self.serve(limit.saturating_sub(begun.elapsed()), observer)?;
        }
        Ok(())
    }

    /// Waits until something is ready: the outputs, the input, the exit of the program.
    fn poll(&self, wait: Duration) -> Result<[bool; 4]> {
        let wait = match self.exit {
            Some(_) => wait,
            None => wait.min(POLL_INTERVAL),
        };
        let [out, err] = [0, 1].map(|which| self.outputs[which].1.as_ref().map(AsFd::as_fd));
        let wanted = [
            (out, PollFlags::IN),
            (err, PollFlags::IN),
            (self.stdin.as_ref().map(AsFd::as_fd), PollFlags::OUT),
            (self.exit.as_ref().map(AsFd::as_fd), PollFlags::IN),
        ];
        let open = wanted.iter().filter_map(|(fd, flags)| {
            let fd = fd.as_ref()?;
            Some(PollFd::from_borrowed_fd(*fd, *flags))
        });
        let mut open: Vec<PollFd<'_>> = open.collect();
        match poll(&mut open, Timespec::try_from(wait).ok().as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(cause) => {
                let message = "the output of a program cannot be waited for";
                let cause = std::io::Error::from(cause);
                return Err(Error::new(Code::Internal, message).because(cause));
            }
        }
        let mut ready = open.iter().map(|fd| !fd.revents().is_empty());
        Ok(wanted.map(|(fd, _)| fd.is_some() && ready.next() == Some(true)))
    }

    fn write(&mut self) {
        let Some(stdin) = &mut self.stdin else { return };
        match stdin.write(&self.input[self.written..]) {
            Ok(written) => self.written += written,
            Err(cause)
                if matches!(cause.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                return;
            }
            // The program does not read the rest.
            Err(_) => self.written = self.input.len(),
        }
        if self.written == self.input.len() {
            self.stdin = None;
        }
    }
}

/// Returns what is readable once a process has exited.
#[cfg(target_os = "linux")]
fn exit_of(process: Pid) -> Option<OwnedFd> {
    use rustix::process::{PidfdFlags, pidfd_open};
    pidfd_open(process, PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn exit_of(_process: Pid) -> Option<OwnedFd> {
    None
}
