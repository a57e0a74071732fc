//! What no call may say, whoever read it from a message. The grammar accounts for every word by its forms;
//! a call of a model that writes has to account for every word here.

use std::ops::Range;

use regex::Regex;
use serde_json::Value;

use super::grammar::{names, type_names};
use super::kind::Kind;
use super::sentence::{BARE, CLIENT, Sentence};
use super::value::{brief, plain, rejection};
use super::vocabulary::{COMPONENT, Field, STATES, TYPES, by_key, contains_word};
use super::{Call, Tool};

/// Words of a request that say nothing of what is to be done.
const FILLERS: &str =
    "a an the my our this its new component of on to from in with have be as please";

/// What may stand between a field and its value; the component between them is blanked by then.
const LINK: &str =
    r"(?:\s+of(?:\s+(?:my|the|our))?\s{4,})?(?:\s*[:=]\s*|\s+(?:(?:to be|to|as|into|be|is)\s+)?)";
const LINKS: &str = "to as into be is of from";
/// What follows a value.
const END: &str = r"(?:\s*[.!]?\s*(?:$|[\x02\x03])|,?\s+and\b|,\s)";

/// Refuses protected and unknown fields of components.
pub(crate) fn check_fields(call: &Call) -> Result<(), String> {
    let is_new = |key: &String| call.tool == Tool::AddComponent && key == "component_type";
    let mut updates = call.object("updates");
    let mut criteria = call.object("criteria");
    updates.retain(|key, _| !is_new(key));
    criteria.retain(|key, _| !contains_word("component_type componentId called", key));
    let mut keys = updates.keys().chain(criteria.keys());
    match keys.find(|key| by_key(COMPONENT, key).is_none_or(Field::is_protected)) {
        Some(key) => Err(rejection(call.tool, key)),
        None => Ok(()),
    }
}

/// Refuses a client and a component that are not in the message. `client` is the one that the conversation
/// is about.
pub(super) fn check_ids(
    call: &Call,
    sentence: &Sentence,
    client: Option<&str>,
) -> Result<(), String> {
    let named = match sentence.clients.as_slice() {
        [] => client,
        _ => sentence.client(),
    };
    let given = call.text("clientId");
    if sentence.clients.len() > 1 || !given.is_empty() && Some(given) != named {
        return Err("the message names no such client, or more than one".to_string());
    }
    let mut numbers = sentence.plain.split(|c: char| !c.is_ascii_digit());
    let id = call.text("componentId");
    match id.is_empty() || numbers.any(|number| number.trim_start_matches('0') == id) {
        true => Ok(()),
        false => Err(format!("component {} is not in the message", brief(id))),
    }
}

/// Refuses a call of a model that writes unless its message begins with a verb for it, has every value right
/// behind its field, in quotes or up to the next field or the end, and says nothing else.
pub(super) fn check_words(call: &Call, sentence: &Sentence) -> Result<(), String> {
    let mut rest = Rest {
        sentence,
        left: sentence.plain.clone(),
    };
    let verbs = match call.tool {
        Tool::AddComponent => "add|create|insert|build|make",
        Tool::DeleteComponent => "delete|remove|erase|drop|discard|get rid of",
        Tool::AddSecurityGroup => "add|assign|attach|grant|give|put|insert|secure",
        Tool::RemoveSecurityGroup => "remove|detach|revoke|take|drop",
        _ => "set|change|update|edit|modify|adjust|make|mark|give|let|use|move|turn",
    };
    if !rest.cut(&format!(r"^(?:{verbs})\b")) {
        return Err("the message does not begin with what is to be done".to_string());
    }
    let (id, types) = (call.text("componentId"), type_names());
    let numbered =
        format!(r"(?:\b(?:component(?:[\s_-]?id)?|{types})\s*[:#=]?|#)\s*0*{id}\b(?:'s)?");
    if !id.is_empty() && !rest.cut(&numbered) {
        return Err(format!("{id} is not said to be a component"));
    }
    let unsure = |value: &str| {
        let value = brief(value);
        format!("I am not sure what \"{value}\" is to be; say it in quotes, right behind its field")
    };
    for part in ["criteria", call.tool.updates()] {
        for (key, value) in call.object(part) {
            if !rest.cut_field(call.tool, part, &key, &value) {
                return Err(unsure(&plain(&value)));
            }
        }
    }
    let (group, text) = (call.text("security_group_title"), Some(Kind::Text));
    if !group.is_empty()
        && !rest.cut_value("", group, r"\s+(?:security\s+)?group\b", text)
        && !rest.cut_value(r"\b(?:security\s+)?group\s+", group, END, text)
    {
        return Err(unsure(group));
    }
    let between = [' ', '\t', '\n', ',', '.', '!', CLIENT, BARE];
    let mut words = rest.left.split(between);
    match words.find(|word| !word.is_empty() && !contains_word(FILLERS, word)) {
        Some(word) => {
            let word = brief(word);
            Err(format!("I am not sure what \"{word}\" is to mean here"))
        }
        None => Ok(()),
    }
}

/// What of a message is not accounted for yet.
struct Rest<'a> {
    sentence: &'a Sentence,
    left: String,
}

impl Rest<'_> {
    fn blank(&mut self, place: Option<Range<usize>>) -> bool {
        let blank = |place: Range<usize>| {
            let blanks = " ".repeat(place.len());
            self.left.replace_range(place, &blanks);
        };
        place.map(blank).is_some()
    }

    /// Blanks the first place of a pattern; false where it has none.
    fn cut(&mut self, pattern: &str) -> bool {
        let regex = Regex::new(pattern).ok();
        let place = regex.and_then(|regex| Some(regex.find(&self.left)?.range()));
        self.blank(place)
    }

    /// Blanks a value with the words for its field; a type or a state is its own word.
    fn cut_field(&mut self, tool: Tool, part: &str, key: &str, value: &Value) -> bool {
        if key == "component_type" {
            let is_it = |words: &&&str| words.split('|').next() == value.as_str();
            let words = TYPES.iter().find(is_it);
            return words.is_some_and(|words| self.cut(&format!(r"\b(?:{words})\b")));
        }
        if let Some(is_so) = value.as_bool() {
            let words = STATES.iter().find(|(_, path)| *path == key);
            let un = if is_so { "" } else { "un" };
            return words.is_some_and(|(words, _)| self.cut(&format!(r"\b{un}(?:{words})\b")));
        }
        let field = by_key(tool.fields(), key);
        let mut words = field.map_or(String::new(), names);
        if key == "called" || key == "props.title" && tool == Tool::AddComponent {
            words = format!("(?:called|named|titled|{words})");
        }
        // What is looked for is in quotes, so that it is certain where it ends.
        let (kind, end) = match part {
            "criteria" => (None, ""),
            _ => (field.map(|field| field.kind), END),
        };
        self.cut_value(&format!(r"\b{words}{LINK}"), &plain(value), end, kind)
    }

    /// Blanks a value between two patterns, if it is in quotes, or of its kind and can be nothing more.
    fn cut_value(&mut self, before: &str, value: &str, behind: &str, kind: Option<Kind>) -> bool {
        let escaped = regex::escape(&value.to_ascii_lowercase()).replace(r"\-", r"[\s-]");
        let whole = format!(r"{before}(?P<value>\x01+|{escaped}){behind}");
        let first = value.split(' ').next().unwrap_or_default().to_lowercase();
        let is_it = |place: Range<usize>| match (self.sentence.quoted(place.clone()), kind) {
            (Some(quoted), _) => quoted == value,
            // Such a word may belong to those before the value.
            (None, Some(kind)) if !contains_word(LINKS, &first) => {
                let read = self.sentence.value(place, kind);
                let read = read.and_then(|text| kind.read(&text.into()));
                read.is_some_and(|read| plain(&read) == value)
            }
            (None, _) => false,
        };
        let regex = Regex::new(&whole).ok();
        let mut found = regex.iter().flat_map(|it| it.captures_iter(&self.left));
        let found = found.find(|it| it.name("value").is_some_and(|value| is_it(value.range())));
        let place = found.map(|it| it.get_match().range());
        self.blank(place)
    }
}
