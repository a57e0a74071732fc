//! What the system tells of a process: its state, its group, and when it began. Only Linux tells.

use std::fs;

/// Parts of a second in which the system counts when processes began; the same on all machines that
/// Rust builds for.
const TICKS: u64 = 100;

pub(super) struct Stat {
    pub(super) has_ended: bool,
    pub(super) group: u32,
    /// How long after the start of the system it began, in ticks.
    pub(super) began: u64,
}

pub(super) fn read(process: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name may hold anything, also brackets and blanks.
    let rest = &text[text.rfind(')')? + 1..];
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    let group = fields.nth(1)?.parse().ok()?;
    let began = fields.nth(16)?.parse().ok()?;
    Some(Stat {
        has_ended: matches!(state, "Z" | "X"),
        group,
        began,
    })
}

/// Returns the time in ticks: what begins from now on began no earlier.
#[cfg(target_os = "linux")]
pub(super) fn now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let part = now.tv_nsec.unsigned_abs() * TICKS / 1_000_000_000;
    now.tv_sec.unsigned_abs() * TICKS + part
}

/// Returns the time in ticks, which nothing is compared with where nothing tells when it began.
#[cfg(not(target_os = "linux"))]
pub(super) fn now() -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn what_begins_between_two_moments_began_between_them() {
        let before = now();
        let mut child = Command::new("sleep")
            .arg("60")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let after = now();
        if let Some(stat) = read(child.id()) {
            assert!((before..=after).contains(&stat.began));
            assert!(!stat.has_ended);
            assert_eq!(
                Some(stat.group),
                read(std::process::id()).map(|own| own.group)
            );
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(read(child.id()).is_none());
    }
}
