//! Claims of tasks, with an epoch and a lease. Pure: the time is a parameter.
//!
//! A claim has one holder until its lease expires. Its epoch grows with each claim of the task, so that a
//! replaced holder is known by its old number.

use std::str::FromStr;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;

/// How far a clock may be behind the beginning of a claim before it counts as set back.
const CLOCK_SLACK: TimeDelta = TimeDelta::minutes(1);
/// Longest lease, in seconds: 30 days.
const LEASE_MAX: u64 = 30 * 86_400;
const END_OF_TIME: &str = "9999-12-31T23:59:59.999Z";

/// The last claim of a task. It stays when the task is free again, because the epoch must only grow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct Claim {
    pub(crate) task: TaskId,
    /// How many times the task has been claimed.
    pub(crate) epoch: u32,
    /// The holder; none when it is free.
    pub(crate) holder: Option<String>,
    /// When it was claimed or, if it is free, given back; RFC 3339 in UTC.
    pub(crate) since: String,
    /// When the lease is over, RFC 3339 in UTC.
    pub(crate) expires: String,
}

impl Claim {
    pub(crate) fn after(
        last: Option<&Claim>,
        task: TaskId,
        holder: &str,
        now: DateTime<Utc>,
        lease: Lease,
    ) -> Result<Claim> {
        let epoch = last.map_or(0, |last| last.epoch).checked_add(1);
        Ok(Claim {
            task,
            epoch: epoch.ok_or_else(|| {
                let message = format!("the last claim of {task} has the highest epoch");
                Error::new(Code::RowDamaged, message).fix(format!("cleo show {task}"))
            })?,
            holder: Some(holder.to_string()),
            since: clock::timestamp(now),
            expires: lease.end(now),
        })
    }

    /// Returns the claim with a lease that lasts at least `lease` from now; it is never shortened.
    pub(crate) fn extend(&self, now: DateTime<Utc>, lease: Lease) -> Claim {
        Claim {
            expires: lease.end(now).max(self.expires.clone()),
            ..self.clone()
        }
    }

    /// Returns the claim without a holder. `now` is RFC 3339 in UTC.
    pub(crate) fn release(&self, now: &str) -> Claim {
        Claim {
            holder: None,
            since: now.to_string(),
            expires: now.to_string(),
            ..self.clone()
        }
    }

    /// Returns who holds the task at `now` (RFC 3339 in UTC); none when it is free or the lease is
    /// over.
    pub(crate) fn live_holder(&self, now: &str) -> Option<&str> {
        self.holder.as_deref().filter(|_| !self.is_over(now))
    }

    pub(crate) fn is_expired(&self, now: &str) -> bool {
        self.holder.is_some() && self.is_over(now)
    }

    // Times are all written alike, so they sort as text.
    fn is_over(&self, now: &str) -> bool {
        self.expires.as_str() <= now
    }

    /// Returns true if the clock was set back since the claim, which makes it meaningless for leases.
    pub(crate) fn is_ahead_of(&self, now: DateTime<Utc>) -> bool {
        // Only where a date has no later minute is there nothing to compare.
        let latest = now.checked_add_signed(CLOCK_SLACK);
        self.holder.is_some() && latest.is_some_and(|latest| self.since > clock::timestamp(latest))
    }
}

/// How long a claim lasts without a heartbeat, in seconds, at most 30 days.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(try_from = "u64")]
#[schemars(extend("minimum" = 1, "maximum" = LEASE_MAX))]
pub(crate) struct Lease {
    pub(crate) seconds: u32,
}

impl Default for Lease {
    fn default() -> Lease {
        Lease { seconds: 3_600 }
    }
}

impl Lease {
    pub(crate) const HELP: &str = "How long the claim lasts without a heartbeat: 90s, 30m, 1h, 2d \
        [default: the setting claims.lease, 1h]";

    /// Makes a lease of so many seconds; none when that is not a lease, such as 0 or more than 30 days.
    pub(crate) fn from_seconds(seconds: u64) -> Option<Lease> {
        let seconds = Some(seconds).filter(|seconds| (1..=LEASE_MAX).contains(seconds))?;
        let seconds = u32::try_from(seconds).ok()?;
        Some(Lease { seconds })
    }

    fn end(self, now: DateTime<Utc>) -> String {
        let end = now.checked_add_signed(TimeDelta::seconds(i64::from(self.seconds)));
        let end = end
            .map(clock::timestamp)
            .filter(|end| end.len() == END_OF_TIME.len());
        end.unwrap_or_else(|| END_OF_TIME.to_string())
    }
}

impl TryFrom<u64> for Lease {
    type Error = String;

    fn try_from(seconds: u64) -> std::result::Result<Lease, String> {
        let wrong = || format!("a lease is {seconds} seconds; it can be 1 second to 30 days");
        Lease::from_seconds(seconds).ok_or_else(wrong)
    }
}

impl FromStr for Lease {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Lease, String> {
        let wrong = || format!("`{text}` is not a lease such as 90s, 30m, 1h or 2d, up to 30d");
        let seconds = clock::duration(text);
        seconds.and_then(Lease::from_seconds).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn claim() -> Claim {
        let now = moment("2026-01-26T09:00:00Z");
        Claim::after(None, TaskId(1), "ada", now, Lease::default()).unwrap()
    }

    #[test]
    fn leases_are_read_in_seconds_minutes_hours_and_days() {
        for (text, seconds) in [
            ("90s", 90),
            ("60s", 60),
            ("30m", 1_800),
            ("1h", 3_600),
            ("0030d", 2_592_000),
            ("2592000s", 2_592_000),
        ] {
            assert_eq!(text.parse::<Lease>().unwrap().seconds, seconds);
        }
        for text in [
            "",
            "1",
            "h",
            "0s",
            "31d",
            "2592001s",
            "-1h",
            "+1h",
            "1.5h",
            "1H",
            "1ä",
            "99999999999999999999s",
            "18446744073709551615d",
        ] {
            assert!(text.parse::<Lease>().is_err(), "{text}");
        }
    }

    #[test]
    fn claim_is_live_until_its_lease_is_over() {
        let claim = claim();
        for (now, holder) in [
            ("2026-01-26T09:00:00.000Z", Some("ada")),
            ("2026-01-26T09:59:59.999Z", Some("ada")),
            ("2026-01-26T10:00:00.000Z", None),
        ] {
            assert_eq!(claim.live_holder(now), holder, "{now}");
            assert_eq!(claim.is_expired(now), holder.is_none(), "{now}");
            assert_eq!(claim.release(now).live_holder(now), None);
            assert!(!claim.release(now).is_expired(now));
        }
    }

    #[test]
    fn epoch_grows_with_each_claim_and_outlives_release() {
        let now = moment("2026-01-26T09:10:00Z");
        let freed = claim().release("2026-01-26T09:05:00.000Z");
        let next = Claim::after(Some(&freed), TaskId(1), "bob", now, Lease::default());
        assert_eq!((claim().epoch, freed.epoch, next.unwrap().epoch), (1, 1, 2));
        let last = Claim {
            epoch: u32::MAX,
            ..freed
        };
        assert!(Claim::after(Some(&last), TaskId(1), "bob", now, Lease::default()).is_err());
    }

    #[test]
    fn lease_is_never_shortened() {
        let now = moment("2026-01-26T09:10:00Z");
        let extended = |lease: &str| claim().extend(now, lease.parse().unwrap()).expires;
        assert_eq!(extended("1m"), "2026-01-26T10:00:00.000Z");
        assert_eq!(extended("1h"), "2026-01-26T10:10:00.000Z");
    }

    #[test]
    fn lease_ends_with_years_that_have_four_digits() {
        let now = moment("9999-12-31T23:30:00Z");
        let claim = Claim::after(None, TaskId(1), "ada", now, Lease::default()).unwrap();
        assert_eq!(claim.expires, END_OF_TIME);
        assert!(!claim.is_ahead_of(now));
    }

    #[test]
    fn clock_more_than_minute_behind_claim_was_set_back() {
        for (now, back) in [
            ("2026-01-26T09:00:00Z", false),
            ("2026-01-26T08:59:00Z", false),
            ("2026-01-26T08:58:59Z", true),
        ] {
            assert_eq!(claim().is_ahead_of(moment(now)), back, "{now}");
            let freed = claim().release("2026-01-26T09:00:00.000Z");
            assert!(!freed.is_ahead_of(moment(now)), "{now}");
        }
    }
}
