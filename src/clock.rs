//! Time as a parameter: rules never read a clock themselves.

use std::time::SystemTime;

use chrono::{DateTime, Datelike, NaiveDate, SecondsFormat, TimeDelta, Utc};

use crate::error::{Code, Error, Result};

/// How much the time of a file may lag behind, in milliseconds: the longest tick of a system.
const TICK_MS: i64 = 10;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Clock {
    System,
    /// Always the same moment (`CLEO_NOW`), for reproducible runs.
    Fixed(DateTime<Utc>),
}

impl Clock {
    /// Reads the value of `CLEO_NOW`; none means the machine's clock.
    pub(crate) fn from_setting(value: Option<&str>) -> Result<Clock> {
        let Some(text) = value else {
            return Ok(Clock::System);
        };
        moment(text).map(Clock::Fixed).ok_or_else(|| {
            let message = format!(
                "CLEO_NOW is `{text}`: not an RFC 3339 time such as 2026-01-26T09:00:00Z \
                 in the years 0000 to 9999"
            );
            Error::new(Code::ConfigInvalid, message).fix("unset CLEO_NOW")
        })
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        match self {
            Clock::System => Utc::now(),
            Clock::Fixed(moment) => *moment,
        }
    }

    /// Returns the moment as RFC 3339 in UTC with milliseconds, such as `2026-01-26T09:00:00.000Z`.
    pub(crate) fn timestamp(&self) -> String {
        timestamp(self.now())
    }

    /// Returns the elapsed milliseconds, rounded up; constant under a fixed clock.
    pub(crate) fn elapsed_ms(&self, since: std::time::Instant) -> u64 {
        match self {
            Clock::Fixed(_) => 1,
            Clock::System => {
                let micros = since.elapsed().as_micros().max(1);
                u64::try_from(micros.div_ceil(1_000)).unwrap_or(u64::MAX)
            }
        }
    }

    /// Returns the date in UTC as `2026-01-26`.
    pub(crate) fn date(&self) -> String {
        self.now().format("%Y-%m-%d").to_string()
    }
}

/// Writes a moment as RFC 3339 in UTC with milliseconds.
pub(crate) fn timestamp(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Returns whether `text` is a real calendar date written `YYYY-MM-DD`.
pub(crate) fn is_date(text: &str) -> bool {
    // Asked for each line of a manifest, so not left to the general parser of formats.
    let [a, b, c, d, b'-', e, f, b'-', g, h] = *text.as_bytes() else {
        return false;
    };
    let digits = [a, b, c, d, e, f, g, h].map(|byte| u32::from(byte.wrapping_sub(b'0')));
    let number = |digits: &[u32]| digits.iter().fold(0, |number, digit| 10 * number + digit);
    let [year, month, day] = [&digits[..4], &digits[4..6], &digits[6..]].map(number);
    let date = i32::try_from(year).map(|year| NaiveDate::from_ymd_opt(year, month, day));
    digits.iter().all(|digit| *digit < 10) && date.is_ok_and(|date| date.is_some())
}

/// Returns whether `text` is a date or an RFC 3339 time.
pub(crate) fn is_moment(text: &str) -> bool {
    is_date(text) || moment(text).is_some()
}

/// Reads a date or an RFC 3339 time and returns it as RFC 3339 in UTC; a bare date is its midnight.
pub(crate) fn parse_moment(text: &str) -> Option<String> {
    if is_date(text) {
        return Some(format!("{text}T00:00:00.000Z"));
    }
    // A text that cleo wrote is not written again.
    let is_ours = text.len() == 24 && text.as_bytes()[10] == b'T' && text.ends_with('Z');
    match moment(text)? {
        _ if is_ours => Some(text.to_string()),
        moment => Some(timestamp(moment)),
    }
}

/// Parses a past time: a date, a time, or an age such as `90m`, `12h`, `30d` or `2w` before `now`. Returns
/// RFC 3339 in UTC.
pub(crate) fn parse_past(text: &str, now: DateTime<Utc>) -> Option<String> {
    parse_moment(text).or_else(|| {
        let age = TimeDelta::try_seconds(duration(text)?.try_into().ok()?)?;
        let then = now.checked_sub_signed(age)?;
        (0..=9999).contains(&then.year()).then(|| timestamp(then))
    })
}

/// Reads a moment in the past: a date, a time or an age.
pub(crate) fn past(text: &str, now: DateTime<Utc>) -> Result<String> {
    parse_past(text, now).ok_or_else(|| {
        let message = format!(
            "`{text}` is not a date such as 2026-01-26, a time or an age such as 12h or 30d"
        );
        Error::new(Code::InputInvalid, message)
    })
}

/// Returns how many milliseconds lie between two RFC 3339 times; none when the second one is earlier.
pub(crate) fn between_ms(from: &str, to: &str) -> Option<u64> {
    let passed = moment(to)? - moment(from)?;
    u64::try_from(passed.num_milliseconds()).ok()
}

/// Returns the moment one millisecond after an RFC 3339 time; any other text is returned unchanged.
pub(crate) fn next_millisecond(text: &str) -> String {
    let next = moment(text).and_then(|at| at.checked_add_signed(TimeDelta::milliseconds(1)));
    next.filter(|next| next.year() <= 9999)
        .map_or_else(|| text.to_string(), timestamp)
}

/// Returns an RFC 3339 time in milliseconds since 1970.
pub(crate) fn unix_ms(text: &str) -> Option<i64> {
    moment(text).map(|moment| moment.timestamp_millis())
}

/// Reads a duration such as `90s`, `10m`, `1h`, `30d` or `2w`, in seconds.
pub(crate) fn duration(text: &str) -> Option<u64> {
    const UNITS: [(char, u64); 5] = [
        ('s', 1),
        ('m', 60),
        ('h', 3_600),
        ('d', 86_400),
        ('w', 604_800),
    ];
    let count = |(unit, seconds)| Some((text.strip_suffix(unit)?.trim_end(), seconds));
    let (count, seconds) = UNITS.into_iter().find_map(count)?;
    let is_whole = count.bytes().all(|byte| byte.is_ascii_digit());
    let count: u64 = count.parse().ok().filter(|_| is_whole)?;
    count.checked_mul(seconds)
}

/// Returns whether a file was last written before a moment. Compares in whole milliseconds, as a spawn is recorded. A file
/// written right after it may have an earlier time: the system takes it from a clock that moves once a tick.
pub(crate) fn is_older(modified: Option<SystemTime>, moment: &str) -> bool {
    let (Some(modified), Ok(moment)) = (modified, DateTime::parse_from_rfc3339(moment)) else {
        return false;
    };
    let written = DateTime::<Utc>::from(modified).timestamp_millis();
    written + TICK_MS < moment.timestamp_millis()
}

/// Reads an RFC 3339 time. Its year must have four digits in UTC too, or it could not be written
/// as one and would not sort among the others.
fn moment(text: &str) -> Option<DateTime<Utc>> {
    let moment = DateTime::parse_from_rfc3339(text).ok()?.to_utc();
    (0..=9999).contains(&moment.year()).then_some(moment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_file_lags_tick_at_most() {
        let spawned = "2026-01-26T09:00:00.010Z";
        for (at, older) in [("00.011", false), ("00.000", false), ("59.999", true)] {
            let minute = if older { "08:59" } else { "09:00" };
            let at = format!("2026-01-26T{minute}:{at}Z");
            let at = DateTime::parse_from_rfc3339(&at).unwrap();
            assert_eq!(is_older(Some(at.into()), spawned), older, "{at}");
        }
    }

    #[test]
    fn only_real_dates_are_dates() {
        for (text, expected) in [
            ("2026-01-26", true),
            ("2024-02-29", true),
            ("2026-02-29", false),
            ("2026-13-01", false),
            ("2026-1-26", false),
            ("26-01-2026", false),
            ("+026-01-26", false),
            ("", false),
        ] {
            assert_eq!(is_date(text), expected, "{text}");
        }
    }

    #[test]
    fn moments_are_kept_in_utc() {
        let expected = Some("2026-01-26T08:00:00.000Z".to_string());
        assert_eq!(parse_moment("2026-01-26T09:00:00+01:00"), expected);
        assert_eq!(
            parse_moment("2026-01-26"),
            Some("2026-01-26T00:00:00.000Z".to_string())
        );
        assert_eq!(parse_moment("tomorrow"), None);
    }

    #[test]
    fn past_is_moment_or_age() {
        let now = moment("2026-01-31T12:00:00Z").unwrap();
        for (text, expected) in [
            ("2026-01-26", Some("2026-01-26T00:00:00.000Z")),
            ("90m", Some("2026-01-31T10:30:00.000Z")),
            ("12h", Some("2026-01-31T00:00:00.000Z")),
            ("30d", Some("2026-01-01T12:00:00.000Z")),
            ("2w", Some("2026-01-17T12:00:00.000Z")),
            ("30s", Some("2026-01-31T11:59:30.000Z")),
            ("", None),
            ("d", None),
            ("30", None),
            ("-3d", None),
            ("3 days", None),
            ("3ä", None),
            ("4294967295w", None),
        ] {
            assert_eq!(parse_past(text, now).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn years_have_four_digits_in_utc_too() {
        for text in ["9999-12-31T23:59:59-01:00", "0000-01-01T00:00:00+01:00"] {
            assert_eq!(parse_moment(text), None, "{text}");
            assert!(!is_moment(text), "{text}");
            let refused = Clock::from_setting(Some(text)).unwrap_err();
            assert_eq!(refused.code, Code::ConfigInvalid, "{text}");
        }
        assert!(is_moment("9999-12-31T23:59:59Z") && is_moment("0000-01-01T00:00:00Z"));
    }

    #[test]
    fn fixed_clock_stands_still() {
        let clock = Clock::from_setting(Some("2026-01-26T09:00:00Z")).unwrap();
        assert_eq!(clock.timestamp(), "2026-01-26T09:00:00.000Z");
        assert_eq!(clock.date(), "2026-01-26");
        assert_eq!(
            Clock::from_setting(Some("now")).unwrap_err().code,
            Code::ConfigInvalid
        );
    }
}
