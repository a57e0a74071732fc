//! Whether and when a request is sent again. Pure.

use std::time::Duration;

use chrono::{DateTime, Utc};

/// The first pause; each next one is twice as long.
const FIRST: Duration = Duration::from_millis(500);
/// Longest pause that nobody asked for.
const LONGEST: Duration = Duration::from_secs(20);

/// Says whether a status means that the same request may well succeed later.
pub fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 409 | 429) || (500..=599).contains(&status)
}

/// Says how long to pause before a request is sent again. The pauses grow, and differ by chance, so
/// that many who failed together do not come back together. `chance` is any number.
pub fn pause(attempt: u32, asked: Option<Duration>, chance: u32) -> Duration {
    let share = f64::from(chance) / f64::from(u32::MAX);
    match asked {
        // Not sooner than the server asks.
        Some(asked) => asked.saturating_add(FIRST.mul_f64(share / 5.0)),
        None => {
            let full = FIRST
                .saturating_mul(2_u32.saturating_pow(attempt))
                .min(LONGEST);
            full.mul_f64(0.5 + share / 2.0)
        }
    }
}

/// Reads a Retry-After: seconds, or a date. One that is neither is none; more seconds than there is
/// time are all of it.
pub fn retry_after(text: &str, now: DateTime<Utc>) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        let asked = Duration::try_from_secs_f64(seconds.max(0.0));
        return (!seconds.is_infinite()).then(|| asked.unwrap_or(Duration::MAX));
    }
    let then = DateTime::parse_from_rfc2822(text).ok()?.to_utc();
    Some((then - now).to_std().unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_bound_and_never_undercut_the_server() {
        let chances = [0, 1, u32::MAX / 2, u32::MAX];
        for (attempt, most) in [(0, 500), (1, 1_000), (2, 2_000), (9, 20_000), (99, 20_000)] {
            for chance in chances {
                let pause = pause(attempt, None, chance).as_millis() as u64;
                assert!(
                    (most / 2..=most).contains(&pause),
                    "{attempt} {chance}: {pause}"
                );
            }
        }
        for chance in chances {
            let asked = Duration::from_secs(7);
            let pause = pause(3, Some(asked), chance);
            assert!(pause >= asked && pause <= asked + Duration::from_millis(100));
        }
        assert_eq!(pause(0, Some(Duration::MAX), u32::MAX), Duration::MAX);
    }

    #[test]
    fn what_passes_is_tried_again_and_nothing_else() {
        for status in [408, 409, 429, 500, 502, 503, 504, 529, 599] {
            assert!(is_passing(status), "{status}");
        }
        for status in [200, 201, 301, 400, 401, 403, 404, 413, 422, 600, 0] {
            assert!(!is_passing(status), "{status}");
        }
    }

    #[test]
    fn a_server_asks_for_seconds_or_names_a_date() {
        let now = DateTime::parse_from_rfc3339("2015-10-21T07:27:30Z")
            .unwrap()
            .to_utc();
        for (text, expected) in [
            ("30", Some(30_000)),
            (" 1.5 ", Some(1_500)),
            ("0", Some(0)),
            ("-7", Some(0)),
            ("Wed, 21 Oct 2015 07:28:00 GMT", Some(30_000)),
            ("Wed, 21 Oct 2015 07:00:00 GMT", Some(0)),
            ("soon", None),
            ("", None),
            ("NaN", Some(0)),
            ("1e999", None),
        ] {
            let found = retry_after(text, now).map(|time| time.as_millis() as u64);
            assert_eq!(found, expected, "{text}");
        }
        let longest = retry_after("99999999999999999999", now);
        assert_eq!(longest, Some(Duration::MAX));
    }
}
