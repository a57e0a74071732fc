//! The client that a message names, also behind a value, where "client 7" may be part of the value.

use std::sync::LazyLock;

use regex::Regex;

use super::{HIDDEN, SEAM, Word, number};
use crate::chat::vocabulary::POLITE;

/// "client 6", "my clientId is 6", "client_id=6", "client #6", … with the little words before it.
static CLIENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?:\b(?:and\s+)?(?:for|of|on|in|from|at|to|with|by)\s+)?(?:\b(?:and\s+)?(?:my|the|our|this)\s+)?\bclient(?:'s|s)?[\s_-]*(?:id\b|id(?:[^a-z]|$))?[\s:=#_-]*(?:\b(?:is|number|no\.?)(?:\s+is)?)?[\s:=#]*([0-9]+)\b",
    )
    .ok()
});

/// A field of text and the sign of its value, behind which "client 7" may be part of the value.
static VALUE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let field =
        "(?:title|heading|header|caption|subtitle|subheading|description|desc|content|text|body)";
    Regex::new(&format!(
        r"\b(?:{field}|rename)\b[^\x02]*?(?:\b(?:to|into|as|is)\b|[=:])|\b(?:titled|called|named)\b|\bwith\s+(?:the\s+)?{field}\b"
    ))
    .ok()
});

/// A client that a text names.
pub(super) struct Named {
    /// Where it stands.
    pub(super) place: Word,
    /// Its number, or what is written in its place.
    pub(super) number: Result<String, String>,
    /// Whether nothing tells it from the end of a value: "title to We love client 7".
    pub(super) is_bare: bool,
}

/// Finds the client that a text names last. One that is part of a value is none.
pub(super) fn named(plain: &str) -> Option<Named> {
    let mut last: Option<Named> = None;
    let (mut from, mut value) = (0, None);
    for found in CLIENT.as_ref()?.captures_iter(plain) {
        let (place, digits) = (found.get(0)?.range(), found.get(1)?.range());
        let answer = plain[from..place.start].rfind(SEAM).map(|at| from + at);
        if let Some(at) = answer {
            value = last.is_some().then_some(at + SEAM.len_utf8());
        }
        let begin = answer.unwrap_or(from);
        let begins = || begins_value(&plain[begin..place.start]).map(|at| begin + at);
        value = value.or_else(begins);
        from = place.end;
        let is_apart = value.is_none() || is_told_apart(plain, &place);
        let is_bare = !is_apart && last.is_none() && ends_value(plain, value, &place);
        if is_apart || is_bare {
            let number = number(plain, digits);
            last = Some(Named {
                place,
                number,
                is_bare,
            });
        }
    }
    last
}

/// Finds where a value begins in a text; what leads to a component is none.
fn begins_value(text: &str) -> Option<usize> {
    let found = VALUE.as_ref()?.find(text)?;
    (!text[found.end()..].contains("component")).then_some(found.end())
}

/// Says whether a client behind a value is written as such, or stands apart from the value.
fn is_told_apart(plain: &str, place: &Word) -> bool {
    let is_behind_quote = plain[..place.start].trim_end().ends_with(HIDDEN);
    is_behind_quote || is_explicit(&plain[place.clone()]) || is_led_to(plain, place)
}

/// Says whether it is written as programs and forms do: "clientId 6", "client: 6", "client #6".
fn is_explicit(written: &str) -> bool {
    let (_, sign) = written.split_once("client").unwrap_or_default();
    sign.contains("id") || sign.contains("is") || sign.contains([':', '=', '#'])
}

/// Says whether a word or a comma leads to a client behind a value, and nothing more is said.
fn is_led_to(plain: &str, place: &Word) -> bool {
    let lead = plain[place.clone()]
        .split_whitespace()
        .find(|word| *word != "and");
    let is_lead = lead.is_some_and(|lead| ["for", "of", "in", "on", "to"].contains(&lead));
    let is_apart = plain[..place.start].trim_end().ends_with([',', ';', SEAM]);
    let rest = plain[place.end..].trim_start();
    let next = rest.split(|c: char| !c.is_alphanumeric()).next();
    let is_end = match next {
        None | Some("and" | "please" | "thanks" | "then" | "now") => true,
        Some("") => !rest.starts_with(['\'', '’', '-']),
        Some("on" | "of" | "in") => rest[2..].trim_start().starts_with("component"),
        Some(_) => false,
    };
    is_end && (is_lead || is_apart)
}

/// Says whether a client is the end of a text, or of an answer, with something of the value before it.
fn ends_value(plain: &str, value: Option<usize>, place: &Word) -> bool {
    let before = value.and_then(|from| plain.get(from..place.start));
    let rest = plain[place.end..].split(SEAM).next().unwrap_or_default();
    let mut words = rest.split([' ', '\t', '\n', '.', ',', '!', '?']);
    let is_end = words.all(|word| word.is_empty() || POLITE.contains(&word));
    is_end && before.is_some_and(|before| !before.trim().is_empty())
}
