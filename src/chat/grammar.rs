//! The sentences that the chat understands by itself. A form is a whole sentence: where a word is left over,
//! no form fits, because no answer is better than a wrong one.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value, json};

use super::kind::Kind;
use super::record::canonical;
use super::sentence::{BARE, CLIENT, Sentence};
use super::vocabulary::{
    COMPONENT, Field, PROTECTED, STATES, TYPES, by_key, component_key, component_type, elements,
    is_protected, state,
};
use super::{Call, Tool};

/// What a message asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Meaning {
    Call(Call),
    /// Only names the client that the conversation is about from now on.
    Client(String),
    Help,
}

/// The forms in their order, each behind its tool; `{name}` is one of [`parts`], a blank any space.
const FORMS: &str = r"
getClientDesign (?:{show}(?: me)? )?(?:{my} )?(?:current )?designs?(?: configuration| analysis| evaluation| recommendations?)?
getClientDesign how would (?:it|my design|the design) look|what does (?:my|the) design look like|(?:what is|show me) the visual impact
getClientDesign (?:{show}(?: me)?|what is|what's) {element}
updateDesign {set} (?P<pairs>{any}{c}{to}{any})
updateDesign {set} {element}
searchComponent (?:{show}(?: me)?|what|which)(?: are)?(?: all)?(?: of)?(?: {my})?(?: {state})? (?:components|{kind})(?: do i have| are there| does{c} have)?
getComponent {show}(?: me)? (?:the )?(?:{field} of )?{numbered}(?: {field})?
getComponent (?:what is|what's) (?:the )?{field} of {numbered}
searchComponent {show}(?: me)? (?:{field} of )?{described}
addSecurityGroup (?:add|assign|attach|grant) (?:the |a )?(?:{group} )??(?:security )?group (?:to|on) {target}
addSecurityGroup (?:add|assign|attach|grant) (?:the )?(?:security )?group {group} (?:to|on) {target}
addSecurityGroup secure {target} with (?:the )?{group} (?:security )?group
removeSecurityGroup (?:remove|detach|revoke|delete) (?:the )?(?:{group} )??(?:security )?group from {target}
deleteComponent (?:delete|remove|erase|drop|discard|get rid of) {target}
updateComponent {set} (?:the |its )?(?P<name>{field}) (?:of|on|for|in) {target}(?:{to}(?P<value>{any}))?
updateComponent {set} {target},? (?:the |its )?(?P<pairs>{field}{to}{any})
updateComponent move {numbered} to (?P<name>position) (?P<value>[0-9]{1,9})
updateComponent {set} {target} (?P<name>{field})
updateComponent {set} {target}(?:{to}(?P<value>{any}))?
updateComponent (?:make|mark|set) {target}(?: as)? {state}
updateComponent {state} {target}
addComponent (?:add|create|insert)(?: me)? (?:an? |another |one )?(?:new )?(?:component|{kind})(?: component)?(?: #?(?P<id>[0-9]{1,15}))?{c}(?:,? (?P<pairs>(?:with|titled|called|named) {any}))?";

static READERS: LazyLock<Vec<(Tool, Regex)>> = LazyLock::new(|| {
    let parts = parts();
    let forms = FORMS.lines().filter_map(|line| {
        let (name, form) = line.split_once(' ')?;
        let tool = serde_json::from_value::<Tool>(name.into()).ok()?;
        // A mark at the end belongs to the value, if there is one.
        let end = match (
            tool.can_write(),
            form.trim_end_matches([')', '?']).ends_with("{any}"),
        ) {
            (_, true) => r"(?:\s*[\x02\x03]+[\s.!]*)?",
            (true, false) => r"[\s.!]*[\x02\x03]*[\s.!]*",
            (false, false) => r"[\s.!?]*[\x02\x03]*[\s.!?]*",
        };
        let form = parts
            .iter()
            .fold(form.replace(' ', r"\s+"), |form, (part, text)| {
                form.replace(&format!("{{{part}}}"), text)
            });
        Some((tool, Regex::new(&format!("^(?:{form}){end}$")).ok()?))
    });
    forms.collect()
});

/// A field and its value: "the caption to B".
static CHANGED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let name = r"(?:(?:the|its|my)\s+)?(?P<name>[^\x01-\x03]+?)(?:\s*[\x02\x03]+)?";
    Regex::new(&format!("^{name}{TO}(?P<value>.+)$")).ok()
});

/// A field of something new and its value: "with title Hello".
static DESCRIBED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let name = format!(r"(?P<name>titled|called|named|{})", field_names());
    let lead = r"(?:with\s+)?(?:(?:the|its|an?)\s+)?";
    Regex::new(&format!(
        r"^{lead}{name}(?:{TO}|\s+(?:is\s+|of\s+)?)(?P<value>.+)$"
    ))
    .ok()
});

static BETWEEN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r",?\s+and\s+|,\s+").ok());

const TO: &str = r"(?:\s+(?:to be|to|into|as)\s+|\s*[=:]\s*)";

/// Returns a pattern for the types of components.
pub(super) fn types() -> String {
    let words = TYPES.iter().map(|(kept, other)| format!("{kept}|{other}"));
    format!("(?:{})", words.collect::<Vec<_>>().join("|"))
}

/// Returns a pattern for what people call fields, and their keys.
pub(super) fn names<'f>(fields: impl Iterator<Item = &'f Field>) -> String {
    pattern(fields.flat_map(|field| field.names().chain([field.key])))
}

/// Returns a pattern for all fields of components.
pub(super) fn field_names() -> String {
    let protected = PROTECTED
        .iter()
        .flat_map(|(key, names)| names.split('|').chain([*key]));
    format!("(?:{}|{})", pattern(protected), names(COMPONENT.iter()))
}

fn pattern<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let escape = |name: &str| regex::escape(&name.to_lowercase()).replace([' ', '_'], r"[\s_-]?");
    let mut all: Vec<String> = names.map(escape).collect();
    all.sort_by_key(|name| std::cmp::Reverse(name.len()));
    format!("(?:{})", all.join("|").replace("color", "colou?r"))
}

/// Returns the parts of forms, those that hold others first.
fn parts() -> Vec<(&'static str, String)> {
    let numbered = r"(?:{my}\s+)?(?:component|(?P<typed>{types}))(?:[\s_-]?id)?(?:\s+number|\s+with\s+id|\s+is)?(?:\s*[:=#_]\s*|-|\s+#?)(?P<id>[0-9]{1,15})(?:'s)?{c}";
    let described = r"(?:an?\s+|{my}\s+(?:(?P<label>{any})\s+)??)?(?:component|{kind})(?:\s+component)?(?:(?:\s+with(?:\s+the|\s+an?)?\s+(?P<by>{field})|\s+(?:called|named|titled))\s+(?P<what>{any}))?(?:'s)?{c}";
    let states: Vec<&str> = STATES.iter().map(|(word, _)| *word).collect();
    vec![
        ("target", format!("(?:{numbered}|{described})")),
        ("numbered", numbered.to_string()),
        ("described", described.to_string()),
        ("element", r"(?:{my}\s+)?(?P<element>{any})".to_string()),
        ("group", "(?P<group>{any})".to_string()),
        ("kind", "(?P<kind>{types})".to_string()),
        (
            "state",
            format!("(?P<state>(?:un)?(?:{}))", states.join("|")),
        ),
        ("types", types()),
        ("field", field_names()),
        ("my", "(?:my|the|our|this)".to_string()),
        (
            "show",
            "(?:show|list|get|view|display|find|fetch|see)".to_string(),
        ),
        (
            "set",
            "(?:set|change|update|edit|modify|rename|adjust|make)".to_string(),
        ),
        ("to", TO.to_string()),
        ("any", r"(?:\x01+|[^\x02\x03]+?)".to_string()),
        ("c", r"(?:\s*[\x02\x03]+)?".to_string()),
    ]
}

/// Reads a message as a whole.
pub(crate) fn understand(sentence: &Sentence) -> Option<Meaning> {
    let rest = sentence.plain.replace([CLIENT, BARE], "");
    let rest = rest.trim_matches(['.', '!', '?', ' ', ',']);
    if ["help", "help me", "what can you do", "what can i say"].contains(&rest) {
        return Some(Meaning::Help);
    }
    let client = sentence.client().map(String::from);
    if client.is_none() && !sentence.clients.is_empty() {
        return None;
    }
    let only = [
        "",
        "i am",
        "i'm",
        "it is",
        "it's",
        "this is",
        "switch to",
        "use",
        "no, i am",
    ];
    if let Some(client) = client.clone().filter(|_| only.contains(&rest)) {
        return Some(Meaning::Client(client));
    }
    let mut calls = READERS
        .iter()
        .filter_map(|(tool, form)| read(*tool, sentence, &form.captures(&sentence.plain)?));
    let mut call = calls.next()?;
    if let Some(client) = client {
        call.set("clientId", client);
    }
    Some(Meaning::Call(call))
}

/// Makes the call that a form asks for; none where its words do not fit after all.
fn read(tool: Tool, sentence: &Sentence, captures: &Captures<'_>) -> Option<Call> {
    let get = |name| captures.name(name).map(|found| found.as_str());
    let place = |name| captures.name(name).map(|found| found.range());
    let text = |name| place(name).map(|place| sentence.value(place, Kind::Text));
    let mut call = match tool {
        Tool::GetClientDesign => {
            let is_one = get("element").is_none_or(|name| elements(name).len() == 1);
            return is_one.then(|| Call::new(tool, []));
        }
        Tool::UpdateDesign => {
            let updates = read_design(sentence, place("pairs"), get("element"))?;
            return Some(Call::new(tool, [("designUpdates", updates.into())]));
        }
        Tool::AddComponent => Call::new(tool, []),
        _ => read_target(tool, sentence, captures)?,
    };
    if let Some(title) = text("group") {
        call.set("security_group_title", title?);
    }
    let mut updates = match (place("pairs"), get("name")) {
        (Some(place), _) if tool == Tool::AddComponent => read_pairs(sentence, place, &DESCRIBED)?,
        (Some(place), _) => read_pairs(sentence, place, &CHANGED)?,
        (None, Some(name)) => {
            let key = component_key(name)?;
            let value = place("value").map(|place| read_field(sentence, key, place));
            Map::from_iter([(key.to_string(), value.unwrap_or(Some(Value::Null))?)])
        }
        (None, None) => Map::new(),
    };
    if let (true, Some(value)) = (updates.is_empty(), text("value")) {
        call.set("value", value?);
    }
    match (tool, get("state"), get("kind").and_then(component_type)) {
        (Tool::UpdateComponent, Some(word), _) => {
            let (key, value) = state(word)?;
            updates.insert(key.to_string(), value.into());
        }
        (Tool::AddComponent, _, kind) => {
            if let Some(id) = get("id") {
                call.set("componentId", canonical(id));
            }
            if let Some(kind) = kind
                && updates
                    .insert("component_type".to_string(), kind.into())
                    .is_some()
            {
                return None;
            }
        }
        (Tool::UpdateComponent, ..) => {}
        _ => return Some(call),
    }
    call.set("updates", updates);
    Some(call)
}

/// Makes a call on the component that is named by its number, or on those that are described.
fn read_target(tool: Tool, sentence: &Sentence, captures: &Captures<'_>) -> Option<Call> {
    let get = |name| captures.name(name).map(|found| found.as_str());
    let kind = get("kind").or(get("typed")).and_then(component_type);
    let mut criteria = Map::new();
    if let Some(id) = get("id").map(canonical) {
        if kind.is_none() {
            return Some(Call::new(tool, [("componentId", id.into())]));
        }
        criteria.insert("componentId".to_string(), id.into());
    }
    if let Some(kind) = kind {
        criteria.insert("component_type".to_string(), kind.into());
    }
    if let (Tool::SearchComponent, Some(word)) = (tool, get("state")) {
        let (key, value) = state(word)?;
        criteria.insert(key.to_string(), value.into());
    }
    let by = get("by").map_or(Some("called"), component_key)?;
    for (key, name) in [("called", "label"), (by, "what")] {
        let Some(what) = captures.name(name) else {
            continue;
        };
        // Where the description ends has to be certain.
        let tos = || sentence.plain[what.start()..].matches(" to ").count();
        if sentence.quoted(what.range()).is_none() && tos() > 1 {
            return None;
        }
        criteria.insert(
            key.to_string(),
            sentence.value(what.range(), Kind::Text)?.into(),
        );
    }
    Some(Call::new(tool, [("criteria", criteria.into())]))
}

/// Finds the names in "X to V and Y to W" and the places of their values; none if there is anything else.
fn split_pairs(
    sentence: &Sentence,
    place: Range<usize>,
    pair: &Option<Regex>,
) -> Option<Vec<(String, Range<usize>)>> {
    let (mut parts, mut start) = (Vec::new(), place.start);
    for cut in BETWEEN.as_ref()?.find_iter(&sentence.plain[place.clone()]) {
        parts.push(start..place.start + cut.start());
        start = place.start + cut.end();
    }
    parts.push(start..place.end);
    let read = |part: Range<usize>| {
        let captures = pair.as_ref()?.captures(&sentence.plain[part.clone()])?;
        let start = part.start + captures.name("value")?.start();
        Some((captures["name"].to_string(), start..part.end))
    };
    parts.into_iter().map(read).collect()
}

/// Reads fields of a component and their values.
fn read_pairs(
    sentence: &Sentence,
    place: Range<usize>,
    pair: &Option<Regex>,
) -> Option<Map<String, Value>> {
    let mut values = Map::new();
    for (name, place) in split_pairs(sentence, place, pair)? {
        let key = match name.as_str() {
            "titled" | "called" | "named" => "props.title",
            name => component_key(name)?,
        };
        let value = read_field(sentence, key, place)?;
        if values.insert(key.to_string(), value).is_some() {
            return None;
        }
    }
    Some(values)
}

/// Reads a value of a field. What it cannot be, or is protected, is refused later.
fn read_field(sentence: &Sentence, key: &str, place: Range<usize>) -> Option<Value> {
    let kind = by_key(COMPONENT, key).map_or(Kind::Flag, |field| field.kind);
    let text = sentence.value(place, kind)?;
    let value = kind.read(&json!(text)).filter(|_| !is_protected(key));
    Some(value.unwrap_or(text.into()))
}

/// Reads what of a design becomes what, under the keys of the design or, where it is not clear which one is
/// meant, under the words of the message.
fn read_design(
    sentence: &Sentence,
    all: Option<Range<usize>>,
    element: Option<&str>,
) -> Option<Map<String, Value>> {
    let pairs = match (all, element) {
        (Some(all), _) => split_pairs(sentence, all, &CHANGED)?,
        (None, element) => vec![(element?.to_string(), 0..0)],
    };
    let mut updates = Map::new();
    for (name, place) in pairs {
        let named = elements(&name);
        let first = named.first()?;
        let key = if named.len() == 1 {
            first.key
        } else {
            name.as_str()
        };
        let read = |field: &&Field| {
            let text = sentence.value(place.clone(), field.kind)?;
            field
                .kind
                .read(&text.trim_end_matches(['.', '!', ' ']).into())
        };
        let is_closed = named.len() == 1 && !matches!(first.kind, Kind::Name);
        let raw = || {
            sentence
                .value(place.clone(), Kind::Flag)
                .filter(|_| is_closed)
        };
        let value = match place.is_empty() {
            true => Value::Null,
            false => named
                .iter()
                .find_map(read)
                .or_else(|| raw().map(Value::from))?,
        };
        if updates.insert(key.to_string(), value).is_some() {
            return None;
        }
    }
    Some(updates)
}
