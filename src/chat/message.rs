//! A message as text with positions: what is quoted is out of sight of every rule, and the client it
//! is about is taken out of it.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::record::canonical;

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

/// ", 102" or "and component 102" after a component.
static NEXT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:,\s*and\b|,|\band\b|&|\bor\b)\s*(?:components?\s*)?#?([0-9]+)\b").ok()
});

/// A message without the client that it names.
#[derive(Clone, Debug)]
pub(super) struct Message {
    /// The text.
    pub(super) body: String,
    /// The text in small letters, what is quoted hidden; byte for byte as long.
    pub(super) plain: String,
    /// The client named last, if any.
    pub(super) client: Option<String>,
}

/// A word of a message: where it is.
pub(super) type Word = Range<usize>;

impl Message {
    /// Reads a message.
    pub(super) fn read(text: &str) -> Message {
        let plain = hidden(text);
        let found = CLIENT
            .as_ref()
            .and_then(|regex| regex.captures_iter(&plain).last());
        let named = found.and_then(|found| {
            let digits = found.get(1)?;
            Some((found.get(0)?.range(), canonical(digits.as_str())))
        });
        let Some((place, client)) = named else {
            return Message {
                body: text.to_string(),
                plain,
                client: None,
            };
        };
        let without = |text: &str| format!("{} {}", &text[..place.start], &text[place.end..]);
        Message {
            body: without(text),
            plain: without(&plain),
            client: Some(client),
        }
    }

    /// Finds the component that is named by its number before `limit`.
    pub(super) fn component(&self, limit: usize) -> Option<(Word, String)> {
        let found = COMPONENT.as_ref()?.captures(self.plain.get(..limit)?)?;
        Some((found.get(0)?.range(), canonical(found.get(1)?.as_str())))
    }

    /// Finds the components that are named by their numbers before `limit`, after the first.
    pub(super) fn others(&self, limit: usize) -> Vec<String> {
        let text = self.plain.get(..limit).unwrap_or_default();
        let (Some(component), Some(next)) = (COMPONENT.as_ref(), NEXT.as_ref()) else {
            return Vec::new();
        };
        let mut named: Vec<String> = Vec::new();
        let mut put = |id: &str| {
            let id = canonical(id);
            if named.len() < OTHERS_MAX && !named.contains(&id) {
                named.push(id);
            }
        };
        for found in component.captures_iter(text) {
            let mut rest = &text[found.get(0).map_or(0, |whole| whole.end())..];
            put(&found[1]);
            while let Some(found) = next.captures(rest) {
                put(&found[1]);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_found_in_every_spelling() {
        for (text, expected) in [
            ("client 6", Some("6")),
            ("client6", Some("6")),
            ("Client 6", Some("6")),
            ("CLIENTID 6", Some("6")),
            ("clientId: 6", Some("6")),
            ("clientId=6", Some("6")),
            ("client_id=6", Some("6")),
            ("client_id = 6", Some("6")),
            ("client-id 6", Some("6")),
            ("client #6", Some("6")),
            ("client: #6", Some("6")),
            ("my clientId is 6", Some("6")),
            ("client Id is 6", Some("6")),
            ("client id is: 6", Some("6")),
            ("my client's id is 6", Some("6")),
            ("client number 6", Some("6")),
            ("client is 6.", Some("6")),
            ("show me my design for client 6, please", Some("6")),
            ("client 006", Some("6")),
            ("client 0", Some("0")),
            ("client 6 and then client 7", Some("7")),
            ("set it to 'client 7' for client 6", Some("6")),
            ("set it to \"client 7\"", None),
            ("client", None),
            ("client six", None),
            ("clients are 6px wide", None),
            ("clientele 6", None),
            ("myclient 6", None),
            ("component 6", None),
            ("client 6a", None),
            ("client 99999999999999999999999", Some("9999999999999999")),
        ] {
            assert_eq!(client_id(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_component_is_found_by_its_number() {
        for (text, expected) in [
            ("update component 101 title", Some("101")),
            ("componentId 101", Some("101")),
            ("component_id=101", Some("101")),
            ("component with id 101", Some("101")),
            ("Component #101", Some("101")),
            ("delete card 101", Some("101")),
            ("my card component", None),
            ("'component 5'", None),
            ("radius 12", None),
        ] {
            let message = Message::read(text);
            let found = message.component(message.plain.len()).map(|found| found.1);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn other_components_are_found_before_the_value() {
        for (text, expected) in [
            ("delete component 101", &[] as &[&str]),
            ("delete component 101 and 102", &["102"]),
            ("delete components 101, 102, and 103", &["102", "103"]),
            ("delete component 101 and component #102", &["102"]),
            ("delete component 101 or button 101", &[]),
            ("delete component 101 and 2 more words 7", &["2"]),
            ("set 'component 5' of component 101", &[]),
        ] {
            let message = Message::read(text);
            assert_eq!(message.others(message.plain.len()), expected, "{text}");
        }
    }

    #[test]
    fn the_client_is_taken_out_of_the_text_and_quotes_hide_the_rest() {
        let message =
            Message::read("Update component 101 title to 'It''s for client 9' for client 6");
        assert_eq!(message.client.as_deref(), Some("6"));
        assert!(
            message.body.trim_end().ends_with("client 9'"),
            "{message:?}"
        );
        assert_eq!(message.body.len(), message.plain.len());
        let message = Message::read("don't 'open \"ä");
        assert_eq!(message.body.len(), message.plain.len());
    }

    #[test]
    fn a_million_quotes_are_read_in_one_go() {
        let message = Message::read(&" 'a".repeat(300_000));
        assert_eq!(message.words().len(), 300_000);
    }
}
