//! Finds and kills descendants that outlive a command, including those in sessions of their own (`setsid`).
//! On Linux orphans are reparented to cleo; elsewhere they live on. Each command has a mark in its
//! environment, which descendants inherit, so of many commands at once each ends only its own. Orphans
//! without a mark that cleo gave (`env -i`) are judged by age: one that is older than every running command
//! belongs to none of them, and the next command that ends, ends it.

use std::fs::{self, File};
use std::io::Read;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpgid, waitpid};

use crate::id;

/// The variable of the mark. A cleo within a marked command extends its mark, so that ending that command
/// ends the inner descendants too.
const MARK: &str = "CLEO_MARK";
/// Longest mark that is extended, in bytes.
const MARK_MAX: usize = 1_000;
/// Most of an environment that is read, in bytes; Linux allows no larger one.
const ENVIRONMENT_MAX: u64 = 8 << 20;
const KILL_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(2);

static RUNNING: Mutex<Vec<(String, u64)>> = Mutex::new(Vec::new());
/// Part of the marks of processes that live on: watchdogs, detached runs, and what git may leave behind.
static KEPT: OnceLock<String> = OnceLock::new();
/// When cleo began to adopt: older children came with the process and are never killed.
static ADOPTING: OnceLock<u64> = OnceLock::new();

pub(super) struct Descendants {
    mark: String,
}

impl Descendants {
    /// Marks a command, and sees to it that what it leaves behind comes to cleo. No other command ends the
    /// descendants of one that is kept.
    pub(super) fn track(command: &mut Command, is_kept: bool) -> Descendants {
        adopt_orphans();
        let kept = is_kept.then(choose_kept_part);
        let mark = mark(
            command,
            &format!("{}{}.", kept.unwrap_or_default(), id::random()),
        );
        // All that the command starts begins after this.
        lock(&RUNNING).push((mark.clone(), read_clock_ticks()));
        Descendants { mark }
    }

    /// Ends the remaining descendants of a command if `ends_marked` is set, orphans that belong to no running
    /// command, and what those leave. The command itself is reaped; `group` is its process group.
    pub(super) fn end_all(&self, group: Pid, ends_marked: bool) {
        // Of commands that end at the same time, the last one has to see that no other runs.
        self.untrack();
        // The mark is read once: it comes and goes while a process becomes another program.
        let is_to_end = |child| match mark_of(child) {
            Some(mark) if mark.starts_with(self.mark.as_bytes()) => ends_marked,
            Some(mark) if is_known(&mark) => false,
            _ => is_unowned(child),
        };
        let start = Instant::now();
        let (mut ending, mut others): (Vec<Pid>, Vec<Pid>) = (Vec::new(), Vec::new());
        loop {
            let is_group_gone = is_group_reaped(group);
            // A dying process has no environment any more, so it is remembered.
            ending.retain(|child| {
                let waited = waitpid(Some(*child), WaitOptions::NOHANG);
                matches!(waited, Ok(None) | Err(Errno::INTR))
            });
            // During exec a process shows no mark, and the list may omit one while another child is reaped, so an
            // empty result is checked twice.
            for _ in 0..2 {
                let is_known = |child: &Pid| ending.contains(child) || others.contains(child);
                let more = children().filter(|child| !is_known(child) && is_to_end(*child));
                let found: Vec<Pid> = more.collect();
                if !found.is_empty() {
                    ending.extend(found);
                    break;
                }
            }
            if (ending.is_empty() && is_group_gone) || start.elapsed() > KILL_TIMEOUT {
                return;
            }
            // A process of another user cannot be killed.
            let is_theirs =
                |child: &mut Pid| kill_process(*child, Signal::KILL) == Err(Errno::PERM);
            others.extend(ending.extract_if(.., is_theirs));
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    fn untrack(&self) {
        lock(&RUNNING).retain(|(mark, _)| *mark != self.mark);
    }
}

impl Drop for Descendants {
    fn drop(&mut self) {
        self.untrack();
    }
}

/// Marks a command that no other command ends.
pub(crate) fn mark_kept(command: &mut Command) {
    mark(command, &choose_kept_part());
}

fn choose_kept_part() -> String {
    format!("{}.", KEPT.get_or_init(id::random))
}

/// Extends the mark of cleo itself by a part for a command, and returns it.
fn mark(command: &mut Command, part: &str) -> String {
    let mark = read_own_mark() + part;
    command.env(MARK, &mark);
    mark
}

fn read_own_mark() -> String {
    let own = std::env::var(MARK).ok();
    own.filter(|own| own.len() <= MARK_MAX).unwrap_or_default()
}

fn lock<T>(list: &Mutex<Vec<T>>) -> MutexGuard<'_, Vec<T>> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether a mark was given by this cleo: any other is as good as none.
fn is_known(mark: &[u8]) -> bool {
    let is_prefix = |known: &str| mark.starts_with(known.as_bytes());
    is_prefix(&(read_own_mark() + &choose_kept_part()))
        || lock(&RUNNING).iter().any(|(known, _)| is_prefix(known))
}

/// Returns true if an orphan without a known mark is older than every running command.
fn is_unowned(child: Pid) -> bool {
    let stat = read_stat(child.as_raw_nonzero().get().unsigned_abs());
    let is_old = |stat: Stat| {
        ADOPTING.get().is_some_and(|since| stat.began >= *since)
            && lock(&RUNNING).iter().all(|(_, begun)| stat.began < *begun)
    };
    stat.is_some_and(is_old)
}

fn mark_of(process: Pid) -> Option<Vec<u8>> {
    let environment = Environment::read(process.as_raw_nonzero().get().unsigned_abs());
    environment.value(MARK).map(<[u8]>::to_vec)
}

/// The variables of a process; none of a process that has ended or belongs to another user.
pub(super) struct Environment(Vec<u8>);

impl Environment {
    pub(super) fn read(process: u32) -> Environment {
        let mut environment = Vec::new();
        let file = File::open(format!("/proc/{process}/environ"));
        let _ = file.and_then(|file| file.take(ENVIRONMENT_MAX).read_to_end(&mut environment));
        Environment(environment)
    }

    pub(super) fn value(&self, name: &str) -> Option<&[u8]> {
        let mut variables = self.0.split(|byte| *byte == 0);
        variables.find_map(|one| one.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
    }
}

/// Reaps the children of a group that have ended; returns whether it has no others.
fn is_group_reaped(group: Pid) -> bool {
    loop {
        match waitpgid(group, WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}

#[cfg(target_os = "linux")]
fn adopt_orphans() {
    // The first process of a container adopts all orphans, also those of others.
    if getpid().as_raw_nonzero().get() > 1 {
        ADOPTING.get_or_init(read_clock_ticks);
    }
    // A system that cannot leaves them to themselves.
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() {}

/// Lists the children of the main thread, which adopts orphans; none where the system does not tell.
fn children() -> impl Iterator<Item = Pid> {
    let name = format!("/proc/self/task/{}/children", getpid().as_raw_nonzero());
    let list = fs::read_to_string(name).unwrap_or_default();
    let children = list.split_whitespace();
    let children = children.filter_map(|word| Pid::from_raw(word.parse().ok()?));
    children.collect::<Vec<Pid>>().into_iter()
}

/// Parts of a second in which the system counts when processes began; the same on all machines that
/// Rust builds for.
const TICKS: u64 = 100;

pub(super) struct Stat {
    pub(super) has_ended: bool,
    pub(super) parent: u32,
    pub(super) group: u32,
    /// How long after the start of the system it began, in ticks.
    pub(super) began: u64,
}

pub(super) fn read_stat(process: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name may hold anything, also brackets and blanks.
    let rest = &text[text.rfind(')')? + 1..];
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let began = fields.nth(16)?.parse().ok()?;
    Some(Stat {
        has_ended: matches!(state, "Z" | "X"),
        parent,
        group,
        began,
    })
}

/// Returns the time in ticks: what begins from now on began no earlier.
#[cfg(target_os = "linux")]
pub(super) fn read_clock_ticks() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let part = now.tv_nsec.unsigned_abs() * TICKS / 1_000_000_000;
    now.tv_sec.unsigned_abs() * TICKS + part
}

/// Returns 0, because no start times are read on this system.
#[cfg(not(target_os = "linux"))]
pub(super) fn read_clock_ticks() -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn start_time_lies_between_ticks_around_it() {
        let before = read_clock_ticks();
        let mut child = Command::new("sleep")
            .arg("60")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let after = read_clock_ticks();
        if let Some(stat) = read_stat(child.id()) {
            assert!((before..=after).contains(&stat.began));
            assert!(!stat.has_ended);
            assert_eq!(
                Some(stat.group),
                read_stat(std::process::id()).map(|own| own.group)
            );
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(read_stat(child.id()).is_none());
    }
}
