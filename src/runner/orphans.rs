//! Ends agents that outlived their cleo. They are found by the ids of run and workspace in their environment,
//! or by their process group with its start time, because a group number alone may have been reused. Linux
//! only; elsewhere nothing is found. And the watchdog that ends a command when cleo is killed.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::descendants::{self, Environment};

pub(crate) const RUN: &str = "CLEO_RUN_ID";
pub(crate) const JUDGE: &str = "CLEO_JUDGE";
/// The variable that names the workspace, or a folder in it.
pub(crate) const ROOT: &str = "CLEO_ROOT";
const KILL_TIMEOUT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Returns when a process began: which start of the system, and how long after it.
pub(crate) fn start_time(process: u32) -> Option<String> {
    static BOOT: LazyLock<Option<String>> =
        LazyLock::new(|| fs::read_to_string("/proc/sys/kernel/random/boot_id").ok());
    let boot = BOOT.as_deref()?;
    let began = descendants::read_stat(process)?.began;
    Some(format!("{}/{began}", boot.trim()))
}

/// Returns the value of a variable with which cleo started the agent of a run that this process belongs to: its shell may
/// have set another one since.
pub(crate) fn find_given(run: &str, name: &str) -> Option<String> {
    let (mut process, mut given) = (std::process::id(), None);
    while let Some(stat) = descendants::read_stat(process).filter(|stat| stat.parent > 1) {
        process = stat.parent;
        let environment = Environment::read(process);
        if environment.value(RUN) == Some(run.as_bytes()) {
            given = environment.value(name).map(<[u8]>::to_vec);
        }
    }
    String::from_utf8(given?).ok()
}

/// Ends the remaining agents of a run in a workspace and returns the number of processes. `groups` are the
/// groups that it started, each with its start time.
pub(crate) fn end_agents_of_run(run: &str, root: &Path, groups: &[(u32, String)]) -> usize {
    let begun = Instant::now();
    let mut ended = 0;
    loop {
        let left = find_processes(run, root, groups);
        ended = ended.max(left.len());
        if left.is_empty() || begun.elapsed() > KILL_TIMEOUT {
            return ended;
        }
        for process in left {
            // It was examined after it was opened, so the number cannot have been reused.
            let _ = pidfd_send_signal(&process, Signal::KILL);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn find_processes(run: &str, root: &Path, groups: &[(u32, String)]) -> Vec<rustix::fd::OwnedFd> {
    let groups = groups.iter();
    let groups = groups.filter(|(group, when)| start_time(*group).as_ref() == Some(when));
    let groups: Vec<u32> = groups.map(|(group, _)| *group).collect();
    let own = std::process::id();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let open = |number: u32| {
        let pid = Pid::from_raw(i32::try_from(number).ok()?)?;
        let process = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        let is_in_group = || {
            let stat = descendants::read_stat(number);
            stat.is_some_and(|stat| !stat.has_ended && groups.contains(&stat.group))
        };
        let is_one = is_of_run(number, run, root) || (!groups.is_empty() && is_in_group());
        is_one.then_some(process)
    };
    numbers
        .filter(|number| *number != own)
        .filter_map(open)
        .collect()
}

fn is_of_run(process: u32, run: &str, root: &Path) -> bool {
    let environment = Environment::read(process);
    // A worker, and a command of a criterion or gate, knows the run only as its judge, and the workspace only by its
    // folder.
    [(RUN, ROOT), (JUDGE, "PWD")].iter().any(|(name, place)| {
        let folder = environment.value(place);
        let folder = folder.map(|folder| Path::new(OsStr::from_bytes(folder)));
        let is_below = folder.is_some_and(|folder| folder.starts_with(root));
        is_below && environment.value(name) == Some(run.as_bytes())
    })
}

const SCRIPT: &str = "read -r group || exit; read -r line; kill -9 -\"$group\"";

/// Ends the group of a command with cleo, until it is dropped.
pub(super) struct Watchdog {
    shell: Option<Child>,
}

impl Watchdog {
    /// Starts the watchdog before the command, so that the command never runs long without it. Without a
    /// shell the command survives a killed cleo.
    pub(super) fn begin() -> Watchdog {
        // In a group of its own it gets no signals of the terminal.
        let mut shell = Command::new("/bin/sh");
        shell.env_clear();
        descendants::mark_kept(&mut shell);
        let shell = shell
            .args(["-c", SCRIPT, "cleo-watchdog"])
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        Watchdog { shell: shell.ok() }
    }

    pub(super) fn take(&mut self, command: &Child) {
        let shell = self.shell.as_mut().and_then(|shell| shell.stdin.as_mut());
        if let Some(input) = shell {
            // Without the shell, the command only survives a killed cleo.
            let _ = writeln!(input, "{}", command.id());
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Some(shell) = &mut self.shell {
            // Killed before its input ends, it ends nothing any more.
            let _ = shell.kill();
            let _ = shell.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn process_is_identified_by_its_start_time() {
        let own = start_time(std::process::id());
        assert_eq!(own, start_time(std::process::id()));
        if own.is_some() {
            assert_eq!(start_time(u32::MAX >> 1), None);
        }
    }

    #[test]
    fn only_processes_of_run_are_killed() {
        let sleeper = |run: &str| {
            let mut command = Command::new("sleep");
            command.arg("60").env(RUN, run).env(ROOT, "/w/x");
            command.stdin(Stdio::null());
            command.spawn().unwrap()
        };
        let run = format!("run_test_{}", std::process::id());
        let (mut ours, mut other) = (sleeper(&run), sleeper(&format!("{run}x")));
        if start_time(ours.id()).is_some() {
            // A program that was only just started has no environment to read yet.
            while !is_of_run(ours.id(), &run, Path::new("/w")) {
                std::thread::sleep(POLL_INTERVAL);
            }
            let wrong = vec![(other.id(), "another start/1".to_string())];
            assert_eq!(end_agents_of_run(&run, Path::new("/w/y"), &wrong), 0);
            assert!(end_agents_of_run(&run, Path::new("/w"), &wrong) >= 1);
            assert!(!ours.wait().unwrap().success());
            assert!(other.try_wait().unwrap().is_none());
        }
        let _ = ours.kill();
        other.kill().unwrap();
        other.wait().unwrap();
    }

    fn sleeper() -> Child {
        let mut command = Command::new("sleep");
        command.arg("60").process_group(0).spawn().unwrap()
    }

    #[test]
    fn command_ends_with_process_that_started_it() {
        let mut sleeper = sleeper();
        let mut watchdog = Watchdog::begin();
        watchdog.take(&sleeper);
        drop(watchdog.shell.as_mut().unwrap().stdin.take());
        assert_eq!(sleeper.wait().unwrap().code(), None);
    }

    #[test]
    fn dropped_watchdog_kills_nothing() {
        let mut sleeper = sleeper();
        let mut watchdog = Watchdog::begin();
        watchdog.take(&sleeper);
        drop(watchdog);
        assert!(sleeper.try_wait().unwrap().is_none());
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
    }
}
