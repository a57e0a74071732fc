//! What no call may say, whoever read it from a message. The grammar accounts for every word by its forms;
//! a call of a model that writes has to account for every word here.

use std::ops::Range;

use regex::Regex;
use serde_json::Value;

use super::grammar::{names, types};
use super::kind::Kind;
use super::sentence::{BARE, CLIENT, Sentence};
use super::value::{brief, plain, rejection};
use super::vocabulary::{COMPONENT, DESIGN, STATES, TYPES, by_key, contains_word, is_protected};
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
    let (updates, criteria) = (call.object("updates"), call.object("criteria"));
    let is_new = |key: &&String| call.tool == Tool::AddComponent && *key == "component_type";
    let is_other =
        |key: &&String| ["component_type", "componentId", "called"].contains(&key.as_str());
    let updates = updates.keys().filter(|key| !is_new(key));
    let mut keys = updates.chain(criteria.keys().filter(|key| !is_other(key)));
    match keys.find(|key| is_protected(key) || by_key(COMPONENT, key).is_none()) {
        Some(key) => Err(rejection(key)),
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
    let (id, types) = (call.text("componentId"), types());
    let numbered =
        format!(r"(?:\b(?:component(?:[\s_-]?id)?|{types})\s*[:#=]?|#)\s*0*{id}\b(?:'s)?");
    if !id.is_empty() && !rest.cut(&numbered) {
        return Err(format!("{id} is not said to be a component"));
    }
    let parts = ["criteria", "updates", "designUpdates"];
    for (part, key, value) in parts.iter().flat_map(|part| {
        call.object(part)
            .into_iter()
            .map(move |(key, value)| (*part, key, value))
    }) {
        if !rest.cut_field(call.tool, part, &key, &value) {
            return Err(unsure(&plain(&value)));
        }
    }
    let group = call.text("security_group_title");
    let kind = Some(Kind::Text);
    if !group.is_empty()
        && !rest.cut_value("", group, r"\s+(?:security\s+)?group\b", kind)
        && !rest.cut_value(r"\b(?:security\s+)?group\s+", group, END, kind)
    {
        return Err(unsure(group));
    }
    let mut words = rest
        .left
        .split([' ', '\t', '\n', ',', '.', '!', CLIENT, BARE]);
    match words.find(|word| !word.is_empty() && !contains_word(FILLERS, word)) {
        Some(word) => Err(format!(
            "I am not sure what \"{}\" is to mean here",
            brief(word)
        )),
        None => Ok(()),
    }
}

fn unsure(value: &str) -> String {
    let value = brief(value);
    format!("I am not sure what \"{value}\" is to be; say it in quotes, right behind its field")
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
            let kind = TYPES.iter().find(|(kept, _)| *value == *kept);
            return kind.is_some_and(|(one, other)| self.cut(&format!(r"\b(?:{one}|{other})\b")));
        }
        if let Some(is_so) = value.as_bool() {
            let states = STATES.iter().filter(|(_, path)| *path == key);
            let states: Vec<&str> = states.map(|(word, _)| *word).collect();
            let un = if is_so { "" } else { "un" };
            return !states.is_empty() && self.cut(&format!(r"\b{un}(?:{})\b", states.join("|")));
        }
        let fields = if tool == Tool::UpdateDesign {
            DESIGN
        } else {
            COMPONENT
        };
        let field = by_key(fields, key);
        let mut words = field.map_or(String::new(), |field| names([field].into_iter()));
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
        let Ok(regex) = Regex::new(&whole) else {
            return false;
        };
        let first = value.split(' ').next().unwrap_or_default().to_lowercase();
        let is_it = |place: Range<usize>| match (self.sentence.quoted(place.clone()), kind) {
            (Some(quoted), _) => quoted == value,
            (None, None) => false,
            // Such a word may belong to those before the value.
            (None, Some(_)) if contains_word(LINKS, &first) => false,
            (None, Some(kind)) => {
                let read = self.sentence.value(place, kind);
                let read = read.and_then(|text| kind.read(&text.into()));
                read.is_some_and(|read| plain(&read) == value)
            }
        };
        let mut found = regex.captures_iter(&self.left);
        let place = found.find_map(|found| {
            let is_it = is_it(found.name("value")?.range());
            is_it.then(|| found.get(0).map(|all| all.range()))?
        });
        self.blank(place)
    }
}
