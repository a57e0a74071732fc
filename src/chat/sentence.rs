//! A message prepared for reading: politeness cut off, and what is quoted and the client that is named out
//! of sight, so that neither is taken for anything else.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::grammar::{field_names, types};
use super::kind::Kind;
use super::record::canonical;

/// Longest message that is understood, in bytes.
const MESSAGE_MAX: usize = 20_000;
/// Stands for what is quoted, byte for byte.
pub(super) const QUOTED: char = '\u{1}';
/// Stands for the words that name the client, byte for byte, where they end what stands before.
pub(super) const CLIENT: char = '\u{2}';
/// Stands for the client where what stands before may go on: "title to Fans of client 7".
pub(super) const BARE: char = '\u{3}';

/// Words that an unquoted text does not hold: they may begin another request or restrict this one.
const TANGLING: &str = "and|then|or|but|also|plus|unless|except|if|instead|because|when|while|until|before|\
    after|without|provid(?:ed|ing)|once|otherwise|not|nor|only|given|assuming|till|whenever|although|though|\
    as (?:long|soon)|with|please|thanks?|twice|components?|clients?";

/// A double quote up to the next one; a single one only around words.
static QUOTES: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#""[^"]*"|“[^”]*”|\B'(?:[^']|'\b)*?'\B"#).ok());

/// "client 6", "for my clientId: 6", "(client #6)", …
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?:(?P<apart>^|[,;:(]\s*|\bfor\s+)|\b(?:of|on|in|from|at|by)\s+|\b)(?:(?:my|the|our|this)\s+)?client(?:'s)?[\s_-]?(?:id)?(?:\s*[:=]\s*|\s+(?:is|number|no\.?)\s+|\s*)#?(?P<number>[0-9]{1,15})\b\)?",
    )
    .ok()
});

/// Politeness, and the client, at the beginning.
static BEFORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^(?:[\x02\x03]+(?:'s\b)?[\s,:;-]*|(?:please|now|ok|okay)\b[,\s]+|(?:can|could|would) you\s+|i (?:want|need) to\s+|i(?:'d| would) like to\s+)+",
    )
    .ok()
});

static RESERVED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(
        r"\b(?:{TANGLING}|{}|{})\b",
        field_names(),
        types()
    ))
    .ok()
});

/// The only form of an unquoted text: words, and at most one mark at the end.
static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let word = r"[\w--_]+(?:['’&:-][\w--_]+)*";
    Regex::new(&format!("^{word}(?::? {word})*[.!?]?$")).ok()
});

/// An address, which ends in no mark of a sentence.
static ADDRESS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"^[^\s"'()<>\x01]*[^\s"'()<>\x01.,;!?]$"#).ok());

#[derive(Clone, Debug)]
pub(crate) struct Sentence {
    text: String,
    /// The text in small letters, with [`QUOTED`], [`CLIENT`] and [`BARE`] in place of quotes and client.
    pub(super) plain: String,
    /// The clients that are named, each as often as it is.
    pub(super) clients: Vec<String>,
}

impl Sentence {
    pub(crate) fn read(message: &str) -> Sentence {
        let is_long = message.len() > MESSAGE_MAX;
        let text = if is_long { "" } else { message.trim() }.to_string();
        let mut plain = text.to_ascii_lowercase();
        for place in places(&QUOTES, &text) {
            hide(&mut plain, place, QUOTED);
        }
        let mut sentence = Sentence {
            text,
            plain,
            clients: Vec::new(),
        };
        sentence.hide_clients();
        sentence.cut_politeness();
        sentence
    }

    /// Returns the client if exactly one is named.
    pub(crate) fn client(&self) -> Option<&str> {
        match self.clients.as_slice() {
            [one] => Some(one),
            _ => None,
        }
    }

    fn hide_clients(&mut self) {
        let plain = self.plain.clone();
        for found in NAMED.iter().flat_map(|named| named.captures_iter(&plain)) {
            let (Some(place), Some(number)) = (found.get(0), found.name("number")) else {
                continue;
            };
            self.clients.push(canonical(number.as_str()));
            let is_apart = found.name("apart").is_some();
            hide(
                &mut self.plain,
                place.range(),
                if is_apart { CLIENT } else { BARE },
            );
        }
    }

    fn cut_politeness(&mut self) {
        if let Some(end) = places(&BEFORE, &self.plain).first().map(|place| place.end) {
            self.text.drain(..end);
            self.plain.drain(..end);
        }
    }

    /// Returns the text at a place if all of it is in quotes.
    pub(super) fn quoted(&self, place: Range<usize>) -> Option<&str> {
        let is_quoted = place.len() > 1 && self.plain[place.clone()].chars().all(|c| c == QUOTED);
        let mut inner = self.text[place].chars();
        inner.next()?;
        inner.next_back()?;
        is_quoted.then_some(inner.as_str())
    }

    /// Reads a value. Without quotes nothing that could be more than the value is one: a text is words, none
    /// of which may begin another request or is the name of a field, and ends where the sentence does.
    pub(super) fn value(&self, place: Range<usize>, kind: Kind) -> Option<String> {
        let end = place.start + self.plain.get(place.clone())?.trim_end().len();
        let place = place.start..end;
        if let Some(quoted) = self.quoted(place.clone()) {
            return Some(quoted.to_string());
        }
        let (plain, text) = (&self.plain[place.clone()], &self.text[place]);
        let fits = |regex: &Option<Regex>, text: &str| {
            regex.as_ref().is_some_and(|regex| regex.is_match(text))
        };
        let is_open = self.plain[end..].trim_start().starts_with(BARE) || fits(&RESERVED, plain);
        let is_sure = match kind {
            Kind::Address if fits(&ADDRESS, plain) => true,
            Kind::Text | Kind::Address => !is_open && fits(&WORDS, plain),
            // A name such as that of a font is one word, or words with capitals.
            Kind::Name => {
                let mut words = text.split(' ');
                let is_name =
                    !text.contains(' ') || words.all(|word| !word.starts_with(char::is_lowercase));
                !is_open && fits(&WORDS, plain) && is_name
            }
            // What is none of the few values that these can be is refused later.
            _ => !plain.contains(QUOTED),
        };
        is_sure.then(|| text.to_string())
    }
}

fn places(regex: &Option<Regex>, text: &str) -> Vec<Range<usize>> {
    let found = regex.iter().flat_map(|regex| regex.find_iter(text));
    found.map(|found| found.range()).collect()
}

fn hide(text: &mut String, place: Range<usize>, mark: char) {
    let mask = mark.to_string().repeat(place.len());
    text.replace_range(place, &mask);
}
