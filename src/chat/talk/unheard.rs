//! What of a message its reply says nothing of: a word that no rule took must not be passed over, or a
//! yes is given to something else than was asked for.

mod quiet;
mod spoken;

use std::collections::HashSet;

use serde_json::Value;

use self::quiet::{is_quiet, passed, quiet};
use self::spoken::{spoken, words};
use crate::chat::message::{SEAM, Word};
use crate::chat::pending::Pending;
use crate::chat::request::Request;
use crate::chat::value::{brief, label, plain};
use crate::chat::vocabulary::{ELEMENTS, PHRASES, STATUS, STATUS_VERBS, TYPES, Verb};
use crate::chat::{ChatAgent, Saying, Tool, Wait, fault};

/// What lines of a reply begin with that restate nothing.
const SAYING: &[&str] = &[
    "Action:",
    "Next:",
    "Onboarding answers:",
    "- ",
    "For client",
];
/// Most pieces that are named.
const PIECES_MAX: usize = 10;

/// Says what of a request neither its reply nor what then waits holds, in a sentence; nothing where the
/// reply itself refuses or asks.
pub(super) fn said(request: &Request, saying: &Saying, results: &[Value]) -> String {
    let is_read = match &saying.wait {
        Wait::Pending(_) => request.verb == Some(Verb::Read),
        // The question goes on without the rest of the message.
        Wait::Ask(ask) if !ask.message.starts_with(&request.message) => false,
        Wait::Nothing if is_shown(request, results) => true,
        _ => return String::new(),
    };
    let mut quiet = quiet(request, is_read);
    let types = TYPES.iter().copied().flatten();
    match tells_type(saying) {
        true => types.for_each(|word| {
            quiet.remove(word);
        }),
        false => quiet.extend(types),
    }
    let pieces = pieces(told(request), &heard(request, saying, results), &quiet);
    if pieces.is_empty() {
        return String::new();
    }
    let more = pieces.len().saturating_sub(PIECES_MAX);
    let named = pieces.iter().take(PIECES_MAX);
    let named: Vec<String> = named.map(|one| format!("\"{}\"", brief(one))).collect();
    let more = match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let so = match is_read {
        true => "so nothing is chosen by it",
        false => "so it is left out",
    };
    format!("I did not understand {}{more}, {so}.", named.join(", "))
}

/// Returns what of a request its user said and was not told of yet: where a question for a value is
/// answered, the answer.
fn told(request: &Request) -> &str {
    let message = request.message.as_str();
    match message.find(SEAM).filter(|_| request.is_restated) {
        Some(seam) => &message[seam..],
        None if request.is_restated => "",
        None => message,
    }
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
    match &saying.wait {
        Wait::Pending(pending) => told.contains(&pending.tool),
        Wait::Nothing => saying.agent != ChatAgent::Design,
        _ => false,
    }
}

/// Collects the words of the reply, of what waits and of what was looked for.
fn heard(request: &Request, saying: &Saying, results: &[Value]) -> HashSet<String> {
    let mut heard = HashSet::new();
    let mut hear = |text: &str| heard.extend(words(text).map(|(_, word)| word));
    let is_asked = matches!(saying.wait, Wait::Pending(_));
    let begins = |line: &str| SAYING.iter().any(|start| line.starts_with(start));
    let lines = saying.text.lines();
    let lines = lines.filter(|line| !is_asked || !begins(line));
    lines.for_each(&mut hear);
    if let Wait::Ask(ask) = &saying.wait {
        hear(&ask.message);
    }
    if let Wait::Pending(pending) = &saying.wait {
        args(pending).for_each(|args| hear(&args));
    }
    // Neither a component that is named by its number nor a design is looked for.
    let criteria = request
        .criteria
        .iter()
        .filter(|_| request.component.is_none() && saying.agent != ChatAgent::Design);
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
    // A new component has fields under their own names.
    let own = |field: &'static str| field.rsplit('.').next().unwrap_or(field);
    let phrases = PHRASES
        .iter()
        .filter(|(_, field)| is_named(label(field)) || is_named(own(field)));
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

/// Finds what is not heard, words in a row together, each once.
fn pieces<'a>(message: &'a str, heard: &HashSet<String>, quiet: &HashSet<&str>) -> Vec<&'a str> {
    let spoken = spoken(message);
    let passed = passed(&spoken, heard);
    let mut places: Vec<Word> = Vec::new();
    let mut is_open = false;
    let mut was_quoted = false;
    for (at, said) in spoken.iter().enumerate() {
        is_open &= said.is_quoted == was_quoted;
        was_quoted = said.is_quoted;
        let is_heard = heard.contains(&said.text) || passed.contains(&at) || is_quiet(said, quiet);
        match places.last_mut().filter(|_| is_open && !is_heard) {
            Some(last) => last.end = said.place.end,
            None if !is_heard => places.push(said.place.clone()),
            None => {}
        }
        is_open = !is_heard;
    }
    let mut seen = HashSet::new();
    let pieces = places.into_iter().map(|place| &message[place]);
    pieces.filter(|piece| seen.insert(*piece)).collect()
}
