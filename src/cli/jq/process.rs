//! The filter process: cleo itself, started with [`ARGUMENT`], because a filter may run for ever
//! and only the system can stop it.

use std::ffi::OsString;
use std::io::{self, BufWriter};
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

use super::{filter, frame};
use crate::error::Code;

/// The first argument of the process; the seconds, the bytes and the filter follow.
pub(super) const ARGUMENT: &str = "--filter-answers";

/// Filters the documents on standard input, if this process was started for that.
pub(in crate::cli) fn serve(arguments: &[OsString]) -> Option<ExitCode> {
    if arguments.get(1)? != ARGUMENT {
        return None;
    }
    let text = |at: usize| arguments.get(at)?.to_str();
    let number = |at| text(at)?.parse().ok();
    let done = match (number(2), number(3), text(4)) {
        (Some(seconds), Some(memory), Some(code)) => {
            answer_documents(&Bounds::begin(seconds, memory), code)
        }
        _ => Ok(false),
    };
    Some(match done {
        Ok(true) => ExitCode::SUCCESS,
        // A caller that has gone needs no reply.
        Ok(false) | Err(_) => ExitCode::from(Code::Usage.exit_code()),
    })
}

/// Answers documents until no more come; false when the filter is faulty.
fn answer_documents(bounds: &Bounds, code: &str) -> io::Result<bool> {
    let (mut input, mut out) = (io::stdin().lock(), BufWriter::new(io::stdout().lock()));
    bounds.next();
    let filter = match filter::compile(code) {
        Ok(filter) => filter,
        Err(fault) => {
            return frame::send(&mut out, frame::FAULTY, fault.as_bytes()).map(|()| false);
        }
    };
    frame::send(&mut out, frame::READY, &[])?;
    while let Some((_, document)) = frame::receive(&mut input)? {
        bounds.next();
        let done = filter::run(&filter, &document, |text| {
            frame::write(&mut out, frame::VALUE, text)
        });
        match done {
            Ok(()) => frame::send(&mut out, frame::END, &[])?,
            Err(message) => frame::send(&mut out, frame::FAILED, message.as_bytes())?,
        }
    }
    Ok(true)
}

/// Limits of this process. Lower limits that it was started with are kept.
struct Bounds {
    seconds: u64,
    started_with: Rlimit,
}

impl Bounds {
    /// Limits the memory, in bytes of address space, and the CPU time for each document, in
    /// seconds. Out of memory, the process aborts without a core dump.
    fn begin(seconds: u64, memory: u64) -> Bounds {
        lower(Resource::Core, 0, &getrlimit(Resource::Core));
        lower(Resource::As, memory, &getrlimit(Resource::As));
        Bounds {
            seconds,
            started_with: getrlimit(Resource::Cpu),
        }
    }

    /// Sets the time limit for the next document, at which SIGXCPU ends the process.
    fn next(&self) {
        let used = clock_gettime(ClockId::ProcessCPUTime).tv_sec;
        let end = u64::try_from(used)
            .unwrap_or(0)
            .saturating_add(self.seconds);
        lower(Resource::Cpu, end, &self.started_with);
    }
}

fn lower(what: Resource, limit: u64, started_with: &Rlimit) {
    let current = started_with.current.map_or(limit, |other| other.min(limit));
    let limit = Rlimit {
        current: Some(current),
        maximum: started_with.maximum,
    };
    // A system without this limit leaves the filter unbounded.
    let _ = setrlimit(what, limit);
}
