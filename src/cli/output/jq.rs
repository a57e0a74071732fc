//! `--jq`: a filter for replies. A plain path, such as `.result.tasks[].id`, is evaluated here. Any other filter may run
//! for ever, so cleo starts itself as a child process, which applies it to all replies of a stream, with limits of
//! 10 seconds of CPU time each and 1 GB of memory.
//!
//! The process reads documents and says in JSON what it made of them.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, BufReader, BufWriter, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};

use jaq_core::Filter;
use jaq_core::data::JustLut;
use jaq_json::Val;
use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use serde_json::de::{Deserializer, IoRead, StreamDeserializer};
use serde_json::value::RawValue;

use super::filter;
use crate::cli::screen::clean;
use crate::error::{Code, Error, Result};
use crate::runner;

/// Answers of the process: first whether the filter is valid, then of each document the values and the end.
#[derive(Serialize, Deserialize)]
enum Said {
    Ready,
    /// The filter is not valid: the position.
    Faulty(String),
    Value(String),
    End,
    Failed(String),
}

fn say(out: &mut impl Write, said: &Said) -> io::Result<()> {
    Ok(serde_json::to_writer(out, said)?)
}

/// CPU time of a filter per reply, in seconds.
const SECONDS: u64 = 10;
/// Memory of a filter, in bytes of address space.
const MEMORY: u64 = 1 << 30;

pub(super) enum Jq {
    Path(Filter<JustLut<Val>>),
    Process(RefCell<Process>),
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
        let started = Process::start(code).map_err(|cause| {
            let message = format!("the process that filters cannot be started: {cause}");
            Error::new(Code::Internal, message).because(cause)
        })?;
        let process =
            started.map_err(|fault| error!(Usage, "the filter `{code}` is faulty {fault}"))?;
        Ok(Jq::Process(RefCell::new(process)))
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
                    write_text(out, text, terminal).map_err(|cause| {
                        let kind = cause.kind();
                        lost = Err(cause);
                        kind.into()
                    })
                });
                lost?;
                Ok(done.map_or_else(Ended::Failed, |()| Ended::Whole))
            }
            Jq::Process(process) => process
                .borrow_mut()
                .filter(json, |text| write_text(out, text, terminal)),
        }
    }
}

/// The process that applies a filter.
pub(super) struct Process {
    child: Child,
    input: ChildStdin,
    output: StreamDeserializer<'static, IoRead<BufReader<ChildStdout>>, Said>,
}

impl Process {
    /// Starts the process, which reports an invalid filter.
    fn start(code: &str) -> io::Result<std::result::Result<Process, String>> {
        let mut command = Command::new(runner::find_own_program());
        command.arg(ARGUMENT).arg(code).env_clear();
        // It filters the events of a run, whose commands end.
        runner::mark_kept(&mut command);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let lost = || io::Error::other("it has no pipes");
        let input = child.stdin.take().ok_or_else(lost)?;
        let output = BufReader::new(child.stdout.take().ok_or_else(lost)?);
        let mut process = Process {
            child,
            input,
            output: Deserializer::from_reader(output).into_iter(),
        };
        Ok(match process.output.next() {
            Some(Ok(Said::Faulty(fault))) => Err(fault),
            Some(Ok(_)) => Ok(process),
            _ => Err(process.explain_end()),
        })
    }

    /// Filters one document and passes on each value.
    fn filter(
        &mut self,
        json: &str,
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<Ended> {
        match writeln!(self.input, "{json}") {
            // The reason of a process that has ended is read below.
            Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => return Err(cause),
            _ => {}
        }
        loop {
            match self.output.next() {
                Some(Ok(Said::Value(text))) => take(text.as_bytes())?,
                Some(Ok(Said::Failed(message))) => return Ok(Ended::Failed(message)),
                Some(Ok(_)) => return Ok(Ended::Whole),
                // A torn answer is of a process that has ended.
                _ => return Ok(Ended::Failed(self.explain_end())),
            }
        }
    }

    fn explain_end(&mut self) -> String {
        let status = self.child.wait().unwrap_or_default();
        if status.signal() == Some(Signal::XCPU.as_raw()) {
            return format!("it took more than {SECONDS} seconds and was ended");
        }
        let megabytes = MEMORY >> 20;
        format!("it needed more than {megabytes} MB of memory, or went too deep ({status})")
    }
}

impl Drop for Process {
    /// Its output is no longer needed.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn write_text(out: &mut dyn Write, text: &[u8], terminal: bool) -> io::Result<()> {
    if !terminal {
        return out.write_all(text);
    }
    let text = String::from_utf8_lossy(text);
    for line in text.split_inclusive('\n') {
        writeln!(out, "{}", clean(line.trim_end_matches('\n')))?;
    }
    Ok(())
}

/// The first argument of the process; the filter follows.
const ARGUMENT: &str = "--filter-answers";

/// Filters the documents on standard input, if this process was started for that.
pub(in crate::cli) fn serve(arguments: &[OsString]) -> Option<ExitCode> {
    if arguments.get(1)? != ARGUMENT {
        return None;
    }
    let code = arguments.get(2).and_then(|code| code.to_str());
    // A caller that has gone needs no reply.
    let is_done = answer_documents(code?).unwrap_or(false);
    Some(match is_done {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(Code::Usage.exit_code()),
    })
}

/// Answers documents until no more come; false when the filter is faulty.
fn answer_documents(code: &str) -> io::Result<bool> {
    let mut out = BufWriter::new(io::stdout().lock());
    let bounds = Bounds::begin();
    bounds.next();
    let filter = match filter::compile(code) {
        Ok(filter) => filter,
        Err(fault) => {
            say(&mut out, &Said::Faulty(fault))?;
            return out.flush().map(|()| false);
        }
    };
    say(&mut out, &Said::Ready)?;
    out.flush()?;
    let documents = Deserializer::from_reader(io::stdin().lock());
    for document in documents.into_iter::<Box<RawValue>>() {
        bounds.next();
        let done = filter::run(&filter, document?.get().as_bytes(), |text| {
            let text = String::from_utf8_lossy(text).into_owned();
            say(&mut out, &Said::Value(text))
        });
        say(&mut out, &done.map_or_else(Said::Failed, |()| Said::End))?;
        out.flush()?;
    }
    Ok(true)
}

/// Limits of this process. Lower limits that it was started with are kept.
struct Bounds {
    started_with: Rlimit,
}

impl Bounds {
    /// Limits the memory. Out of memory, the process aborts without a core dump.
    fn begin() -> Bounds {
        lower_limit(Resource::Core, 0, &getrlimit(Resource::Core));
        lower_limit(Resource::As, MEMORY, &getrlimit(Resource::As));
        Bounds {
            started_with: getrlimit(Resource::Cpu),
        }
    }

    /// Sets the time limit for the next document, at which SIGXCPU ends the process.
    fn next(&self) {
        let used = clock_gettime(ClockId::ProcessCPUTime).tv_sec;
        let end = u64::try_from(used).unwrap_or(0).saturating_add(SECONDS);
        lower_limit(Resource::Cpu, end, &self.started_with);
    }
}

fn lower_limit(what: Resource, limit: u64, started_with: &Rlimit) {
    let current = started_with.current.map_or(limit, |other| other.min(limit));
    let limit = Rlimit {
        current: Some(current),
        maximum: started_with.maximum,
    };
    // A system without this limit leaves the filter unbounded.
    let _ = setrlimit(what, limit);
}
