//! Several changes of a design in one message: each is offered, or named as left out.

use serde_json::{Map, Value};

use super::{AGENT, best, option, share, wanted};
use crate::chat::Saying;
use crate::chat::message::{SEAM, parts};
use crate::chat::request::Request;
use crate::chat::value::{brief, element, plain};
use crate::chat::vocabulary::{Element, POLITE, Verb};

/// Most parts of a message that are looked at.
const PARTS_MAX: usize = 50;
const TOO_MUCH: &str = "I read at most 50 parts of a message. Nothing was changed. Please say it in several \
    messages.";
const MANY_CLIENTS: &str = "I work on one client at a time, and you name several. Nothing was changed. Please \
    say it again for each of them.";

/// What is to be changed, by its keys, and the parts of the message that say nothing of it.
pub(super) type Wanted = (Map<String, Value>, Vec<String>);

/// Finds the changes that are wanted, also where each has a value of its own: "button radius to full
/// and card style to stroked". What of it is no change of a design is returned too.
pub(super) fn all_wanted(request: &Request) -> Result<Wanted, Box<Saying>> {
    let client = request.client.as_deref();
    let texts = parts(&request.message);
    if texts.len() > PARTS_MAX {
        return Err(Box::new(Saying::new(AGENT, TOO_MUCH)));
    }
    let all: Vec<Request> = texts
        .into_iter()
        .map(|part| Request::read(part, client))
        .filter(|part| {
            !part
                .words
                .iter()
                .all(|word| POLITE.contains(&word.as_str()))
        })
        .collect();
    if all.iter().any(|part| part.client != request.client) {
        return Err(Box::new(Saying::new(AGENT, MANY_CLIENTS)));
    }
    // With one value for all of it, as in "button and card radius to full", the parts are no changes.
    let is_one = !all.iter().any(is_whole) || has_one_value(request);
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

/// Returns what parts say, without the answers that complete them.
fn messages(parts: Vec<Request>) -> Vec<String> {
    let said = |part: Request| part.message.split(SEAM).next().map(String::from);
    parts.into_iter().filter_map(said).collect()
}

/// Says whether a part of a message names what of the design is to become what.
fn is_whole(part: &Request) -> bool {
    let (named, is_full) = best(&part.head);
    let has_option = |element: &&Element| option(element, &part.words).is_some();
    let has_value = part.value.is_some() || named.iter().any(has_option);
    is_full && has_value && part.component.is_none() && !matches!(part.verb, Some(Verb::Read))
}

/// Says whether all that is taken apart stands before the only value.
fn has_one_value(request: &Request) -> bool {
    let value = request.value.as_deref();
    value.is_some_and(|value| parts(value).len() == 1)
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
