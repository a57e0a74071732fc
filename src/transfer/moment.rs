//! The times of other tools, as RFC 3339 in UTC.

use chrono::NaiveDateTime;

use crate::clock::{parse_moment, timestamp};

/// Forms without a zone, which are taken for UTC.
const FORMS: [&str; 8] = [
    "%Y%m%dT%H%M%SZ",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d %H:%M:%S",
    "%d-%m-%y %H:%M",
    "%d/%m/%y %H:%M",
    "%d.%m.%y %H:%M",
];

/// Reads any time that the formats know: RFC 3339 with any offset, a date, a time without seconds
/// or zone (UTC), Taskwarrior's `20261121T120000Z`, and `21-11-26` with `-`, `/` or `.`.
pub(super) fn read(text: &str) -> Option<String> {
    let text = text.trim();
    let read_form = |text: &str| {
        let mut read = FORMS
            .iter()
            .map(|form| NaiveDateTime::parse_from_str(text, form));
        Some(timestamp(read.find_map(Result::ok)?.and_utc()))
    };
    // Shorter ones lack digits.
    parse_moment(text)
        .or_else(|| read_form(text).filter(|_| text.len() >= 8))
        .or_else(|| read_form(&format!("{text} 00:00")).filter(|_| text.len() == 8))
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
