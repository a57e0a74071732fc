//! `--jq`: a filter for replies. A plain path, such as `.result.tasks[].id`, is evaluated here. Any
//! other filter may run for ever, so a child process applies it, to all replies of a stream, with
//! limits of 10 seconds of CPU time each and 1 GB of memory ([`process`]).

mod filter;
mod frame;
mod process;

use std::cell::RefCell;
use std::io::{self, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use jaq_core::Filter;
use jaq_core::data::JustLut;
use jaq_json::Val;
use rustix::process::Signal;

pub(super) use process::serve;

use super::screen::clean;
use crate::error::{Code, Error, Result};
use crate::runner;

/// CPU time of a filter per reply, in seconds.
const SECONDS: u64 = 10;
/// Memory of a filter, in bytes of address space.
const MEMORY: u64 = 1 << 30;

/// A valid filter.
pub(super) enum Jq {
    Path(Filter<JustLut<Val>>),
    Process(Process),
}

pub(super) struct Process {
    code: String,
    /// `None` after a filter was stopped, until the next reply.
    running: RefCell<Option<Running>>,
}

/// How a filter ended.
pub(super) enum Ended {
    /// Normally.
    Whole,
    /// With this error, after its earlier values were written.
    Failed(String),
}

impl Jq {
    /// Parses a filter; an invalid one is refused with the position.
    pub(super) fn read(code: &str) -> Result<Jq> {
        if let Some(path) = filter::compile_path(code) {
            return Ok(Jq::Path(path));
        }
        let process = Process {
            code: code.to_string(),
            running: RefCell::new(None),
        };
        let started = process.start().map_err(|cause| {
            let message = format!("the process that filters cannot be started: {cause}");
            Error::new(Code::Internal, message).because(cause)
        })?;
        let running = started.map_err(|fault| {
            let message = format!("the filter `{code}` is faulty {fault}");
            Error::new(Code::Usage, message)
        })?;
        process.running.replace(Some(running));
        Ok(Jq::Process(process))
    }

    /// Writes the output of the filter for a JSON document, one value per line, strings without
    /// quotes. On a terminal, control characters are escaped.
    pub(super) fn write(
        &self,
        json: &str,
        out: &mut dyn Write,
        terminal: bool,
    ) -> io::Result<Ended> {
        match self {
            Jq::Path(path) => {
                let mut lost = Ok(());
                let done = filter::run(path, json.as_bytes(), |text| {
                    put(out, text, terminal).map_err(|cause| {
                        let kind = cause.kind();
                        lost = Err(cause);
                        kind.into()
                    })
                });
                lost?;
                Ok(done.map_or_else(Ended::Failed, |()| Ended::Whole))
            }
            Jq::Process(process) => process.write(json, out, terminal),
        }
    }
}

impl Process {
    fn write(&self, json: &str, out: &mut dyn Write, terminal: bool) -> io::Result<Ended> {
        let running = match self.running.take() {
            Some(running) => Ok(running),
            None => self.start()?,
        };
        let mut running = match running {
            Ok(running) => running,
            Err(fault) => return Ok(Ended::Failed(fault)),
        };
        match running.filter(json, |text| put(out, text, terminal))? {
            Some(ended) => {
                self.running.replace(Some(running));
                Ok(ended)
            }
            None => Ok(Ended::Failed(running.cause())),
        }
    }

    /// Starts the process, which reports an invalid filter.
    fn start(&self) -> io::Result<std::result::Result<Running, String>> {
        let mut child = Command::new(runner::find_own_program())
            .arg(process::ARGUMENT)
            .args([SECONDS.to_string(), MEMORY.to_string()])
            .arg(&self.code)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let lost = || io::Error::other("it has no pipes");
        let input = child.stdin.take().ok_or_else(lost)?;
        let output = child.stdout.take().map(BufReader::new).ok_or_else(lost)?;
        let mut running = Running {
            child,
            input,
            output,
        };
        Ok(match frame::receive(&mut running.output)? {
            Some((frame::READY, _)) => Ok(running),
            Some((_, fault)) => Err(String::from_utf8_lossy(&fault).into_owned()),
            None => Err(running.cause()),
        })
    }
}

fn put(out: &mut dyn Write, text: &[u8], terminal: bool) -> io::Result<()> {
    if !terminal {
        return out.write_all(text);
    }
    let text = String::from_utf8_lossy(text);
    for line in text.split_inclusive('\n') {
        writeln!(out, "{}", clean(line.trim_end_matches('\n')))?;
    }
    Ok(())
}

/// A running process.
struct Running {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Running {
    /// Filters one document and passes on each value; `None` if the process has ended.
    fn filter(
        &mut self,
        json: &str,
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<Option<Ended>> {
        match frame::send(&mut self.input, frame::DOCUMENT, json.as_bytes()) {
            // The reason of a process that has ended is read below.
            Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => return Err(cause),
            _ => {}
        }
        loop {
            match frame::receive(&mut self.output)? {
                Some((frame::VALUE, text)) => take(&text)?,
                Some((frame::END, _)) => return Ok(Some(Ended::Whole)),
                Some((_, message)) => {
                    let message = String::from_utf8_lossy(&message).into_owned();
                    return Ok(Some(Ended::Failed(message)));
                }
                None => return Ok(None),
            }
        }
    }

    fn cause(mut self) -> String {
        let mut said = Vec::new();
        if let Some(errors) = self.child.stderr.take() {
            // The process has ended, so its short message is in the pipe.
            let _ = errors.take(4_096).read_to_end(&mut said);
        }
        let status = self.child.wait().unwrap_or_default();
        why(status, &String::from_utf8_lossy(&said))
    }
}

fn why(status: ExitStatus, said: &str) -> String {
    match status.signal() {
        Some(signal) if signal == Signal::XCPU.as_raw() => {
            format!("it took more than {SECONDS} seconds and was ended")
        }
        _ if said.contains("memory allocation") => {
            format!("it needed more than {} MB of memory", MEMORY >> 20)
        }
        _ if said.contains("overflowed its stack") => "it went too deep".to_string(),
        _ => format!("it broke off: {status}"),
    }
}

impl Drop for Running {
    /// Its output is no longer needed.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
