//! A message prepared for the grammar: without politeness, and with quoted texts and the client masked.

use std::ops::Range;

use serde_json::{Value, json};

use super::record::canonical;
use super::value::Kind;
use super::vocabulary::{COMPONENT, list_names, type_names};

/// Longest message that is understood, in bytes.
const MESSAGE_MAX: usize = 20_000;
/// Replaces each byte of a quoted text but the first.
const QUOTED: char = '\u{1}';
/// Replaces the first byte of a quoted text.
const QUOTE: char = '\u{4}';
/// Replaces the words that name the client, byte for byte, where they end the text before them.
pub(super) const CLIENT: char = '\u{2}';
/// Replaces the client where the text before may continue: "title to Fans of client 7".
pub(super) const BARE: char = '\u{3}';

pub(super) const POLITE: &str = r"(?:please|pls|plz|thanks|thx|thank you)\b";
/// Words that speak of a text rather than being one.
const PRONOUNS: &str = "it|its|this|that|them|these|those|same|nothing|something|anything|everything|none|empty|blank|\
    null|default|original|previous|bold|italics?|uppercase|lowercase|caps|capitals?|please|pls|thanks?";
/// Words that link others, which with a capital are words of a text: "titled To Do".
const LINK: &str = "to|be|into|as|by|with|and|or|of|on|for|in|from|should|is|called|named|titled";

patterns! {
    /// A double quote up to the next one; a single one only around words, in which it is an apostrophe.
    QUOTES = r#""[^"]*"|“[^”]*”|\B'(?:[^']|\b'\b)*?'\B|‘[^‘]*?’\B"#;
    MASKED = r"\x04\x01+";
    /// "client 6", "for my clientId: 6", "(client #6)", …
    NAMED =
        r"(?:(?P<for>\bfor\s+)|[,;:(]\s*|\b(?:of|on|in|from)\s+|\b)(?:(?:i am|i['’]m|it is|it['’]s|this is)\s+)?(?:(?:my|the|our|this)\s+)?client(?:['’]s)?[\s_-]?(?:id)?(?:\s*[:=]\s*|\s+(?:is|number|no\.?)\s+|\s*)#?(?P<number>[0-9]{1,15})\b(?:['’]s\b)?\)?";
    /// A word in which what looks like a client is only a part, such as an address.
    ADDRESSES = r"[^\s\x01]*(?:[/@&]|[?.]\w|#[a-z]|[-\w=+%~$]client|\d[-+%=~$])[^\s\x01]*";
    /// Politeness, and the client, at the beginning.
    BEFORE =
        r"^(?:[\x02\x03]+[\s,:;.!-]*|(?:hi|hello|hey)\b(?: there\b)?[\s,.!\x02\x03]+|(?:please|pls|kindly|now|ok|okay|just|also|simply)\b[,\s]+|(?:can|could|would|will) you\s+|i(?: just| also)?(?: want| need| would like|['’]d like) (?:you )?to\s+|let['’]s\s+)+";
    LINKS = format!(r"\b(?i:{LINK})\b");
    LINK_FIRST = format!(r"^(?:{LINK})\b");
    /// The text before the first word of a sentence.
    FIRST = r"(?:^|[.!?])\s*$";
    /// Quotes beside each other or within words, and those that end or begin nothing: no form fits.
    MISQUOTED = r#"[^\s=:,(\x04]\x04|\x04\x01+[^\s.,:;!?)\x01]|["“”„‘]|(?:^|[^\w\x01])['’]"#;
    SEVERAL = r"\b(?:and|or|but|not|except)\b|,";
    /// The only form of an unquoted text.
    WORD = r"^[\w--_](?:[\w--_]|['’&-]\w)*$";
    VAGUE = format!("^(?:{PRONOUNS}|{}|{})$", list_names(COMPONENT), type_names());
    /// Words that select or count rather than name: "the last card", "no group".
    COUNT = format!(
        r"^(?:the|an?|my|our|your|his|her|their|no|not|any(?:one)?|some|each|every(?:one|body)?|nobody|all|both|n?either|only|another|others?|such|few|many|most|more|last|latest|next|previous|prior|current|existing|new(?:er|est)?|old(?:er|est)?|recent|top|bottom|middle|left|right|upper|lower|wrong|remaining|rest|[0-9]+(?:st|nd|rd|th)?|one|two|three|four|five|six|seven|eight|nine|ten|first|second|(?:thi|fou|fif|six|seven|eigh|nin|ten)(?:rd|r?th)|(?:un)?(?:blurred|secured?|scheduled)|security|access|groups?|{LINK})$"
    );
    /// The link before an unquoted text; `OPEN` is what may belong to the text behind it.
    LINKED = r"(?:\bto|\bto be|[=:])\s*$";
    /// Behind "and" only a noun is the next field: "and text Bob" may be another request.
    WITH = format!(
        r"\b(?:with\s+(?:(?:the|an?)\s+)?{}|and\s+(?:the\s+)?(?:title|heading|caption|subtitle|subheading|description))\s+$",
        list_names(COMPONENT)
    );
    OPEN = format!(r"^[\s.,]*(?:\x03|{POLITE})");
    MARKED = r"^(?:[\s,.]*!|[\s,]*\.\.|['’]s)";
    POSSESSED = format!(r"^['’]s\s+{}", list_names(COMPONENT));
}

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
        for word in LINKS.find_iter(&text) {
            let is_first = FIRST.is_match(&text[..word.start()]);
            if !starts_lowercase(word.as_str())
                && !is_first
                && text.split(' ').any(starts_lowercase)
            {
                plain.replace_range(word.range(), word.as_str());
            }
        }
        for quote in QUOTES.find_iter(&text) {
            mask_range(&mut plain, quote.range(), QUOTED);
            plain.replace_range(quote.start()..=quote.start(), "\u{4}");
        }
        let is_misquoted = MISQUOTED.is_match(&plain);
        let mut bare = plain.clone();
        for address in ADDRESSES.find_iter(&plain) {
            mask_range(&mut bare, address.range(), QUOTED);
        }
        for named in NAMED.captures_iter(&bare) {
            clients.push(canonical(&named["number"]));
            let place = named.get_match().range();
            let is_apart = named.name("for").is_some() || FIRST.is_match(&bare[..place.start]);
            mask_range(&mut plain, place, if is_apart { CLIENT } else { BARE });
        }
        if let Some(end) = BEFORE.find(&plain).map(|it| it.end()) {
            // "Could you …?" is not a question.
            if plain[..end].contains("you ") && plain.ends_with('?') {
                text.pop();
                plain.pop();
            }
            text.drain(..end);
            plain.drain(..end);
        }
        if is_misquoted {
            plain = QUOTE.to_string();
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

    /// Returns the text at a place if all of it is one quote.
    pub(super) fn read_quote(&self, place: Range<usize>) -> Option<&str> {
        let inner = self.plain[place.clone()].strip_prefix(QUOTE)?;
        let is_quoted = inner.chars().all(|c| c == QUOTED) && !inner.is_empty();
        let mut inner = self.text[place].chars();
        inner.next()?;
        inner.next_back()?;
        is_quoted.then_some(inner.as_str())
    }

    pub(super) fn quotes(&self) -> impl Iterator<Item = &str> {
        let quotes = MASKED.find_iter(&self.plain);
        quotes.filter_map(|quote| self.read_quote(quote.range()))
    }

    /// Returns a name, which is only looked up: a quoted text, one word, or up to three.
    /// A word that counts is a name only where it `is_said` that it is one: "the card called Last".
    pub(super) fn words(&self, place: Range<usize>, is_said: bool) -> Option<&str> {
        let text = &self.text[place.clone()];
        let count = text.split_whitespace().count();
        let is_name = count == 1 || count <= 3 && !starts_lowercase(text);
        let plain = &self.plain[place.clone()];
        let is_sure = !VAGUE.is_match(plain) && (is_said || !COUNT.is_match(plain));
        let is_whole = !is_cut(text, &self.plain[place.end..]);
        let is_one = is_name && is_sure && is_whole && !SEVERAL.is_match(plain);
        self.read_quote(place).or(is_one.then_some(text))
    }

    /// Reads the value of a field; `None` if the sentence has none. A text without quotes is one word with a
    /// capital behind "to" or its like, or what a component is to be made `with`; other words come in an array,
    /// to be asked for in quotes, and so does what may be an abbreviation. Invalid values of other fields are refused later
    /// if it stands behind "to"; an address that ends in marks is one of those.
    pub(super) fn value(&self, place: Range<usize>, kind: Kind, is_new: bool) -> Option<Value> {
        if let Some(quoted) = self.read_quote(place.clone()) {
            return Some(quoted.into());
        }
        let (before, after) = (&self.plain[..place.start], &self.plain[place.end..]);
        let marks = after.len() - after.trim_start_matches(['.', '!']).len();
        let marked = &self.text[place.start..place.end + marks];
        let is_linked = LINKED.is_match(before);
        let text = match kind {
            Kind::Address if marks > 0 && &after[..marks] != "." => marked,
            _ => &self.text[place.clone()],
        };
        if !matches!(kind, Kind::Text | Kind::Name) {
            let value = Value::from(text.strip_prefix("a ").unwrap_or(text));
            let is_told = is_linked || kind.read(&value).is_some();
            return is_told.then_some(value);
        }
        let is_told = is_linked || is_new && WITH.is_match(before);
        let is_word = WORD.is_match(text) && !VAGUE.is_match(&text.to_lowercase());
        // Where all words have a capital it marks no text.
        let has_small = self.text[..place.start].split(' ').any(starts_lowercase);
        let is_name = text.starts_with(char::is_uppercase) && has_small;
        if is_told && is_word && is_name && !is_cut(text, after) && !OPEN.is_match(after) {
            return Some(text.into());
        }
        // "As before" is not text.
        (is_told || !LINK_FIRST.is_match(text)).then(|| json!([marked]))
    }
}

/// Whether what follows a text may be a part of it: marks, the dot of an abbreviation, or `'s` with nothing that is its.
fn is_cut(text: &str, after: &str) -> bool {
    let is_short = text.chars().count() < 7;
    after.starts_with('.') && is_short || MARKED.is_match(after) && !POSSESSED.is_match(after)
}

fn starts_lowercase(word: &str) -> bool {
    word.starts_with(char::is_lowercase)
}

fn mask_range(text: &mut String, place: Range<usize>, mark: char) {
    let mask = mark.to_string().repeat(place.len());
    text.replace_range(place, &mask);
}
