//! The times of other tools, as RFC 3339 in UTC.

use crate::clock::parse_moment;

/// Reads any time that the formats know: RFC 3339 with any offset, a date, a time without seconds
/// or zone (UTC), Taskwarrior's `20261121T120000Z`, and `21-11-26` with `-`, `/` or `.`.
pub(super) fn read(text: &str) -> Option<String> {
    let text = text.trim();
    parse_moment(text)
        .or_else(|| compact(text))
        .or_else(|| without_zone(text))
        .or_else(|| day_first(text))
}

fn compact(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let shaped = bytes.len() == 16 && bytes.is_ascii() && bytes[8] == b'T' && bytes[15] == b'Z';
    if !shaped {
        return None;
    }
    let (date, time) = (&text[..8], &text[9..15]);
    let time = format!("{}:{}:{}", &time[..2], &time[2..4], &time[4..]);
    parse_moment(&format!(
        "{}-{}-{}T{time}Z",
        &date[..4],
        &date[4..6],
        &date[6..]
    ))
}

fn without_zone(text: &str) -> Option<String> {
    let (date, time) = text.split_once([' ', 'T'])?;
    let seconds = if time.len() == 5 { ":00" } else { "" };
    parse_moment(&format!("{date}T{time}{seconds}Z"))
}

fn day_first(text: &str) -> Option<String> {
    let (date, time) = text.split_once(' ').unwrap_or((text, "00:00"));
    let mut parts = date.split(['-', '/', '.']);
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let plain = [day, month, year].iter().all(|part| part.len() == 2);
    if !plain || parts.next().is_some() {
        return None;
    }
    without_zone(&format!("20{year}-{month}-{day} {time}"))
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
