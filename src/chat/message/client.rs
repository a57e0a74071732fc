//! The client that a message names, also behind a value, where "client 7" may be part of the value.

use std::sync::LazyLock;

use regex::Regex;

use super::{HIDDEN, SEAM, Word, number};
use crate::chat::vocabulary::{ARTICLES, PHRASES, POLITE, component_type};

/// "client 6", "my clientId is 6", "client_id=6", "client #6", … with the little words before it.
static CLIENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?:\b(?:and\s+)?(?:for|of|on|in|from|at|to|with|by)\s+)?(?:\b(?:and\s+)?(?:my|the|our|this)\s+)?\bclient(?:'s|s)?[\s_-]*(?:id\b|id(?:[^a-z]|$))?[\s:=#_-]*(?:\b(?:is|number|no\.?)(?:\s+is)?)?[\s:=#]*([0-9]+)\b",
    )
    .ok()
});

/// ", 7" or "and client 7" behind a client.
static MORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:,\s*and\b|,|\band\b|&|\bor\b)\s*(client\s*)?#?[0-9]+\b").ok()
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
    /// Whether the same request, and no answer that follows it, names another client as well.
    pub(super) is_of_several: bool,
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
        let is_apart = match value {
            Some(_) => is_told_apart(plain, &place),
            None => !is_value(plain, &place),
        };
        let is_bare = !is_apart && last.is_none() && is_in_doubt(plain, value, &place);
        if is_apart || is_bare {
            let number = number(plain, digits);
            let before = last
                .take()
                .filter(|named| !named.is_bare && answer.is_none());
            let differs = |before: Named| before.is_of_several || before.number != number;
            let is_of_several = before.is_some_and(differs) || leads_to_more(plain, &place);
            last = Some(Named {
                place,
                number,
                is_bare,
                is_of_several,
            });
        }
    }
    last
}

/// Says whether another client is listed behind one: "clients 6 and 7", "client 6 and client 7".
fn leads_to_more(plain: &str, place: &Word) -> bool {
    let found = MORE
        .as_ref()
        .and_then(|more| more.captures(&plain[place.end..]));
    let is_plural = plain[place.clone()].contains("clients");
    found.is_some_and(|found| is_plural || found.get(1).is_some())
}

/// Returns the place of a client with what stands around it and belongs to no value: blanks, brackets
/// and, where nothing else follows, signs and politeness.
pub(super) fn surrounded(plain: &str, place: &Word) -> Word {
    let (before, rest) = (&plain[..place.start], &plain[place.end..]);
    let (mut before, mut rest) = (before.trim_end(), rest.trim_start());
    let open = before.strip_suffix(['(', '[']);
    if let (Some(outer), Some(behind)) = (open, rest.strip_prefix([')', ']'])) {
        (before, rest) = (outer.trim_end(), behind.trim_start());
    }
    let end = plain.len() - rest.len();
    let tail = rest.split(SEAM).next().unwrap_or_default();
    match says_nothing(tail) {
        true => without_please(before).len()..end + tail.len(),
        false => before.len()..end,
    }
}

/// Says whether a text holds only signs and politeness.
fn says_nothing(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    let is_polite = words.all(|word| word.is_empty() || POLITE.contains(&word));
    is_polite && !text.contains(['=', '"', '\'']) && !text.contains(HIDDEN)
}

/// Takes a "please" off the end of a text where commas stand around it.
fn without_please(text: &str) -> &str {
    let last = text
        .strip_suffix(',')
        .and_then(|text| text.rsplit_once(','));
    let polite = last.filter(|(_, word)| ["please", "thanks"].contains(&word.trim()));
    polite.map_or(text, |(before, _)| before)
}

/// Finds where a value begins in a text; what leads to a component is none.
fn begins_value(text: &str) -> Option<usize> {
    let found = VALUE.as_ref()?.find(text)?;
    (!text[found.end()..].contains("component")).then_some(found.end())
}

/// Says whether a client behind a value is its end, and written as such or apart from the value.
fn is_told_apart(plain: &str, place: &Word) -> bool {
    let is_apart =
        is_behind_quote(plain, place) || is_explicit(plain, place) || is_led_to(plain, place);
    is_apart && is_end(plain, place)
}

/// Says whether a client is itself what a text is to become: "title to client 7".
fn is_value(plain: &str, place: &Word) -> bool {
    let field = last_word(&plain[..place.start]);
    let is_text = PHRASES
        .iter()
        .any(|(words, path)| *words == [field] && path.starts_with("props."));
    lead(plain, place) == "to" && is_text && component_type(field).is_none()
}

/// Says whether a client may be the end of a value as well as the client that is meant.
fn is_in_doubt(plain: &str, value: Option<usize>, place: &Word) -> bool {
    let Some(from) = value else {
        return is_end(plain, place);
    };
    let before = plain.get(from..place.start).unwrap_or_default();
    let is_led = ["of", "in", "on", "to"].contains(&lead(plain, place));
    let sign = sign(plain, place);
    let is_marked = is_led || sign.contains('#') || sign.contains("is");
    let is_last = ends_text(plain, place) || is_marked && is_end(plain, place);
    is_last && !before.trim().is_empty()
}

/// Says whether all of a value stands in quotes right before a client: `title to "Hi" client 6`.
fn is_behind_quote(plain: &str, place: &Word) -> bool {
    let before = plain[..place.start].trim_end();
    let sign = before.trim_end_matches(HIDDEN).trim_end();
    let word = last_word(sign);
    let is_sign = sign.ends_with(['=', ':']) || ["to", "into", "as", "is"].contains(&word);
    before.ends_with(HIDDEN) && (is_sign || names_field(word))
}

/// Says whether it is written as programs and forms do: "clientId 6", "client: 6", "client=6".
fn is_explicit(plain: &str, place: &Word) -> bool {
    let sign = sign(plain, place);
    sign.contains("id") || sign.contains([':', '='])
}

/// Returns what stands behind the word `client`, with its number.
fn sign<'a>(plain: &'a str, place: &Word) -> &'a str {
    let written = &plain[place.clone()];
    let (_, sign) = written.split_once("client").unwrap_or_default();
    sign
}

/// Says whether a word or a comma leads from a value to a client. Other little words than `for` may
/// be part of the value, as in "Welcome to client 7".
fn is_led_to(plain: &str, place: &Word) -> bool {
    let before = plain[..place.start].trim_end();
    lead(plain, place) == "for" || before.ends_with([',', ';', SEAM])
}

/// Returns the first word of what names a client; it may lead to it.
fn lead<'a>(plain: &'a str, place: &Word) -> &'a str {
    let mut words = plain[place.clone()].split_whitespace();
    words.find(|word| *word != "and").unwrap_or_default()
}

/// Says whether no more of a value follows a client.
fn is_end(plain: &str, place: &Word) -> bool {
    let rest = plain[place.end..].trim_start();
    let mut words = rest.split(|c: char| !c.is_alphanumeric());
    let next = words.next().unwrap_or_default();
    let after = rest[next.len()..].trim_start();
    match next {
        "" => !rest.starts_with(['\'', '’', '-']) && !rest.starts_with(HIDDEN),
        "and" | "please" | "thank" | "thanks" | "then" | "now" => true,
        "on" | "of" | "in" | "for" => after.starts_with("component"),
        "with" => words
            .find(|word| !ARTICLES.contains(word))
            .is_some_and(names_field),
        _ => false,
    }
}

/// Says whether a client is the end of a text, or of an answer.
fn ends_text(plain: &str, place: &Word) -> bool {
    let rest = plain[place.end..].split(SEAM).next().unwrap_or_default();
    says_nothing(rest)
}

fn last_word(text: &str) -> &str {
    let mut words = text.trim_end().rsplit(|c: char| !c.is_alphanumeric());
    words.next().unwrap_or_default()
}

fn names_field(word: &str) -> bool {
    PHRASES.iter().any(|(words, _)| words.contains(&word))
}
