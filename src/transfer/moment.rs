//! The times of other tools, as RFC 3339 in UTC.

use chrono::{NaiveDate, NaiveDateTime, NaiveTime};

use crate::clock::{parse_moment, timestamp};

/// Forms without a zone, which are taken for UTC.
const TIMES: [&str; 8] = [
    "%Y%m%dT%H%M%SZ",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d %H:%M:%S",
    "%d-%m-%y %H:%M",
    "%d/%m/%y %H:%M",
    "%d.%m.%y %H:%M",
];
const DATES: [&str; 3] = ["%d-%m-%y", "%d/%m/%y", "%d.%m.%y"];

/// Reads any time that the formats know: RFC 3339 with any offset, a date, a time without seconds
/// or zone (UTC), Taskwarrior's `20261121T120000Z`, and `21-11-26` with `-`, `/` or `.`.
pub(super) fn read(text: &str) -> Option<String> {
    let text = text.trim();
    let read_time = |form: &&str| NaiveDateTime::parse_from_str(text, form).ok();
    let read_date = |form: &&str| {
        Some(
            NaiveDate::parse_from_str(text, form)
                .ok()?
                .and_time(NaiveTime::MIN),
        )
    };
    let without_zone = || {
        let mut times = TIMES.iter().filter_map(read_time);
        times.next().or_else(|| DATES.iter().find_map(read_date))
    };
    // Shorter ones lack digits.
    parse_moment(text).or_else(|| {
        let found = without_zone().filter(|_| text.len() >= 8)?;
        Some(timestamp(found.and_utc()))
    })
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn times_of_every_tool_become_rfc_3339() {
        for (text, expected) in [
            ("20261121T120000Z", "2026-11-21T12:00:00.000Z"),
            ("2026-11-21 10:00", "2026-11-21T10:00:00.000Z"),
            ("2026-11-21T10:00:07", "2026-11-21T10:00:07.000Z"),
            ("21/11/26", "2026-11-21T00:00:00.000Z"),
            ("21.11.26 08:30", "2026-11-21T08:30:00.000Z"),
            ("2026-11-21", "2026-11-21T00:00:00.000Z"),
            (
                "2026-01-06T19:14:49.301384-08:00",
                "2026-01-07T03:14:49.301Z",
            ),
        ] {
            assert_eq!(read(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "",
            "soon",
            "20261399T120000Z",
            "1-1-1",
            "2026-11-21 99:00",
            "é",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
