//! What a command leaves running in groups of its own (`setsid`). On Linux such processes become
//! children of cleo when their parents end, so they can be found and ended; elsewhere they go on.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

/// How long they may take to be gone.
const PATIENCE: Duration = Duration::from_secs(2);
/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// Children that cleo had before a command was started: those are somebody else's.
pub(super) struct Strays {
    before: HashSet<Pid>,
}

impl Strays {
    /// Sees to it that what a command leaves behind comes to cleo. No other command may be started
    /// while it runs.
    pub(super) fn expect() -> Strays {
        adopt();
        Strays { before: children() }
    }

    /// Ends what has come since, with what comes when that ends. The command itself is over.
    pub(super) fn end(&self) {
        let start = Instant::now();
        loop {
            let left: Vec<Pid> = children().difference(&self.before).copied().collect();
            if left.is_empty() || start.elapsed() > PATIENCE {
                return;
            }
            for stray in left {
                // One that has ended meanwhile only waits to be collected.
                let _ = kill_process(stray, Signal::KILL);
                let _ = waitpid(Some(stray), WaitOptions::NOHANG);
            }
            std::thread::sleep(PAUSE);
        }
    }
}

#[cfg(target_os = "linux")]
fn adopt() {
    use rustix::process::{getpid, set_child_subreaper};
    // A system that cannot leaves them to themselves.
    let _ = set_child_subreaper(Some(getpid()));
}

#[cfg(not(target_os = "linux"))]
fn adopt() {}

/// Lists the children of all threads; none where the system does not tell.
fn children() -> HashSet<Pid> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    let lists = threads
        .filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("children")).ok());
    let lists: Vec<String> = lists.collect();
    let words = lists.iter().flat_map(|list| list.split_whitespace());
    words
        .filter_map(|word| Pid::from_raw(word.parse().ok()?))
        .collect()
}
