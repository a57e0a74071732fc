//! What a caller wants to read: the ranges of types in its header `Accept`, with their weights. Of those
//! that take a type in, the one that names it most closely says how much it is wanted.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT;

/// The weight of what comes without one, in thousandths.
const WHOLE: u16 = 1_000;

/// Says whether a caller would rather read one type than another: which has more weight, and of equal
/// weights which is named more closely. Who takes anything prefers neither.
pub(super) fn prefers(headers: &HeaderMap, one: &str, other: &str) -> bool {
    wish(headers, one) > wish(headers, other)
}

/// Returns how much a type is wanted and how closely it is named; none where it is not taken.
fn wish(headers: &HeaderMap, kind: &str) -> Option<(u16, u8)> {
    let values = headers.get_all(ACCEPT).into_iter();
    let values = values.filter_map(|value| value.to_str().ok());
    let ranges = values.flat_map(|value| value.split(','));
    let (closeness, weight) = ranges.filter_map(|range| taken(range, kind)).max()?;
    (weight > 0).then_some((weight, closeness))
}

/// Returns how closely a range names a type, and its weight; none where it names others.
fn taken(range: &str, kind: &str) -> Option<(u8, u16)> {
    let mut parts = range.split(';').map(str::trim);
    let closeness = closeness(parts.next()?, kind)?;
    let weight = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        let is_weight = name.trim().eq_ignore_ascii_case("q");
        is_weight.then_some(value.trim())
    });
    Some((closeness, weight.and_then(thousandths).unwrap_or(WHOLE)))
}

fn closeness(range: &str, kind: &str) -> Option<u8> {
    let (family, _) = kind.split_once('/')?;
    match range.split_once('/')? {
        ("*", "*") => Some(0),
        (there, "*") => there.eq_ignore_ascii_case(family).then_some(1),
        _ => range.eq_ignore_ascii_case(kind).then_some(2),
    }
}

/// Reads a weight such as `0.8`; none where it is not one.
fn thousandths(weight: &str) -> Option<u16> {
    let (whole, rest) = weight.split_once('.').unwrap_or((weight, ""));
    let digits: String = rest.chars().chain(std::iter::repeat('0')).take(3).collect();
    match (whole, digits.parse::<u16>().ok()?) {
        ("0", part) => Some(part),
        ("1", 0) => Some(WHOLE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn prefers_json(accepted: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for one in accepted {
            headers.append(ACCEPT, HeaderValue::from_str(one).unwrap());
        }
        prefers(&headers, "application/json", "text/html")
    }

    #[test]
    fn the_type_with_more_weight_is_preferred_and_of_equals_the_one_that_is_named() {
        for (accepted, is_json) in [
            ("application/json", true),
            ("APPLICATION/JSON ; Q=0.1", true),
            ("application/*", true),
            ("application/json, text/plain, */*", true),
            ("text/html;q=0.1, application/json", true),
            ("text/html;q=0.123,application/json;q=0.124", true),
            ("text/html;level=1;q=0.5, application/json;q=0.50", false),
            ("*/*;q=0.9, text/*;q=0.1", true),
            ("text/html;q=0, */*", true),
            ("application/json;q=0, application/*", false),
            ("application/json;q=0", false),
            ("application/json;q=0.000", false),
            ("text/html, application/json", false),
            ("text/html, application/json;q=0.9", false),
            ("text/html,application/xhtml+xml,*/*;q=0.8", false),
            ("text/*, application/json;q=0.5", false),
            ("*/*", false),
            ("image/png", false),
            ("application/jsonp", false),
            ("", false),
            (",;q=1,/", false),
            ("application/json;q=high", true),
        ] {
            assert_eq!(prefers_json(&[accepted]), is_json, "{accepted}");
        }
        assert!(!prefers_json(&[]));
        assert!(prefers_json(&["text/html;q=0.2", "application/json"]));
    }
}
