//! Prints what it takes to route messages in process; see `benches/routing.rs`.

use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};

/// CPU time of this process, in microseconds: other work on the machine does not count.
fn cpu() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID);
    time.map_or(0.0, |time| time.num_nanoseconds() as f64 / 1e3)
}

fn main() {
    cleo::routing::print(cpu);
}
