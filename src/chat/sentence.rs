//! A message prepared for reading: politeness cut off, and what is quoted and the client that is named out
//! of sight, so that neither is taken for anything else.

use std::ops::Range;

use regex::Regex;

use super::Tool;
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

/// Words that an unquoted text does not hold: they may speak about it, or begin another request.
const LOOSE: &str = "and|then|or|but|also|plus|unless|except|if|instead|because|when|while|until|before|after|\
    without|once|otherwise|not|no|nor|only|till|although|though|with|please|thanks?|twice|components?|clients?|\
    wait|sorry|actually|rather|oops|mean|meant|than|below|above|under|over|behind|beside|between|near|next|\
    nothing|something|anything|everything|whatever|none|empty|blank|default|original|previous|random|same|move|replace|copy|keep|hide|\
    groups?|(?:un)?(?:blur(?:red)?|secured?|scheduled?)|colou?rs?|bold|italics?|uppercase|lowercase|caps|capitals?|case";

patterns! {
    /// The same behind its first word ("Hello in bold", "Hello tomorrow", "Hello ASAP"), or in small letters ("Hello
    /// making it bold", "better").
    LATER =
        r"(?i:\s(?:(?:in|on|at|to|of|for|from|by|as|into|onto|off|within|against|via|per|towards?|alongside|opposite|atop|versus|like|across|along|around|through|during|since|despite)\s|(?:now|today|tomorrow|tonight|later|soon|again|too|just|first|last|top|bottom|left|right|inside|beneath|underneath|everywhere|always|maybe|perhaps|asap|ok|okay|yes|undo|stop|cancel|forget|both|similar|\d{1,3}[a-z]*|\d{5,}|[03-9]\d{3})\b))|(?:^|\s)[a-z]*(?:[a-mo-z]t|[a-su-z])er\b|(?:^|\s)[a-z]+(?:ing|ly|ed)\b|\s[A-Z]{2}";
    /// A double quote up to the next one; a single one only around words.
    QUOTES = r#""[^"]*"|“[^”]*”|\B'(?:[^']|'\b)*?'\B"#;
    /// "client 6", "for my clientId: 6", "(client #6)", …
    NAMED =
        r"(?:(?P<apart>^|[,;:(]\s*|\bfor\s+)|\b(?:of|on|in|from|at|by)\s+|\b)(?:(?:i am|i['’]m|it is|it['’]s|this is)\s+)?(?:(?:my|the|our|this)\s+)?client(?:['’]s)?[\s_-]?(?:id)?(?:\s*[:=]\s*|\s+(?:is|number|no\.?)\s+|\s*)#?(?P<number>[0-9]{1,15})\b(?:['’]s\b)?\)?";
    /// A word in which what looks like a client is only a part, such as an address.
    ADDRESSES = r"[^\s\x01]*(?:[/@&]|[?.]\w|#[a-z]|[-\w=+%~$]client|\d[-+%=~$])[^\s\x01]*";
    /// Politeness, and the client, at the beginning.
    BEFORE =
        r"^(?:[\x02\x03]+[\s,:;.!-]*|(?:hi|hello|hey)\b(?: there\b)?[\s,.!\x02\x03]+|(?:please|kindly|now|ok|okay)\b[,\s]+|(?:can|could|would|will) you\s+|i(?: want| need| would like|['’]d like) (?:you )?to\s+|let['’]s\s+)+";
    RESERVED = format!(
        r"^(?:its?|them|that|this)\b|\b(?:{LOOSE}|{}|{}|{})\b",
        Tool::VERBS.join("|"),
        names(COMPONENT),
        type_names()
    );
    /// The only forms of an unquoted text: "Our story", "Our Long Story" and "Who we are", but not "Hello notify bob".
    WORDS = format!(
        r"^{WORD}(?: {WORD}| (?:a|an|the|my|our|your|we|you|it|is|are) {WORD}|(?: [\w--[_a-zà-ÿ]][\w'’&-]*){{2}})?$"
    );
    /// What a word has in front that is a value by itself: "template to grid".
    LINKED = r"(?:\s(?:to|into|as|with|by|is)\s+|[=:]\s*)$";
    /// What follows a text that may be a part of it: "Fans of client 7", "Come in, please".
    OPEN = r"^[\s,]*(?:\x03|please|thank)";
    /// An address, which has a mark in it, and none of a sentence at its end.
    ADDRESS = r#"^[^\s"'()<>\x01]*[/.:#?@][^\s"'()<>\x01]*[^\s"'()<>\x01.,;:!?]$|^[/#]$"#;
}

const WORD: &str = r"(?:\d+(?::\d+)+|[\w--_]+(?:['’&-][\w--_]+)*)";

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
        let mut bare = plain.clone();
        for address in ADDRESSES.iter().flat_map(|it| it.find_iter(&plain)) {
            hide(&mut bare, address.range(), QUOTED);
        }
        for named in NAMED.iter().flat_map(|named| named.captures_iter(&bare)) {
            clients.push(canonical(&named["number"]));
            let place = named.get_match().range();
            let before = bare[..place.start].trim_end();
            let is_apart = named.name("apart").is_some() || before.ends_with(['.', '!', '?']);
            hide(&mut plain, place, if is_apart { CLIENT } else { BARE });
        }
        if let Some(end) = BEFORE.as_ref().and_then(|it| Some(it.find(&plain)?.end())) {
            // "Could you …?" is no question.
            if plain[..end].contains("you ") && plain.ends_with('?') {
                text.pop();
                plain.pop();
            }
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

    /// Reads the value of a field, or without a kind what something is called, which only finds what is there.
    /// Without quotes a text begins with a capital, in a message that has small letters before it; a word
    /// stands behind "to" or its like; and an address has a mark in it.
    pub(super) fn value(&self, place: Range<usize>, kind: Option<Kind>) -> Option<String> {
        let plain = self.plain.get(place.clone())?.trim_end();
        let bare = plain.trim_end_matches(['.', '!', ' ']);
        let plain = match bare.ends_with(QUOTED) {
            true => bare,
            false => plain.strip_suffix('.').unwrap_or(plain),
        };
        let end = place.start + plain.len();
        if let Some(quoted) = self.quoted(place.start..end) {
            return Some(quoted.to_string());
        }
        let (before, text) = (&self.text[..place.start], &self.text[place.start..end]);
        let (is_one, is_open) = (!text.contains(' '), fits(&OPEN, &self.plain[end..]));
        let is_loose = is_open || fits(&LATER, text) || fits(&RESERVED, plain);
        let is_words = !is_loose && fits(&WORDS, text);
        let is_small = |word: &str| word.starts_with(char::is_lowercase);
        let is_capital = !is_small(text) && text.starts_with(char::is_alphabetic);
        let is_sure = match kind {
            None => is_words && (is_one || !is_small(text)),
            Some(Kind::Text | Kind::Name) => {
                is_words && is_capital && before.split_whitespace().any(is_small)
            }
            Some(Kind::Word) => is_words && is_one && fits(&LINKED, &self.plain[..place.start]),
            Some(Kind::Address) => fits(&ADDRESS, text) && !is_open,
            // What is none of the few values that these can be is refused later.
            Some(_) => !plain.contains(QUOTED),
        };
        is_sure.then(|| text.to_string())
    }
}

fn fits(pattern: &Option<Regex>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|it| it.is_match(text))
}

fn hide(text: &mut String, place: Range<usize>, mark: char) {
    let mask = mark.to_string().repeat(place.len());
    text.replace_range(place, &mask);
}
