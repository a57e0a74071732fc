//! What no call may say, whoever read it from a message. The grammar accounts for every word by its forms;
//! a call of a model that writes has to account for every word here.

use std::ops::Range;

use regex::Regex;
use serde_json::Value;

use super::grammar::{names, type_names};
use super::sentence::{BARE, CLIENT, Sentence};
use super::value::{Kind, plain, rejection};
use super::vocabulary::{COMPONENT, Field, STATES, TYPES, contains_word, find_field};
use super::{Call, Tool};

/// Words of a request that say nothing of what is to be done.
const FILLERS: &str =
    "a|an|the|my|our|this|its|new|component|of|on|to|from|in|with|have|be|as|please";

/// What may stand between a field and its value; the component between them is blanked by then.
const LINK: &str =
    r"(?:\s+of(?:\s+(?:my|the|our))?\s{4,})?(?:\s*[:=]\s*|\s+(?:(?:to be|to|as|into|be|is)\s+)?)";
const LINKS: &str = "to|as|into|be|is|of|from";
/// What follows a value.
const END: &str = r"(?:\s*[.!]?\s*(?:$|[\x02\x03])|,?\s+and\b|,\s)";

/// Refuses protected and unknown fields of components.
pub(crate) fn check_fields(call: &Call) -> Result<(), String> {
    let is_new = |key: &String| call.tool == Tool::AddComponent && key == "component_type";
    let mut updates = call.object("updates");
    let mut criteria = call.object("criteria");
    updates.retain(|key, _| !is_new(key));
    criteria.retain(|key, _| !contains_word("component_type|componentId|called", key));
    let mut keys = updates.keys().chain(criteria.keys());
    match keys.find(|key| find_field(COMPONENT, key).is_none_or(Field::is_protected)) {
        Some(key) => Err(rejection(call.tool, key)),
        None => Ok(()),
    }
}

/// Checks a call of a model against its message and returns what that does not say. A client and a component
/// have to be in the message, or the client in the conversation. A call that writes has to begin with a verb
/// for it, have every value right behind its field, in quotes or up to the next field or the end, and leave
/// no word over.
pub(super) fn check_words(
    call: &Call,
    sentence: &Sentence,
    client: Option<&str>,
) -> Result<(), String> {
    let named = match sentence.clients.as_slice() {
        [] => client,
        _ => sentence.client(),
    };
    if sentence.clients.len() > 1 || call.has("clientId") && Some(call.text("clientId")) != named {
        return Err(format!("client {}", call.text("clientId")));
    }
    let (mut left, id, types) = (
        sentence.plain.clone(),
        call.text("componentId"),
        type_names(),
    );
    let numbered =
        format!(r"(?:\b(?:component(?:[\s_-]?id)?|{types})\s*[:#=]?|#)\s*0*{id}\b(?:'s)?");
    if !id.is_empty() && !cut(&mut left, &numbered, |_| true) {
        return Err(format!("component {id}"));
    }
    let verbs = match call.tool {
        Tool::AddComponent => "add|create|insert|build|make",
        Tool::DeleteComponent => "delete|remove|erase|drop|discard|get rid of",
        Tool::AddSecurityGroup => "add|assign|attach|grant|give|put|insert|secure",
        Tool::RemoveSecurityGroup => "remove|detach|revoke|take|drop",
        _ if call.tool.can_write() => {
            "set|change|update|edit|modify|adjust|make|mark|give|let|use|move|turn"
        }
        _ => return Ok(()),
    };
    if !cut(&mut left, &format!(r"^(?:{verbs})\b"), |_| true) {
        return Err(call.tool.name().to_string());
    }
    // What is looked for is in quotes, so that it is certain where it ends.
    for (key, value) in call.object("criteria") {
        let pattern = own_words(&key, &value)
            .unwrap_or_else(|| format!(r"{}(?P<value>\x01+)", lead(call, &key)));
        let is_it = |place| sentence.quoted(place) == value.as_str();
        if !cut(&mut left, &pattern, is_it) {
            return Err(plain(&value));
        }
    }
    for (key, value) in call.object(call.tool.updates()) {
        let text = plain(&value);
        let kind = find_field(call.tool.fields(), &key).map_or(Kind::Protected, |it| it.kind);
        let pattern = own_words(&key, &value)
            .unwrap_or_else(|| format!("{}{}{END}", lead(call, &key), place_of(&text)));
        if !cut(&mut left, &pattern, |place| {
            says(sentence, place, &text, kind)
        }) {
            return Err(text);
        }
    }
    let group = call.text("security_group_title");
    let place = place_of(group);
    let before = format!(r"{place}\s+(?:security\s+)?group\b");
    let behind = format!(r"\b(?:security\s+)?group\s+{place}{END}");
    let is_it = |place| says(sentence, place, group, Kind::Text);
    if !group.is_empty() && !cut(&mut left, &before, is_it) && !cut(&mut left, &behind, is_it) {
        return Err(group.to_string());
    }
    let between = [' ', '\t', '\n', ',', '.', '!', CLIENT, BARE];
    let mut words = left.split(between);
    match words.find(|word| !word.is_empty() && !contains_word(FILLERS, word)) {
        Some(word) => Err(word.to_string()),
        None => Ok(()),
    }
}

/// Returns a pattern for a type or a state, which is its own word.
fn own_words(key: &str, value: &Value) -> Option<String> {
    let words = match value {
        Value::Bool(_) => STATES.iter().find(|(_, path)| *path == key)?.0,
        _ if key == "component_type" => {
            let mut all = TYPES.iter();
            all.find(|words| contains_word(words, &plain(value)))?
        }
        _ => return None,
    };
    let un = if *value == false { "un" } else { "" };
    Some(format!(r"\b{un}(?:{words})\b"))
}

/// Returns a pattern for the words for a field, up to its value.
fn lead(call: &Call, key: &str) -> String {
    let field = find_field(call.tool.fields(), key).map(std::slice::from_ref);
    let words = field.map_or_else(|| regex::escape(key), names);
    match key == "called" || key == "props.title" && call.tool == Tool::AddComponent {
        true => format!(r"\b(?:called|named|titled|{words}){LINK}"),
        false => format!(r"\b{words}{LINK}"),
    }
}

/// Returns a pattern for a value, or anything in quotes.
fn place_of(value: &str) -> String {
    let escaped = regex::escape(&value.to_ascii_lowercase()).replace(r"\-", r"[\s-]");
    format!(r"(?P<value>\x01+|{escaped})")
}

/// Whether a value stands at a place: in quotes, or of its kind, and can be nothing more.
fn says(sentence: &Sentence, place: Range<usize>, value: &str, kind: Kind) -> bool {
    let first = value.split(' ').next().unwrap_or_default().to_lowercase();
    match sentence.quoted(place.clone()) {
        Some(quoted) => quoted == value,
        // Such a word may belong to those before the value.
        None if contains_word(LINKS, &first) => false,
        None => {
            let read = sentence.value(place, kind);
            let read = read.and_then(|text| kind.read(&text.into()));
            read.is_some_and(|read| plain(&read) == value)
        }
    }
}

/// Blanks the first place of a pattern whose `value`, if it has one, fits; false where there is none.
fn cut(left: &mut String, pattern: &str, fits: impl Fn(Range<usize>) -> bool) -> bool {
    let regex = Regex::new(pattern).ok();
    let mut found = regex.iter().flat_map(|it| it.captures_iter(left));
    let found = found.find(|it| it.name("value").is_none_or(|value| fits(value.range())));
    let Some(place) = found.map(|it| it.get_match().range()) else {
        return false;
    };
    let blanks = " ".repeat(place.len());
    left.replace_range(place, &blanks);
    true
}
