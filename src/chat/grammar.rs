//! The sentences that the chat understands by itself. A form is a whole sentence: where a word is left over,
//! no form fits, because no answer is better than a wrong one.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value};

use super::record::canonical;
use super::sentence::{BARE, CLIENT, POLITE, Sentence};
use super::value::{COLORS, Kind, format_value};
use super::vocabulary::{
    COMPONENT, Field, component_type, contains_word, find_element_fields, find_field, list_names,
    list_offered, parse_flag_word, type_names,
};
use super::{Call, Meaning, Tool};

/// The forms in their order, each behind its tool; `{name}` is one of [`PARTS`], a blank any space.
const FORMS: &str = r"
getClientDesign (?:{show} )?(?:{my} )?(?:current )?(?:designs?|page)(?: configuration| analysis| evaluation| recommendations?)?
getClientDesign how would (?:it|{my} design) look|what does {my} (?:design|page){c} look like(?: right now| now)?|(?:what is|show me) the visual impact
getQAForClient (?:{show} )?(?:{my} )?(?:onboarding )?(?:questions|answers|questions and answers)|what did (?:i|{my}) (?:answer|choose)(?: in the onboarding)?
getClientDesign (?:{show}|{what}|which) {element}(?: do i (?:have|use)| does{c} (?:have|use))?
updateDesign (?:{set} )?(?P<pairs>{ours}{any}{c}{to}{all})
updateDesign (?:{set} )?(?:{my} )?(?P<element>{any} ?(?:style|radius|colou?r|icons?)) (?P<value>{options})
updateDesign (?:{want}|use|switch to) (?:an? |the )?(?P<value>{options}) {element}
updateDesign {set} {element} from (?:{options}|{quoted}|[\w-]+) to (?P<value>{any})
updateDesign {set} {element}
searchComponent (?:{show}|what|which|how many|do i have|are there)(?: are)?(?: all| any| every)?(?: of)?(?: {my})?(?: {state})? (?:components|{kind})(?: do i have| are there| does{c} have)?
getComponent (?:{show}|{what}(?: in| about)?) {its}(?:details of )?(?:{field} of )?{numbered}(?: {field})?
searchComponent (?:{show}|{what}) {its}(?:{field} of )?{described}
addSecurityGroup {verb} {group} (?:to|on) {target}
addSecurityGroup {verb} {target}(?: to| in| into| under| with)? {group}
removeSecurityGroup {verb} {group} (?:from|off) {target}
removeSecurityGroup {verb} {target} (?:from|out of) {group}
deleteComponent {verb} {target}
addComponent (?:add|create|insert|(?:{verb}|{want})(?: me)? (?:an?|another|one))(?: me)?(?: an?| another| one)?(?: new)? (?:component|{kind})(?: component)?(?: (?:#|(?:(?:with )?(?:the )?id|component) #?)(?P<id>[0-9]{1,15}))?{c}(?:,? (?P<pairs>(?:with|titled|called|named) {all}))?
updateComponent {set} {its}(?P<name>{field}) (?:of|on|for|in) {target}
updateComponent {set} {its}(?P<name>{field})(?: (?:of|on|for|in) {target})? from (?P<was>{any}) to (?P<value>{any})
updateComponent {set} {target} (?P<name>{field})(?: from (?P<was>{any}) to (?P<value>{any}))?
updateComponent (?:{set} )?{its}(?P<name>{field}) (?:of|on|for|in) {target}{to}(?P<value>{any})(?:(?:,| and|, and) (?P<pairs>{its}{field}{to}{all}))?
updateComponent (?:(?:{set}|for|on|in) )?{target}[:,]?(?: {set})? {its}(?P<pairs>{field}{to}{all})
updateComponent (?:{set} )?{numbered}(?: with)? {its}(?P<pairs>{field} {all})
updateComponent (?:give|let) {target}(?: have)? {its}(?P<pairs>{field} {all})
updateComponent {target} should have {its}(?P<pairs>{field} {all})
updateComponent {set} {its}(?P<name>{field}){to}(?P<value>{quoted}|{options}) (?:of|on|for|in) {target}
updateComponent {set} {its}(?P<name>{field}) of {target} (?P<value>{quoted}|{options})
updateComponent {set} {its}(?P<name>{field}) of {numbered} (?P<value>{any})
updateComponent replace {its}(?P<name>{field}) of {target} (?:with|by) (?P<value>{any})
updateComponent move {numbered} to (?P<name>position) (?P<value>[0-9]{1,9})
updateComponent (?:mark|set|make|turn) {target}(?: as| to| to be)? {state}
updateComponent (?:{want} )?{target} (?:to|should) be {state}
updateComponent (?P<state>(?:un)?(?:blur|secure|schedule)) {target}
updateComponent (?:change|update|edit|modify|adjust|rename) {target}(?:{to}{any})?";

/// The parts of forms, those that hold others first.
const PARTS: &str = r"
target (?:{numbered}|{described})
numbered (?:(?:{my}\s+)?(?:component|(?P<typed>{types}))(?:[\s_-]?id)?(?:\s+number|\s+no\.?|\s+with\s+id|\s+is)?(?:\s*[:=#_]\s*|-|\s+#?)(?P<id>[0-9]{1,15})|#?(?P<bare>[0-9]{3,15}))(?:'s)?{c}
described (?:{my}\s+(?:(?P<label>{any})\s+)??)?(?:component|{kind})(?:\s+component)?(?:(?:\s+with(?:\s+the|\s+an?)?\s+(?P<by>{field})|\s+(?:called|named|titled))\s+(?P<what>{any}))?(?:'s)?{c}
element {ours}(?P<element>{any})
group (?:(?:the|an?)\s+)?(?:(?:security\s+)?group(?:\s+(?P<title>{any}))?|(?P<group>{any})(?:\s+(?:security\s+)?group)?)
kind (?P<kind>{types})
state (?P<state>(?:un)?(?:blurred|secured?|scheduled))
its (?:(?:the|its|an?)\s+)?
my (?:my|the|our|this|[\x02\x03]+)
what (?:(?:what|where)\s+is|what's)
show (?:(?:{verb})(?:\s+me)?|(?:can|could|may)\s+(?:i|we)\s+(?:see|get|have))
set (?:{verb}|{want})
want (?:(?:i|we)\s+(?:want|need|would\s+like)|(?:i|we)'d\s+like)
any (?:{quoted}|[^\x01-\x04]+?)
all [^\x02\x03]+?
quoted \x04\x01+
c (?:\s*[\x02\x03]+)?";

/// Words for the design before one of its fields.
const OURS: &str = r"(?:(?:my|its|the|our|[\x02\x03]+)\s+)*(?:(?:current|existing|present)\s+)?(?:design(?:['’]s)?\s+)?";
const TO: &str = r"(?:\s+(?:to be|should be|to|into)(?:\s*:\s*|\s+)|\s*[=:]\s*)";

static READERS: LazyLock<Vec<(Tool, Regex)>> = LazyLock::new(|| {
    let options = list_offered().filter_map(|field| match field.kind {
        Kind::Options(options) => Some(options.join("|").replace('-', r"[\s-]")),
        _ => None,
    });
    let options = options.collect::<Vec<_>>().join("|");
    let (types, fields) = (type_names(), list_names(COMPONENT));
    let parts = format!(
        "{PARTS}\noptions (?:{options}|#[0-9a-f]+|{COLORS})\ntypes {types}\nfield {fields}\nto {TO}\nours {OURS}"
    );
    let parts: Vec<_> = parts
        .lines()
        .filter_map(|line| line.split_once(' '))
        .collect();
    let forms = FORMS.lines().filter_map(|line| line.split_once(' '));
    let forms = forms.map(|(name, form)| {
        let tool = serde_json::from_value::<Tool>(name.into()).expect("every form has a tool");
        let marks = if tool.can_write() { ".!" } else { ".!?" };
        let end = format!(r"(?:[\s,]+{POLITE}|[\s{marks}\x02\x03])*");
        let mut form = form.replace(' ', r"\s+");
        for (name, part) in &parts {
            form = form.replace(&format!("{{{name}}}"), part);
        }
        let verbs = format!("(?:{})", Tool::VERBS[tool as usize].replace(' ', r"\s+"));
        let form = form.replace("{verb}", &verbs).replace('\'', "['’]");
        let form = Regex::new(&format!("^(?:{form}){end}$"));
        (tool, form.expect("every form is compiled by a test"))
    });
    forms.collect()
});

patterns! {
    /// A field of a design and its value: "the card style to solid".
    CHANGED = format!(
        r"^{OURS}(?P<name>[^\x01-\x04]+?)(?:\s+(?:of|in|on)\s+{OURS}design)?[\s\x02\x03]*(?P<link>{TO})(?P<value>.+)$"
    );
    /// A field of a component and its value: "with title Hello", "the caption to B".
    DESCRIBED = format!(
        r"^(?:(?:with|the|its|an?)\s+)*(?P<name>titled|called|named|{})(?:(?P<link>{TO})|\s+(?:is\s+|of\s+)?)(?P<value>.+)$",
        list_names(COMPONENT)
    );
    BETWEEN = r",?\s+(?:and|with)\s+|,\s+";
}

pub(super) fn understand(sentence: &Sentence) -> Option<Meaning> {
    let rest = sentence.plain.replace([CLIENT, BARE], "");
    let rest = rest.trim_matches(['.', '!', '?', ' ', ',']);
    if contains_word("help|help me|what can you do|what can i say", rest) {
        return Some(Meaning::Help);
    }
    let client = sentence.client_or(None).map(String::from);
    if client.is_none() && !sentence.clients.is_empty() {
        return None;
    }
    if contains_word("|i am|i'm|it is|it's|this is|switch to|use|no", rest)
        && let Some(client) = client
    {
        return Some(Meaning::Client(client));
    }
    let plain = &sentence.plain;
    let read = |(tool, form): &(Tool, Regex)| read(*tool, sentence, &form.captures(plain)?);
    let calls = READERS.iter().filter_map(read);
    // A complete call comes before one whose values are missing.
    let mut call = calls.min_by_key(|call| call.find_missing_value().is_some())?;
    if let Some(client) = client {
        call.set("clientId", client);
    }
    Some(Meaning::Request(call))
}

/// Makes the call that a form asks for; none where its words do not fit after all.
fn read(tool: Tool, sentence: &Sentence, captures: &Captures<'_>) -> Option<Call> {
    let get = |name| captures.name(name).map(|found| found.as_str());
    let place = |name| captures.name(name).map(|found| found.range());
    let mut call = Call::new(tool);
    match tool {
        Tool::GetClientDesign => {
            let is_part = get("element").is_none_or(|name| !find_element_fields(name).is_empty());
            return is_part.then_some(call);
        }
        Tool::GetQa => return Some(call),
        Tool::UpdateDesign | Tool::AddComponent => {}
        _ => set_target(&mut call, sentence, captures)?,
    }
    if let Some(group) = place("group").or(place("title")) {
        // Without that word only a component with its number is sure to be meant.
        (call.has("componentId") || sentence.plain.contains("group")).then_some(())?;
        call.set("security_group_title", sentence.words(group, false)?);
    }
    let mut updates = match place("pairs") {
        Some(pairs) => read_assignments(tool, sentence, pairs)?,
        None => Vec::new(),
    };
    if let Some(name) = get("name").or(get("element")) {
        updates.push(read_pair(tool, sentence, name, place("value"))?);
    }
    if let (Tool::UpdateComponent, Some(word)) = (tool, get("state")) {
        let (key, value) = parse_flag_word(word)?;
        updates.push((key.to_string(), value.into()));
    }
    // "Add cards" does not say how many, "delete my cards" means more than one.
    let is_plural = |kind: &str| tool.can_write() && kind.ends_with('s');
    (!get("kind").is_some_and(is_plural)).then_some(())?;
    if tool == Tool::AddComponent {
        let kind = get("kind").and_then(component_type);
        updates.extend(kind.map(|kind| ("component_type".to_string(), kind.into())));
        let id = get("id").map(|id| ("componentId".to_string(), canonical(id).into()));
        call.args.extend(id);
    }
    if is_of_design(&call, sentence, &updates) {
        return None;
    }
    let number = updates.len();
    let updates = Map::from_iter(updates);
    let is_once = updates.len() == number;
    if tool.takes(tool.updates()) {
        call.set(tool.updates(), updates);
    }
    is_once.then_some(call)
}

/// Whether "the radius of the button" is changed, which may be that of all buttons and so the design's.
fn is_of_design(call: &Call, sentence: &Sentence, updates: &[(String, Value)]) -> bool {
    let criteria = call.object("criteria");
    let kind = criteria.get("component_type").map(format_value);
    let kind = kind.filter(|_| criteria.len() == 1 && !sentence.plain.contains("component"));
    let fields = (updates.iter()).filter_map(|(key, _)| find_field(COMPONENT, key));
    let mut names = fields.flat_map(Field::list_names);
    kind.is_some_and(|kind| {
        names.any(|name| !find_element_fields(&format!("{kind} {name}")).is_empty())
    })
}

/// Sets the component that is named by its number, or what describes those that are meant.
fn set_target(call: &mut Call, sentence: &Sentence, captures: &Captures<'_>) -> Option<()> {
    let get = |name| captures.name(name).map(|found| found.as_str());
    let kind = get("kind").or(get("typed")).and_then(component_type);
    let mut criteria = Map::new();
    if let Some(id) = get("id").or(get("bare")).map(canonical) {
        if kind.is_none() && get("was").is_none() {
            call.set("componentId", id);
            return Some(());
        }
        criteria.insert("componentId".to_string(), id.into());
    }
    criteria.extend(kind.map(|kind| ("component_type".to_string(), kind.into())));
    if let (Tool::SearchComponent, Some(word)) = (call.tool, get("state")) {
        let (key, value) = parse_flag_word(word)?;
        criteria.insert(key.to_string(), value.into());
    }
    let field = |part| get(part).and_then(|name| find_field(COMPONENT, name));
    let (by, name) = (field("by"), field("name"));
    for (key, part, is_said) in [
        ("called", "label", false),
        (by.map_or("called", |field| field.key), "what", true),
        (name.map_or("", |field| field.key), "was", true),
    ] {
        if let Some(what) = captures.name(part) {
            let value = sentence.words(what.range(), is_said)?;
            let other = criteria.insert(key.to_string(), value.into());
            other.is_none().then_some(())?;
        }
    }
    call.set("criteria", criteria);
    Some(())
}

/// Reads "X to V and Y to W"; none if there is anything else.
fn read_assignments(
    tool: Tool,
    sentence: &Sentence,
    place: Range<usize>,
) -> Option<Vec<(String, Value)>> {
    let mut updates = Vec::new();
    let mut start = place.start;
    let cuts = BETWEEN.find_iter(&sentence.plain[place.clone()]);
    let cuts = cuts.map(|cut| (place.start + cut.start(), place.start + cut.end()));
    for (end, next) in cuts.chain([(place.end, place.end)]) {
        let pair = match tool {
            Tool::UpdateDesign => &CHANGED,
            _ => &DESCRIBED,
        };
        let captures = pair.captures(&sentence.plain[start..end])?;
        let value = start + captures.name("value")?.start()..end;
        let pair = read_pair(tool, sentence, &captures["name"], Some(value))?;
        // "... and text Bob" may be another request.
        let is_sure = captures.name("link").is_some() || !pair.1.is_array();
        (is_sure || start == place.start).then_some(())?;
        updates.push(pair);
        start = next;
    }
    Some(updates)
}

/// Reads a field and its value, which is null if it is missing. A field of a design keeps its words where
/// they can mean several. Protected fields and invalid values are refused later.
fn read_pair(
    tool: Tool,
    sentence: &Sentence,
    name: &str,
    place: Option<Range<usize>>,
) -> Option<(String, Value)> {
    let fields = match (tool, name) {
        (Tool::UpdateDesign, _) => find_element_fields(name),
        (_, "titled" | "called" | "named") => vec![find_field(COMPONENT, "props.title")?],
        _ => vec![find_field(COMPONENT, name)?],
    };
    let key = match fields[..] {
        [one] => one.key,
        _ => name,
    };
    let kind = fields.first()?.kind;
    let value = match place {
        Some(place) => sentence.value(place, kind, tool == Tool::AddComponent)?,
        None => Value::Null,
    };
    let read = fields.iter().find_map(|field| field.kind.read(&value));
    Some((key.to_string(), read.unwrap_or(value)))
}

#[cfg(test)]
mod tests {
    use super::READERS;
    use crate::chat::check_pattern;

    #[test]
    fn forms_compile_in_program() {
        READERS
            .iter()
            .for_each(|(_, form)| check_pattern(form.as_str()));
    }
}
