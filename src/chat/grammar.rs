//! The sentences that the chat understands by itself. A form is a whole sentence: where a word is left over,
//! no form fits, because no answer is better than a wrong one.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value};

use super::answer::Heard;
use super::record::canonical;
use super::sentence::{BARE, CLIENT, Sentence};
use super::value::Kind;
use super::vocabulary::{
    COMPONENT, Field, STATES, TYPES, component_type, contains_word, elements, find_field, state,
};
use super::{Call, Tool};

/// The forms in their order, each behind its tool; `{name}` is one of [`PARTS`], a blank any space.
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
updateComponent {set} {target}(?:{to}{any})?
updateComponent (?:make|mark|set) {target}(?: as)? {state}
updateComponent {state} {target}
addComponent (?:add|create|insert)(?: me)? (?:an? |another |one )?(?:new )?(?:component|{kind})(?: component)?(?: #?(?P<id>[0-9]{1,15}))?{c}(?:,? (?P<pairs>(?:with|titled|called|named) {any}))?";

/// The parts of forms, those that hold others first.
const PARTS: &str = r"
target (?:{numbered}|{described})
numbered (?:{my}\s+)?(?:component|(?P<typed>{types}))(?:[\s_-]?id)?(?:\s+number|\s+with\s+id|\s+is)?(?:\s*[:=#_]\s*|-|\s+#?)(?P<id>[0-9]{1,15})(?:'s)?{c}
described (?:an?\s+|{my}\s+(?:(?P<label>{any})\s+)??)?(?:component|{kind})(?:\s+component)?(?:(?:\s+with(?:\s+the|\s+an?)?\s+(?P<by>{field})|\s+(?:called|named|titled))\s+(?P<what>{any}))?(?:'s)?{c}
element (?:{my}\s+)?(?P<element>{any})
group (?P<group>{any})
kind (?P<kind>{types})
state (?P<state>(?:un)?(?:{states}))
my (?:my|the|our|this)
show (?:show|list|get|view|display|find|fetch|see)
set (?:set|change|update|edit|modify|rename|adjust|make)
any (?:\x01+|[^\x02\x03]+?)
c (?:\s*[\x02\x03]+)?";

const TO: &str = r"(?:\s+(?:to be|to|into|as)\s+|\s*[=:]\s*)";

static READERS: LazyLock<Vec<(Tool, Regex)>> = LazyLock::new(|| {
    let states: Vec<&str> = STATES.iter().map(|(words, _)| *words).collect();
    let words = [
        ("types", type_names()),
        ("states", states.join("|")),
        ("field", names(COMPONENT)),
        ("to", TO.to_string()),
    ];
    let words = words.iter().map(|(name, words)| (*name, words.as_str()));
    let parts = PARTS.lines().filter_map(|line| line.split_once(' '));
    let parts: Vec<(&str, &str)> = parts.chain(words).collect();
    let forms = FORMS.lines().filter_map(|line| {
        let (name, form) = line.split_once(' ')?;
        let tool = serde_json::from_value::<Tool>(name.into()).ok()?;
        let has_value = form.trim_end_matches([')', '?']).ends_with("{any}");
        // A mark at the end belongs to the value, if there is one.
        let end = match (has_value, tool.can_write()) {
            (true, _) => r"(?:\s*[\x02\x03]+[\s.!]*)?",
            (false, true) => r"[\s.!]*[\x02\x03]*[\s.!]*",
            (false, false) => r"[\s.!?]*[\x02\x03]*[\s.!?]*",
        };
        let mut form = form.replace(' ', r"\s+");
        for (name, part) in &parts {
            form = form.replace(&format!("{{{name}}}"), part);
        }
        Some((tool, Regex::new(&format!("^(?:{form}){end}$")).ok()?))
    });
    forms.collect()
});

// A field and its value: "the caption to B".
pattern!(
    CHANGED,
    format!(
        r"^(?:(?:the|its|my)\s+)?(?P<name>[^\x01-\x03]+?)(?:\s*[\x02\x03]+)?{TO}(?P<value>.+)$"
    )
);

// A field of something new and its value: "with title Hello".
pattern!(
    DESCRIBED,
    format!(
        r"^(?:with\s+)?(?:(?:the|its|an?)\s+)?(?P<name>titled|called|named|{})(?:{TO}|\s+(?:is\s+|of\s+)?)(?P<value>.+)$",
        names(COMPONENT)
    )
);

pattern!(BETWEEN, r",?\s+and\s+|,\s+");

pub(super) fn type_names() -> String {
    format!("(?:{})", TYPES.join("|"))
}

/// Returns a pattern for what people call fields, and their keys.
pub(super) fn names(fields: &[Field]) -> String {
    let escape = |name: &str| regex::escape(&name.to_lowercase()).replace([' ', '_'], r"[\s_-]?");
    let names = fields.iter().flat_map(Field::all_names);
    let mut all: Vec<String> = names.map(escape).collect();
    all.sort_by_key(|name| std::cmp::Reverse(name.len()));
    format!("(?:{})", all.join("|").replace("color", "colou?r"))
}

pub(super) fn understand(sentence: &Sentence) -> Option<Heard> {
    let rest = sentence.plain.replace([CLIENT, BARE], "");
    let rest = rest.trim_matches(['.', '!', '?', ' ', ',']);
    if contains_word("help|help me|what can you do|what can i say", rest) {
        return Some(Heard::Help);
    }
    let client = sentence.client_or(None).map(String::from);
    if client.is_none() && !sentence.clients.is_empty() {
        return None;
    }
    if contains_word("|i am|i'm|it is|it's|this is|switch to|use|no, i am", rest)
        && let Some(client) = client
    {
        return Some(Heard::Client(client));
    }
    let mut calls = READERS
        .iter()
        .filter_map(|(tool, form)| read(*tool, sentence, &form.captures(&sentence.plain)?));
    let mut call = calls.next()?;
    if let Some(client) = client {
        call.set("clientId", client);
    }
    Some(Heard::Request(call))
}

/// Makes the call that a form asks for; none where its words do not fit after all.
fn read(tool: Tool, sentence: &Sentence, captures: &Captures<'_>) -> Option<Call> {
    let get = |name| captures.name(name).map(|found| found.as_str());
    let place = |name| captures.name(name).map(|found| found.range());
    let mut call = Call::new(tool);
    match tool {
        Tool::GetClientDesign => {
            let is_one = get("element").is_none_or(|name| elements(name).len() == 1);
            return is_one.then_some(call);
        }
        Tool::UpdateDesign | Tool::AddComponent => {}
        _ => set_target(&mut call, sentence, captures)?,
    }
    if let Some(group) = place("group") {
        call.set("security_group_title", sentence.value(group, Kind::Text)?);
    }
    let mut updates = match (place("pairs"), get("name").or(get("element"))) {
        (Some(pairs), _) => read_pairs(tool, sentence, pairs)?,
        (None, Some(name)) => crate::build_map([read_pair(tool, sentence, name, place("value"))?]),
        (None, None) => Map::new(),
    };
    match (tool, get("state"), get("kind").and_then(component_type)) {
        (Tool::UpdateComponent, Some(word), _) => {
            let (key, value) = state(word)?;
            updates.insert(key.to_string(), value.into());
        }
        (Tool::AddComponent, _, kind) => {
            if let Some(id) = get("id") {
                call.set("componentId", canonical(id));
            }
            if let Some(kind) = kind {
                let other = updates.insert("component_type".to_string(), kind.into());
                other.is_none().then_some(())?;
            }
        }
        _ => {}
    }
    if tool.takes(tool.updates()) {
        call.set(tool.updates(), updates);
    }
    Some(call)
}

/// Sets the component that is named by its number, or what describes those that are meant.
fn set_target(call: &mut Call, sentence: &Sentence, captures: &Captures<'_>) -> Option<()> {
    let get = |name| captures.name(name).map(|found| found.as_str());
    let kind = get("kind").or(get("typed")).and_then(component_type);
    let mut criteria = Map::new();
    if let Some(id) = get("id").map(canonical) {
        if kind.is_none() {
            call.set("componentId", id);
            return Some(());
        }
        criteria.insert("componentId".to_string(), id.into());
    }
    if let Some(kind) = kind {
        criteria.insert("component_type".to_string(), kind.into());
    }
    if let (Tool::SearchComponent, Some(word)) = (call.tool, get("state")) {
        let (key, value) = state(word)?;
        criteria.insert(key.to_string(), value.into());
    }
    let by = get("by").and_then(|by| find_field(COMPONENT, by));
    let by = by.map_or("called", |field| field.key);
    for (key, name) in [("called", "label"), (by, "what")] {
        let Some(what) = captures.name(name) else {
            continue;
        };
        // Where the description ends has to be certain.
        let tos = || sentence.plain[what.start()..].matches(" to ").count();
        if sentence.quoted(what.range()).is_none() && tos() > 1 {
            return None;
        }
        let value = sentence.value(what.range(), Kind::Text)?;
        criteria.insert(key.to_string(), value.into());
    }
    call.set("criteria", criteria);
    Some(())
}

/// Reads "X to V and Y to W"; none if there is anything else.
fn read_pairs(tool: Tool, sentence: &Sentence, place: Range<usize>) -> Option<Map<String, Value>> {
    let pair: &Option<Regex> = match tool {
        Tool::AddComponent => &DESCRIBED,
        _ => &CHANGED,
    };
    let mut updates = Map::new();
    let mut start = place.start;
    let cuts = BETWEEN.as_ref()?.find_iter(&sentence.plain[place.clone()]);
    let cuts = cuts.map(|cut| (place.start + cut.start(), place.start + cut.end()));
    for (end, next) in cuts.chain([(place.end, place.end)]) {
        let captures = pair.as_ref()?.captures(&sentence.plain[start..end])?;
        let value = start + captures.name("value")?.start()..end;
        let (key, value) = read_pair(tool, sentence, &captures["name"], Some(value))?;
        if updates.insert(key, value).is_some() {
            return None;
        }
        start = next;
    }
    Some(updates)
}

/// Reads a field and its value, which is null if it is not told. A field of a design stays under the words of
/// the message where they can mean several. What the field cannot be, or is protected, is refused later.
fn read_pair(
    tool: Tool,
    sentence: &Sentence,
    name: &str,
    place: Option<Range<usize>>,
) -> Option<(String, Value)> {
    let fields = match (tool, name) {
        (Tool::UpdateDesign, _) => elements(name),
        (_, "titled" | "called" | "named") => vec![find_field(COMPONENT, "props.title")?],
        _ => vec![find_field(COMPONENT, name)?],
    };
    let (key, only) = match fields[..] {
        [one] => (one.key, Some(one.kind)),
        _ => (name, None),
    };
    let Some(place) = place else {
        return (!fields.is_empty()).then(|| (key.to_string(), Value::Null));
    };
    let read = |field: &&Field| {
        let text = sentence.value(place.clone(), field.kind)?;
        field.kind.read(&match field.kind {
            Kind::Text | Kind::Address => text.into(),
            _ => text.trim_end_matches(['.', '!', ' ']).into(),
        })
    };
    let raw = || sentence.value(place.clone(), only?).map(Value::from);
    let value = fields.iter().find_map(read).or_else(raw)?;
    Some((key.to_string(), value))
}
