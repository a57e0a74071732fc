//! Answers to what the chat asked for: the value of a field as it stands, else what completes the
//! request.

use serde_json::{Map, Value};

use super::WHOLE_MAX;
use crate::chat::message::{Message, SEAM, unquoted};
use crate::chat::pending::Ask;
use crate::chat::request::{Request, assigned, behind_name};
use crate::chat::value::label;
use crate::chat::vocabulary::{PHRASES, POLITE, VERBS, Verb, component_type};
use crate::chat::{ChatAgent, design, router};

/// Verbs that an answer begins with only where it is a request, or says more than the value.
const BEGIN: &[&str] = &[
    "set",
    "change",
    "make",
    "update",
    "edit",
    "modify",
    "rename",
    "replace",
    "delete",
    "remove",
    "show",
    "list",
    "get",
    "find",
    "display",
    "blur",
    "secure",
    "schedule",
    "unblur",
    "unsecure",
    "unschedule",
];
/// Words in a row that such an answer begins with.
const OPENINGS: &[&[&str]] = &[
    &["can", "you"],
    &["could", "you"],
    &["would", "you"],
    &["will", "you"],
    &["i", "want"],
    &["i", "meant"],
    &["i", "mean"],
    &["i", "need"],
    &["i", "would"],
    &["i", "d"],
    &["wait"],
    &["actually"],
    &["sorry"],
];

/// Reads the value that is asked for, and returns it with those that are known already. None is
/// what is clearly another request, or only says which field is meant.
pub(super) fn given(ask: &Ask, message: &str, client: Option<&str>) -> Option<Map<String, Value>> {
    let (agent, field) = ask.field.as_ref()?;
    let answer = option(ask, message).map_or(message.trim(), String::as_str);
    let value = match agent {
        _ if is_request(answer) => None,
        ChatAgent::Design => {
            let answer = without_client(ask, client, answer);
            let is_here = !Request::read(&answer, None).names_client;
            design::answer(field, &answer).filter(|_| is_here)
        }
        _ if begins_request(answer) || sets_other(field, answer) => None,
        _ => text(ask, client, field, answer).map(Value::from),
    }?;
    let mut given = ask.given.clone();
    given.insert(field.clone(), value);
    Some(given)
}

/// Says whether an answer is a request of its own: a verb with a component, a design or a client, a
/// component, or only a client.
fn is_request(answer: &str) -> bool {
    let request = Request::read(answer, None);
    let names = ["component", "components", "design"];
    let is_about = request.component.is_some()
        || request.names_client
        || request.has(&names)
        || !design::named(&request.head).is_empty();
    let first = request.words.first().map_or("", String::as_str);
    let is_component = first.starts_with("component") && request.component.is_some();
    let is_client = request.words.is_empty() && request.names_client;
    request.begins_with_verb() && is_about || is_component || is_client
}

/// Says whether an answer begins like a request, politeness left aside. It is then read as one that
/// completes what was asked for, or as another.
fn begins_request(answer: &str) -> bool {
    let request = Request::read(answer, None);
    let words = request.words.iter().map(String::as_str);
    let words: Vec<&str> = words.skip_while(|word| POLITE.contains(word)).collect();
    let is_group = |word: &&str| word.starts_with("security") || word.starts_with("group");
    let is_thing = |word: &&str| component_type(word).is_some() || is_group(word);
    let is_own = |word: &&str| ["me", "my"].contains(word);
    let first = words.first().copied().unwrap_or_default();
    let is_verb = match VERBS.iter().find(|(verb, _)| *verb == first) {
        Some((_, Verb::Create)) => words.iter().any(is_thing),
        Some(_) => BEGIN.contains(&first) || words.iter().any(is_own),
        None => false,
    };
    is_verb || OPENINGS.iter().any(|opening| words.starts_with(opening))
}

/// Says whether an answer sets another field than the one that is asked for, or several.
fn sets_other(field: &str, answer: &str) -> bool {
    let assigned = assigned(answer);
    assigned.len() > 1 || assigned.iter().any(|other| *other != field)
}

/// Reads the text that a field should become. One that only repeats the name of the field is none.
fn text(ask: &Ask, client: Option<&str>, field: &str, answer: &str) -> Option<String> {
    let phrases = PHRASES.iter().filter(|(_, path)| *path == field);
    let phrases: Vec<String> = phrases.map(|(words, _)| words.join(" ")).collect();
    let names = phrases.iter().map(String::as_str);
    let names: Vec<&str> = names.chain([label(field), field]).collect();
    let bare = answer.trim_end_matches(['.', '?', '!']).to_lowercase();
    let bare = bare.strip_prefix("the ").unwrap_or(&bare);
    if bare == label(field).to_lowercase() || bare == field {
        return None;
    }
    let said = without_client(ask, client, behind_name(&names, answer));
    let said = unquoted(said.trim()).to_string();
    (!said.trim().is_empty()).then_some(said)
}

/// Takes the client off the end of an answer that repeats the one it is about.
fn without_client(ask: &Ask, client: Option<&str>, answer: &str) -> String {
    let lead = "title to ";
    let read = Message::read(&format!("{lead}{answer}"));
    let asked = Message::read(&ask.message).client;
    let asked = asked.as_deref().or(client);
    let is_same = read.client.is_some() && read.client.as_deref() == asked && !read.is_bare;
    let rest = read.body.get(lead.len()..).unwrap_or_default().trim();
    match is_same && !rest.is_empty() {
        true => rest.to_string(),
        false => answer.to_string(),
    }
}

/// Finds the option that an answer chooses by its number.
fn option<'a>(ask: &'a Ask, answer: &str) -> Option<&'a String> {
    let place = number(answer)?.checked_sub(1)?;
    ask.options.get(place)
}

fn number(answer: &str) -> Option<usize> {
    answer.trim().trim_end_matches('.').parse().ok()
}

/// Completes a request with a message that is no request of its own.
pub(super) fn completed(ask: &Ask, message: &str) -> Option<String> {
    let answer = match (option(ask, message), number(message)) {
        (Some(option), _) => option.clone(),
        (None, Some(number)) if ask.is_client => format!("client {number}"),
        _ => message.trim().to_string(),
    };
    let request = Request::read(&answer, None);
    let is_named = request.component.is_some() || request.fault.is_some();
    // "New" or "Get started" is a value: it names nothing of which something could be done.
    let is_request = || router::chosen(&request, None).reason != router::NO_RULE;
    let is_own = is_named || request.verb.is_some() && is_request();
    let whole = format!("{}{SEAM} {answer}", ask.message);
    (!is_own && whole.len() <= WHOLE_MAX).then_some(whole)
}
