//! Starts and supervises programs, agents and commands alike: no shell, a process group of their own, one thread for
//! each that reads its outputs and stops it with SIGTERM and, after a grace period, SIGKILL.
//!
//! The exit of the program itself counts. Its descendants get a short time to flush their pipes; then its
//! group and daemonized descendants (`descendants`) are killed where the system can find them.

use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::descendants::Descendants;
use super::pipes::Pipes;
use super::signals;
use crate::error::{Code, Error, Result, catch_panic};
use crate::run::log::Stream;

/// How long a program may take to end after it was asked to.
const GRACE: Duration = Duration::from_millis(2_500);
/// How long pipes may stay open after the program has ended.
const PIPE_DRAIN_TIMEOUT: Duration = Duration::from_millis(500);
/// How often to check whether a program that was asked to end has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Decides what becomes of a program while it runs.
pub(super) trait Observer {
    /// Why a program is ended.
    type Reason;

    /// Takes what it wrote.
    fn on_output(&mut self, stream: Stream, bytes: &[u8]) -> Result<()>;

    /// Returns why it is to be ended now, or after which time to ask again.
    fn check(&mut self) -> ControlFlow<Self::Reason, Duration>;
}

pub(super) struct Program {
    pub(super) child: Child,
    pub(super) pipes: Pipes,
    descendants: Descendants,
}

impl Program {
    /// Starts a program in a process group of its own. Other commands end none of its daemons if they are kept.
    pub(super) fn start(
        command: &mut Command,
        input: Option<Vec<u8>>,
        keeps_daemons: bool,
    ) -> Result<Program> {
        let descendants = Descendants::track(command, keeps_daemons);
        let stdin = input.as_ref().map_or_else(Stdio::null, |_| Stdio::piped());
        command
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.process_group(0).spawn().map_err(|cause| {
            let program = command.get_program().to_string_lossy();
            let message = format!("`{program}` cannot be started: {cause}");
            let code = match cause.kind() {
                ErrorKind::NotFound | ErrorKind::InvalidFilename => Code::ProgramMissing,
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
            let reason = self.observe_until_exit(observer)?;
            match reason {
                Some(_) => self.end(observer)?,
                None => self.pipes.drain(PIPE_DRAIN_TIMEOUT, observer)?,
            }
            Ok(reason)
        });
        // Nothing that it left running may outlive it, nor may it continue unsupervised.
        self.signal(Signal::KILL);
        let reason = ended??;
        if reason.is_some() {
            self.pipes.drain(PIPE_DRAIN_TIMEOUT, observer)?;
        }
        Ok(reason)
    }

    fn observe_until_exit<O: Observer>(&mut self, observer: &mut O) -> Result<Option<O::Reason>> {
        loop {
            if self.has_exited() {
                return Ok(None);
            }
            match observer.check() {
                ControlFlow::Break(reason) => return Ok(Some(reason)),
                ControlFlow::Continue(wait) => self.pipes.serve(wait, observer)?,
            }
        }
    }

    /// Asks the group to stop, and serves it for the grace period.
    fn end<O: Observer>(&mut self, observer: &mut O) -> Result<()> {
        self.signal(Signal::TERM);
        // A stopped process receives nothing else.
        self.signal(Signal::CONT);
        let asked = Instant::now();
        while !self.has_exited() && asked.elapsed() < GRACE && !signals::is_force_requested() {
            self.pipes.serve(POLL_INTERVAL, observer)?;
        }
        Ok(())
    }

    /// Reaps a program and returns its exit code; none when a signal ended it.
    pub(super) fn reap(&mut self) -> Option<i32> {
        self.child.wait().ok()?.code()
    }

    /// Ends what it left behind, its daemons only with `ends_marked`. It was reaped before.
    pub(super) fn end_descendants(&self, ends_marked: bool) {
        self.descendants
            .end_all(Pid::from_child(&self.child), ends_marked);
    }

    /// Returns true if the program has exited, without reaping it: until then its number cannot be reused by
    /// another group, which a signal would hit.
    fn has_exited(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let child = WaitId::Pid(Pid::from_child(&self.child));
        !matches!(waitid(child, look), Ok(None))
    }

    fn signal(&self, signal: Signal) {
        // A group that has ended needs no signal.
        let _ = kill_process_group(Pid::from_child(&self.child), signal);
    }
}
