//! The bounds of a run. Pure.

use std::collections::BTreeMap;
use std::time::Duration;

/// First pause after too many requests; each one after it is twice as long.
const PAUSE: Duration = Duration::from_secs(2);
/// Longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(300);
/// Longest pause that a server may ask for: who wants to be left alone for longer is tried again when the
/// run is gone on with, and holds up nothing until then.
const ASKED_MAX: Duration = Duration::from_secs(3_600);
/// How often a step is tried again after too many requests.
const PAUSES: u32 = 8;

#[derive(Clone, Debug)]
pub(super) struct Rules {
    /// Most steps that are under way at a time.
    pub(super) jobs: usize,
    /// Most steps of a runner that are under way at a time, by its place.
    pub(super) runner_jobs: BTreeMap<usize, usize>,
    /// How often each step may be mended.
    pub(super) repairs: u32,
    /// What all may cost in US dollars; what is under way then is let go on.
    pub(super) max_cost: Option<f64>,
    /// Begin nothing more after a failure.
    pub(super) fail_fast: bool,
}

/// Says how long to wait after too many requests, for the `number`th time (from 0); none when it is
/// time to give up, also because the server wants to be left alone for too long. Who is asked to wait waits no shorter. Steps are spread a little, so that they do
/// not all come back at once.
pub(super) fn pause(number: u32, asked: Option<Duration>, step: usize) -> Option<Duration> {
    if number >= PAUSES || asked.is_some_and(|asked| asked > ASKED_MAX) {
        return None;
    }
    let own = PAUSE * 2u32.saturating_pow(number);
    let spread = u32::try_from(step % 8).unwrap_or(0);
    let wait = own + own * spread / 16;
    Some(wait.min(PAUSE_MAX).max(asked.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_bound_and_end() {
        let seconds = |number| pause(number, None, 0).map(|wait| wait.as_secs());
        assert_eq!([0, 1, 2, 7].map(seconds), [2, 4, 8, 256].map(Some));
        assert_eq!(seconds(8), None);
    }

    #[test]
    fn whoever_is_asked_to_wait_waits_no_shorter() {
        let asked = Some(Duration::from_secs(30));
        assert_eq!(pause(0, asked, 3), asked);
        let long = Some(Duration::from_secs(5 * 3_600));
        assert_eq!(pause(0, long, 0), None, "nobody waits for hours");
        let short = Some(Duration::from_secs(1));
        assert!(pause(0, short, 0) > short);
        assert!(pause(0, None, 1) > pause(0, None, 0));
    }
}
