//! What of a message its reply says nothing of: a word that no rule took must not be passed over, or a
//! yes is given to something else than was asked for.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde_json::Value;

use crate::chat::message::{HIDDEN, SEAM, Word, hidden};
use crate::chat::pending::Pending;
use crate::chat::request::Request;
use crate::chat::value::{brief, label, plain};
use crate::chat::vocabulary::{
    ADVICE, ARTICLES, DESIGN, ELEMENTS, PHRASES, POLITE, QUESTIONS, REASONS, STATUS, STATUS_VERBS,
    TYPES, VERBS, Verb,
};
use crate::chat::{ChatAgent, Saying, Tool, Wait, fault};

/// Words that say nothing by themselves, and those by which other rules ask again.
const QUIET: &str = "about ahead all am any are as asap at away be been being both by can cannot \
    completely component components could d do does each entire entirely every existing false field fields \
    for forever from go good group groups had has have he her here him his i id ids if immediately in \
    instead into is it just kindly let like ll m may me might must need no non not number of off on one \
    ones only or page permanently please possible properties property quickly re really right s security \
    set shall she should simply site so some soon status still sure t that their them there these they \
    those to true un us value values ve want was we website well were what which whole will with would \
    yes yet your client clients clientid componentid securitygroup called named titled where whose current \
    currently";
/// Words for all that there is to see.
const SEEN: &str = "again details everything info information look looks many overview";

/// Words that no reply repeats.
static LITTLE: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let lists = [ARTICLES, POLITE, QUESTIONS].into_iter().flatten().copied();
    let words = lists.chain(QUIET.split_whitespace());
    words.chain(VERBS.iter().map(|verb| verb.0)).collect()
});

/// Words for what is shown anyway.
static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let fields = PHRASES.iter().flat_map(|(words, _)| *words);
    let parts = ELEMENTS
        .iter()
        .flat_map(|element| element.words.iter().copied().flatten());
    let words = fields.chain(parts).chain(DESIGN).chain(ADVICE).copied();
    words
        .chain(STATUS.iter().chain(STATUS_VERBS).map(|status| status.0))
        .chain(SEEN.split_whitespace())
        .collect()
});

/// A word of a message.
struct Said {
    place: Word,
    text: String,
    /// Whether it stands in quotes, where each word counts.
    is_quoted: bool,
}

/// Says what of a request neither its reply nor what then waits holds, in a sentence; nothing where the
/// reply itself refuses or asks.
pub(super) fn said(request: &Request, saying: &Saying, results: &[Value]) -> String {
    let is_read = match &saying.wait {
        Wait::Pending(_) => false,
        // The question goes on without the rest of the message.
        Wait::Ask(ask) if !ask.message.starts_with(&request.message) => false,
        Wait::Nothing if is_shown(request, results) => true,
        _ => return String::new(),
    };
    let mut quiet = LITTLE.clone();
    if is_read {
        quiet.extend(KNOWN.iter());
    }
    if !tells_type(saying) {
        quiet.extend(TYPES.iter().copied().flatten());
    }
    let pieces = pieces(&request.message, &heard(request, saying, results), &quiet);
    if pieces.is_empty() {
        return String::new();
    }
    let pieces: Vec<String> = pieces
        .iter()
        .map(|one| format!("\"{}\"", brief(one)))
        .collect();
    let so = match is_read {
        true => "so nothing is chosen by it",
        false => "so it is left out",
    };
    format!("I did not understand {}, {so}.", pieces.join(", "))
}

/// Says whether something is shown that was asked for.
fn is_shown(request: &Request, results: &[Value]) -> bool {
    let is_read = matches!(request.verb, Some(Verb::Read) | None);
    is_read && !results.is_empty() && results.iter().all(|result| fault(result).is_none())
}

/// Says whether the type of what is changed is known, so that another one is said in vain.
fn tells_type(saying: &Saying) -> bool {
    let told = [
        Tool::AddComponent,
        Tool::DeleteComponent,
        Tool::UpdateComponent,
        Tool::UpdateDesign,
    ];
    matches!(&saying.wait, Wait::Pending(pending) if told.contains(&pending.tool))
}

/// Collects the words of the reply, of what waits and of what was looked for.
fn heard(request: &Request, saying: &Saying, results: &[Value]) -> HashSet<String> {
    let mut heard = HashSet::new();
    let mut hear = |text: &str| heard.extend(words(text).map(|(_, word)| word));
    hear(&saying.text);
    if let Wait::Pending(pending) = &saying.wait {
        args(pending).for_each(|args| hear(&args));
    }
    // A component that is named by its number is not looked for.
    let criteria = request
        .criteria
        .iter()
        .filter(|_| request.component.is_none());
    for (key, value) in criteria {
        hear(label(key));
        hear(&value.to_string());
    }
    let called = request.called.iter();
    // A part of the design is called nothing.
    let called = called.filter(|_| saying.agent != ChatAgent::Design);
    let names = request.client.iter().chain(&request.component);
    called.chain(names).for_each(|name| hear(name));
    let changed = results.last().and_then(|result| result.get("component"));
    let kind = changed.and_then(|one| one.get("component_type"));
    kind.iter().for_each(|kind| hear(&plain(kind)));
    heard.extend(synonyms(&heard));
    heard
}

/// Returns what the calls that wait are given, as text.
fn args(pending: &Pending) -> impl Iterator<Item = String> {
    let next = pending.next.iter().map(|call| &call.args);
    let all = std::iter::once(&pending.args).chain(next);
    all.map(|args| flat(&Value::Object(args.clone())))
}

/// Writes the texts of a value without signs that JSON needs.
fn flat(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(flat).collect::<Vec<_>>().join(" "),
        Value::Object(all) => {
            let pairs = all
                .iter()
                .map(|(key, value)| format!("{key} {}", flat(value)));
            pairs.collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    }
}

/// Returns the words for everything whose name is heard: `heading` where it says `title`.
fn synonyms(heard: &HashSet<String>) -> Vec<String> {
    let is_named = |name: &str| words(name).all(|(_, word)| heard.contains(&word));
    let phrases = PHRASES.iter().filter(|(_, field)| is_named(label(field)));
    let phrases = phrases.flat_map(|(words, _)| words.iter().copied());
    let states = STATUS
        .iter()
        .chain(STATUS_VERBS)
        .filter(|status| is_named(label(status.1)));
    let elements = ELEMENTS.iter().filter(|element| is_named(element.label));
    let elements = elements.flat_map(|element| element.words.iter().copied().flatten().copied());
    let is_type = |words: &&&[&str]| words.iter().any(|word| heard.contains(*word));
    let types = TYPES.iter().filter(is_type).copied().flatten().copied();
    let all = phrases.chain(elements).chain(types);
    let all = all.chain(states.map(|status| status.0));
    all.map(String::from).collect()
}

/// Finds what is not heard, words in a row together.
fn pieces<'a>(message: &'a str, heard: &HashSet<String>, quiet: &HashSet<&str>) -> Vec<&'a str> {
    let mut pieces: Vec<Word> = Vec::new();
    let mut is_open = false;
    for said in spoken(message) {
        let is_heard =
            heard.contains(&said.text) || !said.is_quoted && quiet.contains(said.text.as_str());
        match pieces.last_mut().filter(|_| is_open && !is_heard) {
            Some(last) => last.end = said.place.end,
            None if !is_heard => pieces.push(said.place),
            None => {}
        }
        is_open = !is_heard;
    }
    pieces.into_iter().map(|piece| &message[piece]).collect()
}

/// Returns the words of a message without reasons.
fn spoken(message: &str) -> Vec<Said> {
    let plain = hidden(message);
    let mut spoken = Vec::new();
    let mut in_reason = false;
    for (place, text) in words(message) {
        let is_quoted = plain[place.clone()].starts_with(HIDDEN);
        let is_over = message[..place.start].trim_end().ends_with(SEAM);
        in_reason = in_reason && !is_over || !is_quoted && REASONS.contains(&text.as_str());
        if !in_reason {
            spoken.push(Said {
                place,
                text,
                is_quoted,
            });
        }
    }
    spoken
}

/// Finds the words of a text: letters in a row, or digits, in small letters and without leading zeros.
fn words(text: &str) -> impl Iterator<Item = (Word, String)> {
    let kind = |c: char| (c.is_alphabetic(), c.is_numeric());
    let mut rest = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) = rest.find(|(_, c)| c.is_alphanumeric())?;
        let mut end = start + first.len_utf8();
        while let Some((at, c)) = rest.next_if(|(_, c)| kind(*c) == kind(first)) {
            end = at + c.len_utf8();
        }
        let word = text[start..end].to_lowercase();
        let digits = word.trim_start_matches('0');
        let word = if digits.is_empty() { "0" } else { digits };
        Some((start..end, word.to_string()))
    })
}
