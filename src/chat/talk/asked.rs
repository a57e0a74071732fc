//! Answers to what the chat asked for: the value of a field as it stands, else what completes the
//! request.

use serde_json::{Map, Value};

use super::WHOLE_MAX;
use crate::chat::message::{Message, SEAM, parts, quoted_first, said, unquoted};
use crate::chat::pending::Ask;
use crate::chat::request::{Request, assigned, behind_lead, behind_name};
use crate::chat::value::{brief, fits, label};
use crate::chat::vocabulary::{PHRASES, POLITE, QUESTIONS, VERBS, Verb, component_type};
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

/// What an answer comes to.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    /// The value that is asked for, with those that are known already.
    Given(Map<String, Value>),
    /// It completes the request, which is then this.
    Whole(String),
    /// It is a request of its own, which is this.
    Own(String),
    /// It is none, so the question is asked again; the text says why.
    Again(String),
}

/// Reads an answer to a question.
pub(super) fn read(ask: &Ask, message: &str, client: Option<&str>) -> Answer {
    if let Some(given) = given(ask, message, client) {
        return Answer::Given(given);
    }
    let other = match &ask.field {
        Some((ChatAgent::Design, key)) => design_answer(key, message),
        Some((ChatAgent::Editor, field)) => no_text(ask, field, message, client),
        _ => None,
    };
    let own = || Answer::Own(message.to_string());
    other.unwrap_or_else(|| completed(ask, message).map_or_else(own, Answer::Whole))
}

/// Reads an answer about a part of the design that is not simply what it is to become: another part, or
/// more than an option.
fn design_answer(key: &str, message: &str) -> Option<Answer> {
    let request = Request::read(message, None);
    let is_other = request.verb.is_some_and(|verb| verb != Verb::Update);
    let is_order = request.begins_with_verb() && is_other;
    if is_request(message) || request.names_client || is_order {
        return None;
    }
    let mut parts = parts(message).into_iter().map(|place| &message[place]);
    let begins = parts
        .next()
        .is_some_and(|first| design::answer(key, first).is_some());
    if begins && parts.all(design::is_change) {
        return None;
    }
    let named = design::named(&request.words);
    if !begins && named.iter().any(|element| element.key != key) {
        let lead = if request.verb.is_some() {
            ""
        } else {
            "change "
        };
        return Some(Answer::Own(format!("{lead}{message}")));
    }
    let is_doubtful = !named.is_empty() || design::mentions(key, &request.words);
    is_doubtful.then(|| {
        let said = brief(message.trim());
        Answer::Again(format!("I did not understand \"{said}\".\n"))
    })
}

/// Reads an answer that is no text of a field: a question, or "no" with what is to be done instead.
fn no_text(ask: &Ask, field: &str, message: &str, client: Option<&str>) -> Option<Answer> {
    let again = || {
        let (said, name) = (brief(message.trim()), brief(label(field)));
        Answer::Again(format!(
            "I did not take \"{said}\" for the {name}; if it is, put it in quotes.\n"
        ))
    };
    if is_asking(message) {
        return Some(again());
    }
    if let Some(rest) = behind_no(message) {
        return Some(match read(ask, rest, client) {
            Answer::Given(_) => again(),
            answer => answer,
        });
    }
    // "Link to the Past" may be a title as well as a link.
    let is_signed = message.contains(['=', ':']) || begins_request(message);
    let other = assigned(message);
    if !is_signed && other.len() == 1 && other[0] != field {
        return Some(again());
    }
    let whole = completed(ask, message)?;
    let is_field = |word: &String| PHRASES.iter().any(|(words, _)| *words == [word.as_str()]);
    let names_field = Request::read(message, None).words.iter().any(is_field);
    let as_it_is = |value: &Value| value.as_str() == Some(message.trim());
    let updates = Request::read(&whole, client).updates;
    let mut texts = updates.values().filter_map(Value::as_str);
    // What stands behind quotes is more than the value.
    let begins_quoted = updates.len() == 1 && quoted_first(message).is_some();
    if begins_quoted || texts.any(|text| quoted_first(text).is_some()) {
        return Some(again());
    }
    let is_taken = updates.values().any(as_it_is);
    (begins_request(message) && names_field && is_taken).then(again)
}

/// Says whether all of an answer stands in quotes.
fn is_quoted(answer: &str) -> bool {
    let answer = answer.trim();
    unquoted(answer) != answer && quoted_first(answer).is_none()
}

/// Says whether an answer asks something: a question word first, and its sign last.
fn is_asking(answer: &str) -> bool {
    let words = Request::read(answer, None).words;
    let is_word = words
        .first()
        .is_some_and(|word| QUESTIONS.contains(&word.as_str()));
    is_word && words.len() > 1 && answer.trim_end().ends_with('?')
}

/// Takes a "no" off the start of an answer that then begins like a request.
fn behind_no(answer: &str) -> Option<&str> {
    let (no, rest) = answer.trim().split_once([',', '.', '!', ' '])?;
    let is_no = ["no", "nope", "nah"].contains(&no.to_lowercase().as_str());
    let rest = rest.trim();
    (is_no && begins_request(rest)).then_some(rest)
}

/// Reads the value that is asked for, and returns it with those that are known already. None is
/// what is clearly another request, or only says which field is meant.
fn given(ask: &Ask, message: &str, client: Option<&str>) -> Option<Map<String, Value>> {
    let (agent, field) = ask.field.as_ref()?;
    let answer = option(ask, message).map_or(message.trim(), String::as_str);
    let value = match agent {
        _ if is_request(answer) => None,
        ChatAgent::Design => {
            let answer = without_client(ask, client, answer);
            let is_here = !Request::read(&answer, None).names_client;
            design::answer(field, &answer).filter(|_| is_here)
        }
        _ if is_asking(answer) || behind_no(answer).is_some() => None,
        _ if sets_other(field, answer) => None,
        _ if begins_request(answer) && behind_lead(answer).is_none() => None,
        _ => text(ask, client, field, answer)
            .filter(|text| behind_lead(answer).is_none() || fits(field, text))
            .filter(|text| quoted_first(text).is_none() || is_quoted(answer))
            .map(Value::from),
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
    let value = without_client(ask, client, behind_name(&names, answer));
    let said = said(&value).to_string();
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
fn completed(ask: &Ask, message: &str) -> Option<String> {
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
