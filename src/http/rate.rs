//! Rate limits: a token bucket per caller, which holds the calls of ten seconds.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::error::Result;

/// Size of a burst, in seconds of the rate.
const BURST: f64 = 10.0;
/// Maximum number of callers.
const CALLERS_MAX: usize = 10_000;

#[derive(Debug)]
pub(super) struct Rates {
    rate: Option<f64>,
    buckets: Mutex<HashMap<String, Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    calls: f64,
    at: Instant,
}

impl Rates {
    /// Allows a number of calls per second to each caller; `None` is unlimited.
    pub(super) fn new(rate: Option<u32>) -> Rates {
        Rates {
            rate: rate.map(f64::from),
            buckets: Mutex::new(HashMap::new()),
        }
    }

    /// Counts a call of a caller, if there is a limit.
    pub(super) fn count_call(&self, who: &str, now: Instant) -> Result<()> {
        let Some(rate) = self.rate else {
            return Ok(());
        };
        let most = rate * BURST;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= CALLERS_MAX && !buckets.contains_key(who) {
            // A full bucket equals a new one.
            buckets.retain(|_, bucket| bucket.refill(rate, most, now) < most);
            if buckets.len() >= CALLERS_MAX {
                buckets.clear();
            }
        }
        let full = Bucket {
            calls: most,
            at: now,
        };
        let bucket = buckets.entry(who.to_string()).or_insert(full);
        let calls = bucket.refill(rate, most, now);
        let is_allowed = calls >= 1.0;
        // A refused call takes nothing, so that a slightly too fast caller still gets its rate.
        *bucket = Bucket {
            calls: if is_allowed { calls - 1.0 } else { calls },
            at: now,
        };
        if is_allowed {
            return Ok(());
        }
        Err(error!(RateLimited, "more than {rate} calls per second"))
    }
}

impl Bucket {
    fn refill(&self, rate: f64, most: f64, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        (self.calls + passed * rate).min(most)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn ten_seconds_calls_may_come_at_once_and_then_so_many_second() {
        let (rates, now) = (Rates::new(Some(2)), Instant::now());
        let take = |who: &str, after: u64| {
            let now = now + Duration::from_millis(after);
            rates.count_call(who, now).is_ok()
        };
        assert!((0..20).all(|_| take("ann", 0)));
        assert!(!take("ann", 0) && take("bob", 0));
        assert!(take("ann", 600) && !take("ann", 600));
        assert!(Rates::new(None).count_call("", now).is_ok());
    }

    #[test]
    fn excess_calls_do_not_lower_allowed_rate() {
        for (rate, calls, answered) in
            [(5, 4, 4), (5, 5, 5), (5, 7, 5), (5, 50, 5), (100, 150, 100)]
        {
            let (rates, begin) = (Rates::new(Some(rate)), Instant::now());
            let is_answered = |call: &u64| {
                let now = begin + Duration::from_micros(call * 1_000_000 / calls);
                rates.count_call("ann", now).is_ok()
            };
            // The burst is used up in the first fifty seconds.
            for call in 0..50 * calls {
                is_answered(&call);
            }
            let there = (50 * calls..100 * calls).filter(is_answered).count() as u64;
            let most = 50 * answered + 1;
            assert!(
                (most - 2..=most).contains(&there),
                "{rate} {calls}: {there}"
            );
        }
    }
}
