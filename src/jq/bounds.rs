//! What a filter may use: it is a program of a stranger's making as much as of a user's, and one of
//! three words runs for ever.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

/// Bounds of this process. Limits that it was started with are kept where they are lower.
pub(crate) struct Bounds {
    seconds: u64,
    started_with: Rlimit,
}

impl Bounds {
    /// Bounds the memory for good, in bytes of address space, and the time for each document, in
    /// seconds of the processor. Without memory the process aborts, and leaves no image of it.
    pub(crate) fn begin(seconds: u64, memory: u64) -> Bounds {
        lower(Resource::Core, 0, &getrlimit(Resource::Core));
        lower(Resource::As, memory, &getrlimit(Resource::As));
        Bounds {
            seconds,
            started_with: getrlimit(Resource::Cpu),
        }
    }

    /// Gives the next document its time; when it is over, SIGXCPU ends the process.
    pub(crate) fn next(&self) {
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
    // A system that does not know the limit leaves the filter unbounded, which is no reason to fail.
    let _ = setrlimit(what, limit);
}
