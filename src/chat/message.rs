//! A message as text with positions: what is quoted is out of sight of every rule, and the client it
//! is about is taken out of it.

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::record::{ID_MAX, canonical};
use super::value::brief;

/// Stands between a request and an answer that completes it; no message holds it.
pub(super) const SEAM: char = '\u{2}';
/// Most components that are told apart in one message.
const OTHERS_MAX: usize = 10;
/// Stands for what is quoted.
pub(super) const HIDDEN: &str = "\u{1}";

/// "client 6", "my clientId is 6", "client_id=6", "client #6", … with the little words before it.
static CLIENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?:\b(?:and\s+)?(?:for|of|on|in|from|at|to|with|by)\s+)?(?:\b(?:and\s+)?(?:my|the|our|this)\s+)?\bclient(?:'s|s)?[\s_-]*(?:id\b|id(?:[^a-z]|$))?[\s:=#_-]*(?:\b(?:is|number|no\.?)(?:\s+is)?)?[\s:=#]*([0-9]+)\b",
    )
    .ok()
});

/// "component 101", "componentId: 101", "card #101", …
static COMPONENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:component|card|button|text|image|header|footer|banner|link)s?[\s_-]*(?:id)?[\s:=#_-]*(?:\b(?:is|number|no\.?|with\s+id)\b)?[\s:=#]*([0-9]+)\b",
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

/// "on component 101" at the end of a message or of an answer, behind the value.
static TAIL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:on|of|in|for)\s+(?:(?:my|the)\s+)?components?[^a-z\x01\x02]*(?:(?:id|is|number|no|with|and|or|components?)\b[^a-z\x01\x02]*)*(?:\x02|$)",
    )
    .ok()
});

/// ", 102" or "and component 102" after a component.
static NEXT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:,\s*and\b|,|\band\b|&|\bor\b)\s*(?:components?\s*)?#?-?([0-9]+)\b").ok()
});

/// What takes the parts of a message apart.
static CUT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[,;]\s+(?:and\s+)?|\s+and\s+").ok());

/// A message without the client that it names.
#[derive(Clone, Debug)]
pub(super) struct Message {
    /// The text.
    pub(super) body: String,
    /// The text in small letters, what is quoted hidden; byte for byte as long.
    pub(super) plain: String,
    /// The client named last, if any.
    pub(super) client: Option<String>,
    /// What stands in its place and is no number of a client.
    no_client: Option<String>,
}

/// A word of a message: where it is.
pub(super) type Word = Range<usize>;

impl Message {
    /// Reads a message.
    pub(super) fn read(text: &str) -> Message {
        let plain = hidden(text);
        let (place, client) = match named_client(&plain) {
            Some((place, Ok(client))) => (place, client),
            other => {
                return Message {
                    body: text.to_string(),
                    plain,
                    client: None,
                    no_client: other.and_then(|(_, number)| number.err()),
                };
            }
        };
        let without = |text: &str| format!("{} {}", &text[..place.start], &text[place.end..]);
        Message {
            body: without(text),
            plain: without(&plain),
            client: Some(client),
            no_client: None,
        }
    }

    /// Finds the component that is named by its number at a place.
    pub(super) fn component(&self, naming: Word) -> Option<(Word, String)> {
        let (place, number) = self.numbered(naming)?;
        Some((place, number.ok()?))
    }

    /// Finds the words behind a value that name components by their numbers.
    pub(super) fn tail(&self, from: usize) -> Option<Word> {
        let found = TAIL.as_ref()?.find_at(&self.plain, from)?;
        let is_numbered = found.as_str().contains(|c: char| c.is_ascii_digit());
        is_numbered.then(|| found.range())
    }

    /// Says what is wrong when the client, or the component at a place, is named by what is no
    /// number of one. To take a part of it for the number would change something else.
    pub(super) fn fault(&self, naming: Word) -> Option<String> {
        let component = || self.numbered(naming)?.1.err();
        let (written, what, example) = match &self.no_client {
            Some(written) => (written.clone(), "client", "client 6"),
            None => (component()?, "component", "component 101"),
        };
        let written = brief(&written);
        Some(format!(
            "\"{written}\" is no number of a {what}. Nothing was changed. Please name the {what} by \
             its number, for example: {example}"
        ))
    }

    /// Finds the first that is written as a component's number at a place.
    fn numbered(&self, naming: Word) -> Option<(Word, Result<String, String>)> {
        let text = self.plain.get(..naming.end)?;
        let found = COMPONENT.as_ref()?.captures_at(text, naming.start)?;
        Some((found.get(0)?.range(), number(text, found.get(1)?.range())))
    }

    /// Finds the components that are named by their numbers at a place, after the first.
    pub(super) fn others(&self, naming: Word) -> Vec<String> {
        let text = self.plain.get(naming).unwrap_or_default();
        let (Some(component), Some(next)) = (COMPONENT.as_ref(), NEXT.as_ref()) else {
            return Vec::new();
        };
        let mut named: Vec<String> = Vec::new();
        let mut put = |text: &str, found: &Captures<'_>| {
            let Some(digits) = found.get(1) else { return };
            let (Ok(id) | Err(id)) = number(text, digits.range());
            if named.len() < OTHERS_MAX && !named.contains(&id) {
                named.push(id);
            }
        };
        for found in component.captures_iter(text) {
            let mut rest = &text[found.get(0).map_or(0, |whole| whole.end())..];
            put(text, &found);
            while let Some(found) = next.captures(rest) {
                put(rest, &found);
                rest = &rest[found[0].len()..];
            }
        }
        named.drain(..named.len().min(1));
        named
    }

    /// Finds the words outside of quotes.
    pub(super) fn words(&self) -> Vec<Word> {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '#');
        let mut words = Vec::new();
        let mut start = None;
        for (at, c) in self.plain.char_indices().chain([(self.plain.len(), ' ')]) {
            match (start, is_part(c)) {
                (None, true) => start = Some(at),
                (Some(from), false) => {
                    words
                        .push(from..from + self.plain[from..at].trim_end_matches(['.', '-']).len());
                    start = None;
                }
                _ => {}
            }
        }
        words.retain(|word| !word.is_empty());
        words
    }

    /// Returns the text at a place, without the quotes around it.
    pub(super) fn text(&self, place: Word) -> &str {
        unquoted(self.body.get(place).unwrap_or_default().trim())
    }
}

/// Finds the client that a text names last, and where. One that is part of a value is none: behind a
/// value a client counts where a word leads to it and nothing more is said.
fn named_client(plain: &str) -> Option<(Word, Result<String, String>)> {
    let (mut last, mut from, mut in_value) = (None, 0, false);
    for found in CLIENT.as_ref()?.captures_iter(plain) {
        let (place, digits) = (found.get(0)?.range(), found.get(1)?.range());
        let gap = &plain[from..place.start];
        let answer = gap.rfind(SEAM);
        if answer.is_some() {
            in_value = last.is_some();
        }
        in_value |= begins_value(&gap[answer.unwrap_or(0)..]);
        from = place.end;
        if !in_value || is_led_to(plain, &place) {
            last = Some((place, number(plain, digits)));
        }
    }
    last
}

/// Says whether a value begins in a text; what leads to a component is none.
fn begins_value(text: &str) -> bool {
    let found = VALUE.as_ref().and_then(|regex| regex.find(text));
    found.is_some_and(|found| !text[found.end()..].contains("component"))
}

/// Says whether a client stands apart from the value before it, and at its end.
fn is_led_to(plain: &str, place: &Word) -> bool {
    let lead = plain[place.clone()]
        .split_whitespace()
        .find(|word| *word != "and");
    let is_lead = lead.is_some_and(|lead| ["for", "of", "in", "on"].contains(&lead));
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

/// Finds the parts of a text that `and` or a comma takes apart, outside of quotes.
pub(super) fn parts(text: &str) -> Vec<&str> {
    let (plain, mut parts, mut from) = (hidden(text), Vec::new(), 0);
    while let Some(place) = cut(&plain, from) {
        parts.push(&text[from..place.start]);
        from = place.end;
    }
    parts.push(&text[from..]);
    parts
}

/// Finds the next place that takes parts of a text apart.
fn cut(plain: &str, from: usize) -> Option<Word> {
    let found = CUT.as_ref()?.find_at(plain, from)?;
    Some(found.range())
}

/// Reads the number that stands at a place. What is written there is no number of anything when it
/// has a sign, a fraction, a range, or more digits than any id.
fn number(text: &str, digits: Range<usize>) -> Result<String, String> {
    // In `client-6` the hyphen is part of the name.
    let sign = text[..digits.start].strip_suffix('-');
    let is_signed = sign.is_some_and(|before| !before.ends_with(char::is_alphanumeric));
    let start = digits.start - usize::from(is_signed);
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-');
    let rest = text[digits.end..].trim_start_matches(is_part);
    let written = text[start..text.len() - rest.len()].trim_end_matches(['.', '-']);
    let is_whole = written.len() == digits.len();
    let is_long = text[digits].trim_start_matches('0').len() > ID_MAX;
    match is_whole && !is_long {
        true => Ok(canonical(written)),
        false => Err(written.to_string()),
    }
}

/// Takes the quotes off a text that stands in them as a whole.
pub(super) fn unquoted(text: &str) -> &str {
    let ends = [('"', '"'), ('\'', '\''), ('“', '”')];
    let inner = ends
        .iter()
        .find_map(|(open, close)| text.strip_prefix(*open)?.strip_suffix(*close));
    inner.unwrap_or(text)
}

/// Takes the quotes off what a text begins with, where more follows it.
pub(super) fn quoted_first(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let places = quoted(text).into_iter();
    let mut first = places.take_while(|place| place.start == 0 && place.end < text.len());
    first.next().map(|place| unquoted(&text[place]))
}

/// Finds the client that a message names.
pub fn client_id(text: &str) -> Option<String> {
    Message::read(text).client
}

/// Writes a text in small letters with what is quoted hidden, byte for byte as long.
fn hidden(text: &str) -> String {
    let mut plain = text.to_ascii_lowercase();
    for place in quoted(text) {
        let length = place.len();
        plain.replace_range(place, &HIDDEN.repeat(length));
    }
    plain
}

/// Finds what is quoted, with the quotes.
fn quoted(text: &str) -> Vec<Range<usize>> {
    let (mut places, mut at, mut before) = (Vec::new(), 0, ' ');
    let mut unclosed = Vec::new();
    while let Some(c) = text[at..].chars().next() {
        let begin = at + c.len_utf8();
        let close = match c {
            '"' => Some('"'),
            '“' => Some('”'),
            '\'' if !before.is_alphanumeric() => Some('\''),
            _ => None,
        };
        let close = close.filter(|close| !unclosed.contains(close));
        let end = close.and_then(|close| closing(text, begin, close));
        if let (Some(close), None) = (close, end) {
            unclosed.push(close);
        }
        if let Some(end) = end {
            places.push(at..end);
        }
        at = end.unwrap_or(begin);
        before = c;
    }
    places
}

/// Finds the end of what is quoted. A single quote closes only where a word ends.
fn closing(text: &str, begin: usize, close: char) -> Option<usize> {
    let ends = text[begin..].match_indices([close, SEAM]);
    for (at, found) in ends {
        if found.starts_with(SEAM) {
            return None;
        }
        let end = begin + at + close.len_utf8();
        let next = text[end..].chars().next();
        if close != '\'' || !next.is_some_and(char::is_alphanumeric) {
            return Some(end);
        }
    }
    None
}
