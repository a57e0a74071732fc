//! Several changes of a design in one message: each is offered, or named as left out.

use serde_json::{Map, Value};

use super::apart::pieces;
use super::values::option;
use super::{AGENT, apart, best, share, wanted};
use crate::chat::Saying;
use crate::chat::kind::Kind;
use crate::chat::message::{SEAM, Word, parts, without_reason};
use crate::chat::request::{MANY_CLIENTS, Request};
use crate::chat::value::{brief, element, plain};
use crate::chat::vocabulary::{Element, POLITE, Verb};

/// Most parts of a message that are looked at.
const PARTS_MAX: usize = 50;
const TOO_MUCH: &str = "I read at most 50 parts of a message. Nothing was changed. Please say it in several \
    messages.";

/// What is to be changed, by its keys, and the parts of the message that say nothing of it.
pub(super) type Wanted = (Map<String, Value>, Vec<String>);

/// Finds the changes that are wanted, also where each has a value of its own: "button radius to full
/// and card style to stroked". What of it is no change of a design is returned too.
pub(super) fn all_wanted(request: &Request) -> Result<Wanted, Box<Saying>> {
    let client = request.client.as_deref();
    if let Some(rest) = without_reason(&request.message) {
        let given = request.given.clone();
        return all_wanted(&Request {
            given,
            ..Request::read(&rest, client)
        });
    }
    if apart(request).is_some() {
        return Ok((wanted(request)?, Vec::new()));
    }
    let places = parts(&request.message);
    if places.len() > PARTS_MAX {
        return Err(Box::new(Saying::new(AGENT, TOO_MUCH)));
    }
    let all: Vec<Request> = with_values(&request.message, places)
        .into_iter()
        .flat_map(|place| pieces(&request.message, place))
        .map(|place| Request::read(&request.message[place], client))
        .filter(|part| !is_polite(part))
        .collect();
    if let Some(doubt) = all.iter().find_map(|part| part.fault.clone()) {
        return Err(Box::new(Saying::new(AGENT, doubt)));
    }
    if all.iter().any(|part| part.client != request.client) {
        return Err(Box::new(Saying::new(AGENT, MANY_CLIENTS)));
    }
    // With one value for all of it, as in "button and card radius to full", the parts are no changes.
    let is_one = !all.iter().any(is_whole) || has_one_value(&all);
    if is_one && !all.iter().all(is_whole) || all.len() < 2 {
        let updates = wanted(request)?;
        let beside = |part: &Request| is_beside(part, request, &updates);
        let left: Vec<Request> = all.into_iter().filter(beside).collect();
        return Ok((updates, messages(left)));
    }
    let (whole, left): (Vec<_>, Vec<_>) = all.into_iter().partition(is_whole);
    let mut updates = Map::new();
    for part in &whole {
        let clash = wanted(part)?.into_iter().find_map(|(key, value)| {
            let before = updates.insert(key.clone(), value.clone())?;
            (before != value).then_some((key, before, value))
        });
        if let Some((key, before, value)) = clash {
            return Err(Box::new(twice(&key, &before, &value)));
        }
    }
    Ok((updates, messages(left)))
}

/// Puts parts that a value was cut into together again, where the value is free text: "title font to
/// Arial, Helvetica".
fn with_values(message: &str, places: Vec<Word>) -> Vec<Word> {
    let mut joined: Vec<Word> = Vec::new();
    let mut is_open = false;
    for place in places {
        let part = Request::read(&message[place.clone()], None);
        match joined.last_mut().filter(|_| is_open && is_more(&part)) {
            Some(before) => before.end = place.end,
            None => {
                is_open = has_text(&part);
                joined.push(place);
            }
        }
    }
    joined
}

/// Says whether a part names nothing of its own.
fn is_more(part: &Request) -> bool {
    let names_nothing = part.verb.is_none() && part.component.is_none() && part.value.is_none();
    names_nothing && best(&part.words).0.is_empty() && !is_polite(part)
}

/// Says whether a part has a value that can be any text.
fn has_text(part: &Request) -> bool {
    let (named, is_full) = best(&part.head);
    let is_free = |element: &&Element| matches!(element.kind, Kind::Name | Kind::Text);
    is_full && part.value.is_some() && named.iter().all(is_free)
}

fn is_polite(part: &Request) -> bool {
    let mut words = part.words.iter();
    words.all(|word| POLITE.contains(&word.as_str()))
}

/// Returns what parts say, without the answers that complete them.
fn messages(parts: Vec<Request>) -> Vec<String> {
    let said = |part: Request| part.message.split(SEAM).next().map(String::from);
    parts.into_iter().filter_map(said).collect()
}

/// Says whether a part of a message names what of the design is to become what.
pub(super) fn is_whole(part: &Request) -> bool {
    let (named, is_full) = best(&part.head);
    let has_option = |element: &&Element| option(element, &part.words).is_some();
    let has_value = part.value.is_some() || named.iter().any(has_option);
    is_full && has_value && part.component.is_none() && !matches!(part.verb, Some(Verb::Read))
}

/// Says whether words name what something is not to become beside what it is: "solid not stroked".
pub(super) fn has_choice(words: &[String]) -> bool {
    let rather = ["not", "rather", "instead", "than"];
    words.iter().any(|word| rather.contains(&word.as_str()))
}

/// Says whether all that is taken apart stands before the only value.
fn has_one_value(all: &[Request]) -> bool {
    let first = all.iter().position(|part| part.value.is_some());
    first.is_some_and(|first| first + 1 == all.len())
}

/// Says whether a part has neither the value nor a word of what is changed.
fn is_beside(part: &Request, request: &Request, updates: &Map<String, Value>) -> bool {
    let names = |element: &'static Element| share(element, &part.words).0 > 0;
    let is_named = updates.keys().filter_map(|key| element(key)).any(names);
    request.value.is_some() && part.value.is_none() && !is_named
}

fn twice(key: &str, before: &Value, value: &Value) -> Saying {
    let label = element(key).map_or(key, |element| element.label);
    let text = format!(
        "The {label} cannot be both \"{}\" and \"{}\". Nothing was changed. Please say it again with \
         one of them.",
        plain(before),
        plain(value)
    );
    Saying::new(AGENT, text)
}

/// Names the parts of a message that are no change of a design.
pub(super) fn left_out(left: &[String]) -> String {
    if left.is_empty() {
        return String::new();
    }
    let left: Vec<String> = left
        .iter()
        .map(|part| format!("\"{}\"", brief(part.trim())))
        .collect();
    format!(
        "\nLeft out, because I did not understand it as a change of the design: {}. Please say it in a \
         message of its own.",
        left.join(", ")
    )
}
