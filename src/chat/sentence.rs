//! A message prepared for reading: blanks in their one form, politeness cut off, and what is quoted and the
//! client that is named out of sight, so that neither is taken for anything else.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::record::{canonical, is_id};

/// Longest message that is understood, in bytes.
const MESSAGE_MAX: usize = 20_000;
/// Most words of politeness that are cut off.
const POLITE_MAX: usize = 8;
/// Stands for what is quoted, byte for byte.
pub(super) const QUOTED: char = '\u{1}';
/// Stands for the words that name the client, byte for byte.
pub(super) const CLIENT: char = '\u{2}';

/// "client 6", "for my clientId: 6", "(client #6)", …
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?:(?P<apart>[,;(\[])\s*)?(?:\b(?P<lead>for|of|on|in|from|at|by|with)\s+)?(?:(?:my|the|our|this)\s+)?\bclient(?:'s)?(?:[\s_-]?id)?(?:\s*[:=#]\s*|\s+(?:is|number|no\.?)\s+|[\s_-]?)#?(?P<number>[0-9]+)\b[)\]]?",
    )
    .ok()
});

/// A client that is named in another way, such as `client -6` or `clients 6 and 7`.
static ODD: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\bclients?\b[^a-z]*[0-9]").ok());

/// Politeness, and the client, at the beginning.
static BEFORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^(?:\x02+(?:'s)?[\s,:;-]*|(?:please|ok|okay|now|then|so)\b[,.!]*\s+|(?:hi|hello|hey)[,.!]+\s+|(?P<asks>(?:can|could|would) you )|i(?:'d| would) like(?: you)? to |i (?:want|need)(?: you)? to |(?:let's|let us|go ahead and) )",
    )
    .ok()
});

/// Politeness at the end.
static AFTER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[\s,]+(?:please|thanks|thank you)[\s.!]*$").ok());

#[derive(Clone, Debug)]
pub(crate) struct Sentence {
    pub(super) text: String,
    /// The text in small letters, with [`QUOTED`] and [`CLIENT`] in place of quotes and client.
    pub(super) plain: String,
    /// The clients that are named, each as often as it is.
    pub(super) clients: Vec<String>,
    /// Whether nothing tells the client from the end of a text before it: "title to Fans of client 7".
    pub(super) is_client_bare: bool,
    /// Whether politeness was cut off behind a comma, which may belong to a text.
    pub(super) has_loose_end: bool,
    /// Whether something looks like a client and is none.
    pub(super) has_odd_client: bool,
}

impl Sentence {
    pub(crate) fn read(message: &str) -> Sentence {
        let is_long = message.len() > MESSAGE_MAX;
        let text = with_single_blanks(if is_long { "" } else { message.trim() });
        let plain = hide_quotes(&text);
        let mut sentence = Sentence {
            text,
            plain,
            clients: Vec::new(),
            is_client_bare: false,
            has_loose_end: false,
            has_odd_client: is_long,
        };
        sentence.hide_clients();
        sentence.cut_politeness();
        sentence
    }

    /// Returns the client if exactly one is named.
    pub(crate) fn client(&self) -> Option<&str> {
        match self.clients.as_slice() {
            [one] if !self.has_odd_client => Some(one),
            _ => None,
        }
    }

    fn hide_clients(&mut self) {
        let Some(named) = NAMED.as_ref() else { return };
        let plain = self.plain.clone();
        for found in named.captures_iter(&plain) {
            let (Some(place), Some(number)) = (found.get(0), found.name("number")) else {
                continue;
            };
            let rest = plain[number.end()..].trim_start_matches(['.', '-']);
            let goes_on = rest.len() < plain.len() - number.end()
                && rest.starts_with(|c: char| c.is_ascii_digit());
            if goes_on || !is_id(number.as_str()) {
                continue;
            }
            let before = plain[..place.start()].trim_end();
            let is_apart = found.name("apart").is_some()
                || before.is_empty()
                || before.ends_with([QUOTED, ',', ':']);
            let is_led = found
                .name("lead")
                .is_some_and(|lead| lead.as_str() == "for");
            self.is_client_bare |= !is_apart && !is_led;
            self.clients.push(canonical(number.as_str()));
            let mask = CLIENT.to_string().repeat(place.len());
            self.plain.replace_range(place.range(), &mask);
        }
        self.has_odd_client |= ODD.as_ref().is_some_and(|odd| odd.is_match(&self.plain));
    }

    fn cut_politeness(&mut self) {
        let mut asks = false;
        for _ in 0..POLITE_MAX {
            let Some(found) = BEFORE
                .as_ref()
                .and_then(|before| before.captures(&self.plain))
            else {
                break;
            };
            asks |= found.name("asks").is_some();
            let end = found.get(0).map_or(0, |place| place.end());
            self.text.replace_range(..end, "");
            self.plain.replace_range(..end, "");
        }
        for _ in 0..POLITE_MAX {
            let Some(place) = AFTER.as_ref().and_then(|after| after.find(&self.plain)) else {
                break;
            };
            let is_apart = place.as_str().trim_start().starts_with(',');
            let is_closed = self.plain[..place.start()].ends_with([QUOTED, CLIENT]);
            if !is_apart && !is_closed {
                break;
            }
            self.has_loose_end |= !is_closed;
            self.cut_to(place.start());
        }
        if asks {
            self.cut_to(self.plain.trim_end_matches(['?', '.', '!', ' ']).len());
        }
    }

    fn cut_to(&mut self, end: usize) {
        self.text.truncate(end);
        self.plain.truncate(end);
    }

    /// Returns the text at a place, without the quotes around it.
    pub(super) fn text_at(&self, place: Range<usize>) -> &str {
        strip_quotes(self.text.get(place).unwrap_or_default().trim())
    }
}

/// Writes all blanks outside of quotes as one space.
fn with_single_blanks(text: &str) -> String {
    let mut quotes = quotes(text).into_iter().peekable();
    let mut single = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        while quotes.next_if(|place| place.end <= at).is_some() {}
        let is_quoted = quotes.peek().is_some_and(|place| place.contains(&at));
        match c.is_whitespace() && !is_quoted {
            true if single.ends_with(' ') => {}
            true => single.push(' '),
            false => single.push(c),
        }
    }
    single
}

/// Takes the quotes off a text that stands in them as a whole.
pub(super) fn strip_quotes(text: &str) -> &str {
    let ends = [('"', '"'), ('\'', '\''), ('“', '”')];
    let inner = ends
        .iter()
        .find_map(|(open, close)| text.strip_prefix(*open)?.strip_suffix(*close));
    inner.unwrap_or(text)
}

/// Writes a text in small letters with what is quoted hidden, byte for byte as long.
fn hide_quotes(text: &str) -> String {
    let mut plain = text.to_ascii_lowercase();
    for place in quotes(text) {
        let mask = QUOTED.to_string().repeat(place.len());
        plain.replace_range(place, &mask);
    }
    plain
}

/// Finds what is quoted, with the quotes. A single quote opens only before a word and closes only behind one.
fn quotes(text: &str) -> Vec<Range<usize>> {
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
        let end = close.and_then(|close| {
            let ends = text[begin..].match_indices(close);
            let mut ends = ends.map(|(at, _)| begin + at + close.len_utf8());
            let is_end = |end: usize| !text[end..].starts_with(char::is_alphanumeric);
            ends.find(|end| close != '\'' || is_end(*end))
        });
        // One search to the end of the text is enough.
        unclosed.extend(close.filter(|_| end.is_none()));
        if let Some(end) = end {
            places.push(at..end);
        }
        at = end.unwrap_or(begin);
        before = c;
    }
    places
}
