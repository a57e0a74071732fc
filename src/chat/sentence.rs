//! A message prepared for reading: politeness cut off, and what is quoted and the client that is named out
//! of sight, so that neither is taken for anything else.

use std::ops::Range;

use regex::Regex;

use super::grammar::{names, type_names};
use super::record::canonical;
use super::value::Kind;
use super::vocabulary::COMPONENT;

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

/// Another request within a text: "Hello delete 103".
const REQUEST: &str = r"(?:set|change|update|edit|modify|rename|adjust|move|delete|remove|erase|drop|discard|add|create|insert)\s+(?:#?[0-9]+|it|them|all|everything)";

// A double quote up to the next one; a single one only around words.
pattern!(QUOTES, r#""[^"]*"|“[^”]*”|\B'(?:[^']|'\b)*?'\B"#);

// "client 6", "for my clientId: 6", "(client #6)", …
pattern!(
    NAMED,
    r"(?:(?P<apart>^|[,;:(]\s*|\bfor\s+)|\b(?:of|on|in|from|at|by)\s+|\b)(?:(?:my|the|our|this)\s+)?client(?:'s)?[\s_-]?(?:id)?(?:\s*[:=]\s*|\s+(?:is|number|no\.?)\s+|\s*)#?(?P<number>[0-9]{1,15})\b\)?"
);

// Politeness, and the client, at the beginning.
pattern!(
    BEFORE,
    r"^(?:[\x02\x03]+(?:'s\b)?[\s,:;-]*|(?:please|now|ok|okay)\b[,\s]+|(?:can|could|would) you\s+|i (?:want|need) to\s+|i(?:'d| would) like to\s+)+"
);

pattern!(
    RESERVED,
    format!(
        r"\b(?:{TANGLING}|{REQUEST}|{}|{})\b",
        names(COMPONENT),
        type_names()
    )
);

// The only form of an unquoted text: words, and at most one mark at the end.
pattern!(WORDS, format!("^{WORD}(?::? {WORD})*[.!?]?$"));
const WORD: &str = r"[\w--_]+(?:['’&:-][\w--_]+)*";

// An address, which ends in no mark of a sentence.
pattern!(ADDRESS, r#"^[^\s"'()<>\x01]*[^\s"'()<>\x01.,;!?]$"#);

#[derive(Clone, Debug, Default)]
pub(crate) struct Sentence {
    text: String,
    /// The text in small letters, with [`QUOTED`], [`CLIENT`] and [`BARE`] in place of quotes and client.
    pub(super) plain: String,
    /// The clients that are named, each as often as it is.
    pub(super) clients: Vec<String>,
}

impl Sentence {
    pub(crate) fn read(message: &str) -> Sentence {
        if message.len() > MESSAGE_MAX {
            return Sentence::default();
        }
        let mut text = message.trim().to_string();
        let (mut plain, mut clients) = (text.to_ascii_lowercase(), Vec::new());
        for quote in QUOTES.iter().flat_map(|quotes| quotes.find_iter(&text)) {
            hide(&mut plain, quote.range(), QUOTED);
        }
        let bare = plain.clone();
        for named in NAMED.iter().flat_map(|named| named.captures_iter(&bare)) {
            clients.push(canonical(&named["number"]));
            let is_apart = named.name("apart").is_some();
            let place = named.get_match().range();
            hide(&mut plain, place, if is_apart { CLIENT } else { BARE });
        }
        if let Some(before) = BEFORE.as_ref().and_then(|before| before.find(&plain)) {
            let end = before.end();
            text.drain(..end);
            plain.drain(..end);
        }
        Sentence {
            text,
            plain,
            clients,
        }
    }

    /// Returns the client if exactly one is named, or else the one that is known if none is.
    pub(crate) fn client_or<'a>(&'a self, known: Option<&'a str>) -> Option<&'a str> {
        match self.clients.as_slice() {
            [] => known,
            [one] => Some(one),
            _ => None,
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
        let fits = |pattern: &Option<Regex>| pattern.as_ref().is_some_and(|it| it.is_match(plain));
        let is_text = || {
            let is_open = self.plain[end..].trim_start().starts_with(BARE);
            !is_open && !fits(&RESERVED) && fits(&WORDS)
        };
        let is_sure = match kind {
            Kind::Text => is_text(),
            Kind::Address => fits(&ADDRESS) || is_text(),
            // A name such as that of a font is one word, or words with capitals.
            Kind::Name => {
                let is_capital = |word: &str| !word.starts_with(char::is_lowercase);
                is_text() && (!text.contains(' ') || text.split(' ').all(is_capital))
            }
            // What is none of the few values that these can be is refused later.
            _ => !plain.contains(QUOTED),
        };
        is_sure.then(|| text.to_string())
    }
}

fn hide(text: &mut String, place: Range<usize>, mark: char) {
    let mask = mark.to_string().repeat(place.len());
    text.replace_range(place, &mask);
}
