//! What no request may do, whoever read it from a message. The grammar accounts for every word by its
//! forms; of what a model made of a message, everything is held against the message here.

use std::ops::Range;

use regex::Regex;
use serde_json::Value;

use super::grammar::{fields, read_text};
use super::kind::Kind;
use super::record::{canonical, is_id};
use super::sentence::{QUOTED, Sentence};
use super::value::{brief, label, plain};
use super::vocabulary::{
    CREATE, DELETE, ELEMENTS, FILLERS, PHRASES, PROTECTED, SET, SHOW, STATES, TYPES, contains_word,
    kind_of,
};
use super::{Call, Tool};

/// Refuses protected and unknown fields of components.
pub(crate) fn check_fields(call: &Call) -> Result<(), String> {
    let updates = call.object("updates");
    let criteria = call.object("criteria");
    let of_new = |key: &String| call.tool == Tool::AddComponent && key == "component_type";
    let updates = updates.keys().filter(|key| !of_new(key));
    let criteria = criteria
        .keys()
        .filter(|key| !["component_type", "called"].contains(&key.as_str()));
    for key in updates.chain(criteria) {
        if PROTECTED.contains(&key.as_str()) {
            return Err(format!("{key} is protected and cannot be changed"));
        }
        if kind_of(key).is_none() {
            return Err(format!("{} is no field of a component", brief(key)));
        }
    }
    Ok(())
}

/// Refuses a call of a model that says anything which its message does not say, or leaves out anything that
/// the message says. `client` is the one that the conversation is about.
pub(crate) fn check_model_call(
    call: &Call,
    message: &str,
    client: Option<&str>,
) -> Result<(), String> {
    check_fields(call)?;
    let sentence = Sentence::read(message);
    let named = match sentence.clients.as_slice() {
        [] => client,
        _ => sentence.client(),
    };
    let given = call.args.get("clientId").and_then(Value::as_str);
    let is_other = given.is_some_and(|given| Some(given) != named);
    if sentence.clients.len() > 1 || sentence.has_odd_client || is_other {
        return Err("the message names no such client, or more than one".to_string());
    }
    let mut rest = sentence.plain.clone();
    let (mut found, mut described) = (Vec::new(), 0);
    for (part, key, value) in values(call) {
        let place = find_value(&sentence, &rest, &key, &value);
        // What is looked for stands before what it becomes, so that neither is taken for the other.
        let Some(place) = place.filter(|place| part == "criteria" || place.end >= described) else {
            return Err(format!(
                "\"{}\" is not in the message",
                brief(&plain(&value))
            ));
        };
        let is_name = value.is_boolean() || key == "component_type";
        if !is_name {
            rest.replace_range(place.clone(), &" ".repeat(place.len()));
        }
        if !is_name && part == "criteria" {
            described = place.end;
        }
        found.push(Found {
            part,
            key,
            value,
            place,
        });
    }
    let is_part = |c: char| c.is_alphanumeric() || ['-', '\'', '_', '.'].contains(&c);
    let words = rest
        .split(|c: char| !is_part(c))
        .map(|word| word.trim_matches(['.', '-']));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let id = call.text("componentId");
    if !id.is_empty()
        && !words
            .iter()
            .any(|word| is_id(word) && canonical(word) == id)
    {
        return Err(format!("component {} is not in the message", brief(id)));
    }
    let is_update = call.tool == Tool::UpdateComponent;
    if let Some(one) = found
        .iter()
        .find(|one| !is_named(&one.key, &words, is_update))
    {
        return Err(format!("the message does not name {}", label(&one.key)));
    }
    if !call.tool.can_write() {
        return Ok(());
    }
    check_rest(call, &rest, &words, found.len())?;
    check_words(call, &rest, &words, &found)?;
    match found.iter().find(|one| !one.is_in_place(call, &sentence)) {
        Some(one) => {
            let value = brief(&plain(&one.value));
            Err(format!(
                "I am not sure what \"{value}\" is to be; say it in quotes, right behind its field"
            ))
        }
        None => Ok(()),
    }
}

/// A value of a call, and where the message says it.
struct Found {
    part: &'static str,
    key: String,
    value: Value,
    place: Range<usize>,
}

impl Found {
    fn is_text(&self) -> bool {
        !self.value.is_boolean() && self.key != "component_type"
    }

    /// Whether a value stands where it can be nothing else and nothing more: behind its own field and in
    /// quotes, or up to the end or the next field.
    fn is_in_place(&self, call: &Call, sentence: &Sentence) -> bool {
        let before = &sentence.plain[..self.place.start];
        let behind = &sentence.plain[self.place.end..];
        let is_quoted = sentence.plain[self.place.clone()]
            .chars()
            .all(|c| c == QUOTED);
        let is_group = || {
            let before = before.trim_end().ends_with("group");
            before
                || [" group", " security group"]
                    .iter()
                    .any(|word| behind.starts_with(word))
        };
        match self.part {
            _ if !self.is_text() => true,
            "criteria" => is_quoted,
            "group" => is_quoted || is_group(),
            _ => {
                ends_in_field(before, &self.key, call.tool)
                    && (is_quoted || begins_with_field(behind))
            }
        }
    }
}

/// Whether a text ends in the words for a field, such as "and the title of component 101 to".
fn ends_in_field(text: &str, key: &str, tool: Tool) -> bool {
    let element = ELEMENTS
        .iter()
        .find(|one| one.key == key && tool == Tool::UpdateDesign);
    let own = match element {
        Some(one) => {
            let groups = one
                .words
                .iter()
                .map(|words| format!("(?:{})", words.join("|")));
            groups.collect::<Vec<_>>().join("[ _-]")
        }
        None => {
            let phrases = PHRASES.iter().filter(|(_, path)| *path == key);
            let phrases = phrases.map(|(phrase, _)| phrase.to_string());
            let path = regex::escape(&key.to_lowercase());
            phrases.chain([path]).collect::<Vec<_>>().join("|")
        }
    };
    let verbs = format!("{SET} {CREATE}").replace(' ', "|");
    let leads = format!("the|its|a|an|and|with|have|give|let|{verbs}");
    let whole = format!(
        r"(?:\b(?:{leads})|\b[0-9]+(?:'s)?|[,\x02])\s+(?:{own})(?: of component #?[0-9]+)?(?:\s*[:=]\s*|\s+(?:(?:to be|to|as|into|of|be|is)\s+)?)$"
    );
    Regex::new(&whole).is_ok_and(|whole| whole.is_match(text))
}

/// Whether nothing but the client, or another field, follows.
fn begins_with_field(text: &str) -> bool {
    let words: Vec<&str> = ELEMENTS
        .iter()
        .flat_map(|one| one.words.iter().flat_map(|group| group.iter().copied()))
        .collect();
    let whole = format!(
        r"^[\s.!]*(?:\x02+[\s.!]*)?$|^\s*\x02*(?:,? and |, )(?:(?:the|its|a|an|with) )*(?:{}|{})\b",
        fields(),
        words.join("|")
    );
    Regex::new(&whole).is_ok_and(|whole| whole.is_match(text))
}

/// Refuses a write whose message does not begin with a verb for it, or has another number than that of the
/// component behind its name, another type, or, where nothing may be left over, another word.
fn check_words(call: &Call, rest: &str, words: &[&str], found: &[Found]) -> Result<(), String> {
    let (verbs, others) = match call.tool {
        Tool::AddComponent => (format!("{CREATE} make"), None),
        Tool::DeleteComponent => (DELETE.to_string(), Some("called named titled with")),
        Tool::AddSecurityGroup => (CREATE.to_string(), Some("to on group security")),
        Tool::RemoveSecurityGroup => (format!("{DELETE} take"), Some("from of off group security")),
        _ => {
            let is_state = found.iter().any(|one| one.value.is_boolean());
            (format!("{SET} give let"), is_state.then_some("as be"))
        }
    };
    if !words
        .first()
        .is_some_and(|word| contains_word(&verbs, word))
    {
        return Err("the message does not begin with what is to be done".to_string());
    }
    let id = call.text("componentId");
    let kinds: Vec<&str> = TYPES
        .iter()
        .flat_map(|words| words.iter().copied())
        .collect();
    let numbered = format!(
        r"(?:\b(?:component(?:[ _-]?id)?|{})(?: (?:number|no\.?|with id|id))?[ :=#_-]{{1,3}}|#)0*{id}\b",
        kinds.join("|")
    );
    if !id.is_empty() && !Regex::new(&numbered).is_ok_and(|numbered| numbered.is_match(rest)) {
        return Err(format!("{} is not said to be a component", brief(id)));
    }
    let kind = found.iter().find(|one| one.key == "component_type");
    let is_kind = |word: &str| super::vocabulary::component_type(word);
    if let Some(kind) = kind
        && words
            .iter()
            .any(|word| is_kind(word).is_some_and(|kept| kind.value != kept))
    {
        return Err("the message names more than one type".to_string());
    }
    let Some(others) = others else { return Ok(()) };
    let is_own = |word: &str| {
        let list = format!("{verbs} {others} a an the my our component components please");
        let names = |key: &str| {
            let is_state = STATES
                .iter()
                .any(|(state, path, _)| *path == key && *state == word);
            is_state
                || PHRASES
                    .iter()
                    .any(|(phrase, path)| *path == key && *phrase == word)
        };
        contains_word(&list, word)
            || canonical(word) == id && is_id(word)
            || is_kind(word).is_some()
            || found.iter().any(|one| names(&one.key))
    };
    match words.iter().find(|word| !is_own(word)) {
        Some(word) => Err(format!(
            "I am not sure what \"{}\" is to mean here",
            brief(word)
        )),
        None => Ok(()),
    }
}

/// Lists what a call says: what a component is described by, then what becomes what.
fn values(call: &Call) -> Vec<(&'static str, String, Value)> {
    let parts = ["criteria", "updates", "designUpdates"];
    let all = parts.map(|part| {
        call.object(part)
            .into_iter()
            .map(move |(key, value)| (part, key, value))
    });
    let group = call.args.get("security_group_title").cloned();
    let group = group.map(|title| ("group", "security_group_title".to_string(), title));
    all.into_iter().flatten().chain(group).collect()
}

/// Finds where a message says a value: a text as a whole, an option also in two words, a state by its word.
fn find_value(sentence: &Sentence, rest: &str, key: &str, value: &Value) -> Option<Range<usize>> {
    let text = match value {
        Value::String(text) if !text.trim().is_empty() && !text.contains(char::is_control) => {
            text.clone()
        }
        Value::Number(number) => number.to_string(),
        Value::Bool(_) => {
            let states = STATES
                .iter()
                .filter(|(_, field, state)| *field == key && *value == *state);
            return states
                .filter_map(|(word, _, _)| find_words(rest, word))
                .next();
        }
        _ => return None,
    };
    if key == "component_type" {
        let words = TYPES.iter().find(|words| words.contains(&text.as_str()))?;
        return words.iter().find_map(|word| find_words(rest, word));
    }
    let element = ELEMENTS.iter().find(|one| one.key == key);
    let kind = element.map(|one| one.kind).or_else(|| kind_of(key));
    let is_text = matches!(kind, None | Some(Kind::Text | Kind::Name | Kind::Address));
    if !is_text {
        let lower = text.to_lowercase();
        let place = find_words(rest, &lower).or_else(|| find_words(rest, &lower.replace('-', " ")));
        if place.is_some() {
            return place;
        }
    }
    let mut place = find_words(&sentence.text, &text)?;
    // The quotes around a text belong to its place.
    let (before, behind) = (&sentence.plain[..place.start], &sentence.plain[place.end..]);
    let is_quoted = sentence.plain[place.start..].starts_with(QUOTED);
    if is_quoted && before.ends_with(QUOTED) && behind.starts_with(QUOTED) {
        let opening = sentence.text[..place.start]
            .chars()
            .next_back()
            .map_or(0, char::len_utf8);
        let closing = sentence.text[place.end..]
            .chars()
            .next()
            .map_or(0, char::len_utf8);
        place = place.start - opening..place.end + closing;
    }
    let (before, behind) = (&sentence.plain[..place.start], &sentence.plain[place.end..]);
    let is_whole = !before.ends_with(QUOTED) && !behind.starts_with(QUOTED);
    let is_left = rest.get(place.clone()) == sentence.plain.get(place.clone());
    let read = read_text(sentence, place.clone(), kind);
    (is_whole && is_left && read.is_some_and(|read| read == text)).then_some(place)
}

/// Finds the last place of words between borders of words.
fn find_words(text: &str, words: &str) -> Option<Range<usize>> {
    let is_border = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    let mut places = text
        .rmatch_indices(words)
        .map(|(at, found)| at..at + found.len());
    places.find(|place| {
        is_border(text[..place.start].chars().next_back())
            && is_border(text[place.end..].chars().next())
    })
}

/// Whether words name a field, or each group of words of a part of a design.
fn is_named(key: &str, words: &[&str], is_update: bool) -> bool {
    let all = words.join(" ");
    let has = |phrase: &str| find_words(&all, phrase).is_some();
    if let Some(element) = ELEMENTS.iter().find(|one| one.key == key) {
        return element
            .words
            .iter()
            .all(|group| group.iter().any(|word| has(word)));
    }
    let describes = |phrase: &str| is_update && ["called", "named", "titled"].contains(&phrase);
    let mut phrases = PHRASES
        .iter()
        .filter(|(phrase, path)| *path == key && !describes(phrase));
    ["component_type", "called", "security_group_title"].contains(&key)
        || has(&key.to_lowercase())
        || phrases.any(|(phrase, _)| has(phrase))
        || STATES
            .iter()
            .any(|(word, path, _)| *path == key && has(word))
}

/// Refuses a message of which words are left over: a second request, a condition, a doubt, a question.
fn check_rest(call: &Call, rest: &str, words: &[&str], values: usize) -> Result<(), String> {
    let has = |list: &str| words.iter().any(|word| contains_word(list, word));
    let fits = match call.tool {
        Tool::DeleteComponent => has(DELETE) && !has(CREATE) && !has(SET),
        Tool::RemoveSecurityGroup => has(DELETE) && !has(CREATE),
        Tool::AddComponent => (has(CREATE) || has("make")) && !has(DELETE),
        _ => !has(DELETE),
    };
    let ands = words.iter().filter(|word| **word == "and").count();
    if !fits || has(SHOW) || rest.contains('?') || ands > values.saturating_sub(1) {
        return Err("the message asks for something else, or for more than one thing".to_string());
    }
    let is_part = |phrase: &str, word: &str| {
        phrase
            .split([' ', '_', '.'])
            .any(|part| part.eq_ignore_ascii_case(word))
    };
    let is_known = |word: &&&str| {
        let word = **word;
        let is_word = |group: &&[&str]| group.contains(&word);
        canonical(word) == call.text("componentId")
            || word == "and"
            || [FILLERS, CREATE, DELETE, SET]
                .iter()
                .any(|list| contains_word(list, word))
            || PHRASES
                .iter()
                .any(|(phrase, path)| is_part(phrase, word) || path.eq_ignore_ascii_case(word))
            || STATES.iter().any(|(state, _, _)| *state == word)
            || TYPES.iter().any(is_word)
            || ELEMENTS
                .iter()
                .any(|one| one.words.iter().any(is_word) || one.key == word)
    };
    match words.iter().find(|word| !is_known(word)) {
        Some(word) => Err(format!(
            "I am not sure what \"{}\" is to mean here",
            brief(word)
        )),
        None => Ok(()),
    }
}
