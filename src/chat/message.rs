//! A message as text with positions: what is quoted is out of sight of every rule, and the client it
//! is about is taken out of it.

mod client;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::record::{ID_MAX, canonical};
use super::value::brief;
use super::vocabulary::POLITE;

/// Stands between a request and an answer that completes it; no message holds it.
pub(super) const SEAM: char = '\u{2}';
/// Most components that are told apart in one message.
const OTHERS_MAX: usize = 10;
/// Stands for what is quoted.
pub(super) const HIDDEN: &str = "\u{1}";

/// "component 101", "componentId: 101", "card #101", …
static COMPONENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:component|card|button|text|image|header|footer|banner|link)s?[\s_-]*(?:id)?[\s:=#_-]*(?:\b(?:is|number|no|with\s+id)\b\.?)?[\s:=#]*([0-9]+)\b",
    )
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

/// A reason and what ends it: "since it is old," and no "since May".
static REASON: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let subject = "it|they|we|i|you|he|she|the|my|our|its|their|that|this|there|these|those|nobody|everyone|both";
    Regex::new(&format!(
        r"(\b(?:because\b|since\s+(?:{subject})\b|as\s+(?:it|they)\s+(?:is|are|was|were)\b)[^\x02,;.!?]*?)(?:\s+(?:and|but)\b|[\x02,;.!?]|$)"
    ))
    .ok()
});

/// Further words of politeness behind a value in quotes.
const KIND: &[&str] = &[
    "if", "possible", "as", "soon", "for", "me", "us", "would", "could", "can", "will", "everyone",
];

/// A message without the client that it names.
#[derive(Clone, Debug)]
pub(super) struct Message {
    /// The text.
    pub(super) body: String,
    /// The text in small letters, what is quoted hidden; byte for byte as long.
    pub(super) plain: String,
    /// The client named last, if any.
    pub(super) client: Option<String>,
    /// Whether that client may as well be the end of a value.
    pub(super) is_bare: bool,
    /// Whether it names another client as well.
    pub(super) names_clients: bool,
    /// What stands in its place and is no number of a client.
    no_client: Option<String>,
}

/// A word of a message: where it is.
pub(super) type Word = Range<usize>;

impl Message {
    /// Reads a message.
    pub(super) fn read(text: &str) -> Message {
        let plain = hidden(text);
        let named = client::named(&plain);
        let is_bare = named.as_ref().is_some_and(|named| named.is_bare);
        let names_clients = named.as_ref().is_some_and(|named| named.is_of_several);
        let (place, client) = match named.map(|named| (named.place, named.number)) {
            Some((place, Ok(client))) => (place, client),
            other => {
                return Message {
                    body: text.to_string(),
                    plain,
                    client: None,
                    is_bare: false,
                    names_clients,
                    no_client: other.and_then(|(_, number)| number.err()),
                };
            }
        };
        let place = client::surrounded(&plain, &place);
        let without = |text: &str| format!("{} {}", &text[..place.start], &text[place.end..]);
        Message {
            body: without(text),
            plain: without(&plain),
            client: Some(client),
            is_bare,
            names_clients,
            no_client: None,
        }
    }

    /// Says that the client is in doubt when it may be part of a value and the conversation is about
    /// another one.
    pub(super) fn doubt(&self, remembered: Option<&str>) -> Option<String> {
        let named = self.client.as_deref().filter(|_| self.is_bare)?;
        let other = remembered.filter(|other| *other != named)?;
        Some(format!(
            "I cannot tell which client you mean: client {named}, which you name last, or client \
             {other}, which this conversation is about. Nothing was changed. Please say it again with \
             \"for client {named}\" or \"for client {other}\" at its end."
        ))
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
        let (mut named, mut at) = (Vec::new(), 0);
        while named.len() < OTHERS_MAX {
            let Some(found) = component.captures_at(text, at) else {
                break;
            };
            at = put(&mut named, text, &found).unwrap_or(text.len());
            while let Some(found) = next.captures(&text[at..]) {
                at += put(&mut named, &text[at..], &found).unwrap_or(text.len() - at);
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

/// Adds the component that was found to those that are named, and returns where it ends. Of a long list
/// only the first are told apart.
fn put(named: &mut Vec<String>, text: &str, found: &Captures<'_>) -> Option<usize> {
    let (Ok(id) | Err(id)) = number(text, found.get(1)?.range());
    if named.len() < OTHERS_MAX && !named.contains(&id) {
        named.push(id);
    }
    Some(found.get(0)?.end())
}

/// Finds the parts of a text that `and` or a comma takes apart, outside of quotes and brackets.
pub(super) fn parts(text: &str) -> Vec<Word> {
    let plain = hidden(text);
    let closed = plain.rfind(')').unwrap_or(0);
    let (mut parts, mut from, mut at, mut depth) = (Vec::new(), 0, 0, 0);
    while let Some(place) = cut(&plain, at) {
        depth = deep(&plain[at..place.start], depth);
        at = place.end;
        if depth == 0 || closed < place.start {
            parts.push(from..place.start);
            from = place.end;
        }
    }
    parts.push(from..text.len());
    parts
}

/// Finds the reasons in a text, which say nothing of what is to be done: "because …", up to what ends a
/// clause. Quotes are out of sight.
pub(super) fn reasons(text: &str) -> Vec<Word> {
    let plain = hidden(text);
    let found = REASON
        .iter()
        .flat_map(|reason| reason.captures_iter(&plain));
    let places = found.filter_map(|found| found.get(1));
    places.map(|place| place.range()).collect()
}

/// Takes the reasons out of a text; none where there is none, or nothing beside it.
pub(super) fn without_reason(text: &str) -> Option<String> {
    let places = reasons(text);
    let mut rest = text.to_string();
    for place in places.iter().rev() {
        rest.replace_range(place.clone(), "");
    }
    let is_said = rest.chars().any(char::is_alphanumeric);
    (is_said && !places.is_empty()).then_some(rest)
}

/// Counts the brackets that are open behind a text.
fn deep(text: &str, depth: usize) -> usize {
    text.chars().fold(depth, |depth, c| match c {
        '(' => depth + 1,
        ')' => depth.saturating_sub(1),
        _ => depth,
    })
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

/// Reads a value as it is said: what is quoted, where the text begins so and only politeness follows.
pub(super) fn said(text: &str) -> &str {
    let text = text.trim();
    let first = quoted(text).into_iter().next();
    let Some(place) = first.filter(|place| place.start == 0) else {
        return text;
    };
    let rest = &text[place.end..];
    let tail = without_reason(&format!("{rest}.x")).unwrap_or_else(|| format!("{rest}.x"));
    let tail = tail.trim_end_matches(".x");
    let mut words = tail.split(|c: char| !c.is_alphanumeric());
    let is_polite = words.all(|word| {
        let word = word.to_lowercase();
        word.is_empty()
            || [POLITE, KIND]
                .iter()
                .any(|list| list.contains(&word.as_str()))
    });
    let is_plain = |c: char| c.is_alphanumeric() || " ,.;!?-".contains(c);
    // In 'It''s' the quotes go on.
    match (
        is_polite && tail.chars().all(is_plain),
        rest.starts_with(['\'', '"']),
    ) {
        (true, _) => unquoted(&text[place]),
        (false, true) => unquoted(text),
        (false, false) => text,
    }
}

/// Takes the quotes off what a text begins with, where more follows it.
pub(super) fn quoted_first(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let places = quoted(text).into_iter();
    let mut first = places.take_while(|place| place.start == 0 && place.end < text.len());
    first.next().map(|place| unquoted(&text[place]))
}

/// Finds the client that a message names.
pub(crate) fn client_id(text: &str) -> Option<String> {
    Message::read(text).client
}

/// Writes a text in small letters with what is quoted hidden, byte for byte as long.
pub(super) fn hidden(text: &str) -> String {
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
