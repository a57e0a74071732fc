//! What a command leaves running, also in groups of its own (`setsid`). On Linux such processes
//! become children of cleo when their parents end, so they can be found and ended; elsewhere they go
//! on. Each command has a mark in its environment, which all that it starts inherit: so of many
//! commands at once, each ends its own and no other's.

use std::fs::File;
use std::io::Read;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpgid, waitpid};

use crate::id;

/// The variable that holds the mark. In a cleo that was started by a marked command, marks begin
/// with its own, so that who ends that command ends those of the inner cleo too.
const MARK: &str = "CLEO_MARK";
/// Longest mark that is gone on with, in bytes.
const MARK_MAX: usize = 1_000;
/// Most of an environment that is read, in bytes; Linux allows no larger one.
const ENVIRONMENT_MAX: u64 = 8 << 20;
/// How long they may take to be gone.
const PATIENCE: Duration = Duration::from_secs(2);
/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// The mark of one command.
pub(super) struct Strays {
    mark: String,
}

impl Strays {
    /// Marks a command, and sees to it that what it leaves behind comes to cleo.
    pub(super) fn expect(command: &mut Command) -> Strays {
        adopt();
        let own = std::env::var(MARK).unwrap_or_default();
        let own = Some(own).filter(|own| own.len() <= MARK_MAX);
        let mark = format!("{}{}.", own.unwrap_or_default(), id::random());
        command.env(MARK, &mark);
        Strays { mark }
    }

    /// Ends what is left of the command, with what comes when that ends. The command itself is over
    /// and collected; `group` is its process group.
    pub(super) fn end(&self, group: Pid) {
        let start = Instant::now();
        let mut ending: Vec<Pid> = Vec::new();
        loop {
            let is_group_gone = collect(group);
            // One that dies has no environment any more, so it is remembered.
            ending.retain(|stray| is_child(*stray));
            ending.extend(children().filter(|child| self.is_mine(*child)));
            if (ending.is_empty() && is_group_gone) || start.elapsed() > PATIENCE {
                return;
            }
            for stray in &ending {
                let _ = kill_process(*stray, Signal::KILL);
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn is_mine(&self, process: Pid) -> bool {
        let name = format!("/proc/{}/environ", process.as_raw_nonzero());
        let mut environment = Vec::new();
        // A process that is gone, or somebody else's, tells nothing.
        let file = File::open(name).map(|file| file.take(ENVIRONMENT_MAX));
        let _ = file.and_then(|mut file| file.read_to_end(&mut environment));
        let marked = format!("{MARK}={}", self.mark);
        let mut variables = environment.split(|byte| *byte == 0);
        variables.any(|variable| variable.starts_with(marked.as_bytes()))
    }
}

/// Says whether a process is still a child of cleo; collects it when it has ended.
fn is_child(process: Pid) -> bool {
    matches!(
        waitpid(Some(process), WaitOptions::NOHANG),
        Ok(None) | Err(Errno::INTR)
    )
}

/// Collects what came to cleo of a group and has ended; says whether nothing of it is left here.
fn collect(group: Pid) -> bool {
    loop {
        match waitpgid(group, WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}

#[cfg(target_os = "linux")]
fn adopt() {
    // A system that cannot leaves them to themselves.
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
}

#[cfg(not(target_os = "linux"))]
fn adopt() {}

/// Lists the children of the main thread, to which those come whose parents have ended; none where
/// the system does not tell.
fn children() -> impl Iterator<Item = Pid> {
    let name = format!("/proc/self/task/{}/children", getpid().as_raw_nonzero());
    let list = std::fs::read_to_string(name).unwrap_or_default();
    let children: Vec<Pid> = list
        .split_whitespace()
        .filter_map(|word| Pid::from_raw(word.parse().ok()?))
        .collect();
    children.into_iter()
}
