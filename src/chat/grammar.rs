//! The sentences that the chat understands by itself. A form is a whole sentence: where a word is left over,
//! no form fits, because no answer is better than a wrong one.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value, json};

use super::kind::Kind;
use super::record::canonical;
use super::sentence::{CLIENT, QUOTED, Sentence};
use super::vocabulary::{
    CREATE, DELETE, DESIGN, ELEMENTS, Element, FIELDS, NEVER, PHRASES, PROTECTED, SET, SHOW,
    STATES, TANGLING, TYPES, component_type, contains_word, field, kind_of,
};
use super::{Call, Tool};

/// Most fields that one message sets, and the words between that may begin one.
const PAIRS_MAX: usize = 20;

/// What a message asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Meaning {
    Call(Call),
    /// Only names the client that the conversation is about from now on.
    Client(String),
    Help,
}

/// The forms in their order, each behind what it asks for; `{name}` stands for a part of [`parts`].
const FORMS: &str = r"show_design (?:{show}(?: me)? )?(?:my |the |our )?(?:current )?designs?(?: configuration| analysis| evaluation| recommendations?)?(?:\s*\x02+)?{end?}
show_design (?:how would (?:it|my design|the design) look|what does (?:my|the) design look like|(?:what is|show me) the visual impact){end?}
show_element (?:{show}(?: me)?|what is|what's) (?P<element>[^\x01\x02]+?){end?}
change_design {set} (?P<pairs>[^\x01\x02]+?(?:\s*\x02+)?{to}[^\x02]+?){endv}
make_element (?:make|set|turn) (?P<element>[^\x01\x02]+?) (?P<value>no radius|soft shadow|hard shadow|[a-z0-9#-]+){endv}
ask_element {set} (?P<element>[^\x01\x02]+?){end}
list (?:{show}(?: me)?|what|which)(?: are)?(?: all)?(?: of)?(?: my| the| our)?(?: (?P<state>{state}))? (?P<kind>components|{kinds})(?: do i have| are there| does\s*\x02+ have)?{end?}
show {show}(?: me)? (?:the )?(?:{field} of )?{target}{end?}
show (?:what is|what's) (?:the )?{field} of {target}{end?}
show {show}(?: me)? {numbered} {field}{end?}
secure (?:add|assign|attach|grant|put) (?:the |a )?(?:(?P<group>[^\x02]+?) )??(?:security )?group (?:to|on) {target}{end}
secure (?:add|put) {target} (?:to|in|into) (?:the )?(?P<group>[^\x02]+?) (?:security )?group{end}
secure (?:add|assign|attach|grant|put) (?:the )?(?:security )?group (?P<group>[^\x02]+?) (?:to|on) {target}{end}
unsecure (?:remove|detach|revoke|delete) (?:the )?(?:(?P<group>[^\x02]+?) )??(?:security )?group from {target}{end}
unsecure (?:remove|take) {target} (?:from|out of) (?:the )?(?P<group>[^\x02]+?) (?:security )?group{end}
delete (?:delete|remove|erase) {target}{end}
update {set} (?:the |its )?(?P<field>{field}) (?:of|on|for|in) {target}{to}(?P<pairs>[^\x02]+?){endv}
update {set} {target},? (?:the |its )?(?P<pairs>{field}{to}[^\x02]+?){endv}
update {set} (?:the )?(?P<field>{field}){to}(?P<pairs>[^\x02]+?) (?:of|on|for|in) {numbered}{end}
update move {numbered} to (?P<field>position) (?P<pairs>[0-9]{1,9}){end}
ask_value {set} (?:the |its )?(?P<field>{field}) (?:of|on|for|in) {target}{end}
ask_value {set} {target} (?P<field>{field}){end}
ask_field {set} {target}(?:{to}(?P<value>[^\x02]+?))?{endv}
set_state (?:make|mark|set) {target}(?: as)? (?P<state>{state}){end}
set_state (?P<state>{state}) {target}{end}
add (?:add|create|insert|build|make)(?: me)? (?:a |an |another |one )?(?:new )?(?P<kind>components?|{kinds})(?: component)?(?: #?(?P<id>[0-9]{1,15}))?(?:\s*\x02+)?(?:,? (?P<pairs>(?:with|titled|called|named) [^\x02]+?))?{endv}";

static READERS: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    let parts = parts();
    let forms = FORMS.lines().filter_map(|line| {
        let (name, form) = line.split_once(' ')?;
        let fill = |form: String, (part, text): &(&str, String)| {
            form.replace(&format!("{{{part}}}"), text)
        };
        let form = parts.iter().fold(format!("^(?:{form})$"), fill);
        Some((name, Regex::new(&form).ok()?))
    });
    forms.collect()
});

/// A field and its value: "the caption to B".
static CHANGED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let name = r"(?:(?:the|its|my) )?(?P<name>[^\x01\x02]+?)(?:\s*\x02+)?";
    Regex::new(&format!(
        r"^{name}(?: (?:to be|to|into|as) |\s*[=:]\s*)(?P<value>.+)$"
    ))
    .ok()
});

/// A field of something new and its value: "with title Hello".
static DESCRIBED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let lead = "(?:with )?(?:(?:the|its|a|an) )?";
    Regex::new(&format!(
        "^{lead}(?P<name>{})(?: is| of| as| to|:| =)? (?P<value>.+)$",
        fields()
    ))
    .ok()
});

static BETWEEN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r",? and |, ").ok());

/// What makes an unquoted value doubtful: another request may begin in it.
static DOUBTFUL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = |list: &str| list.split_ascii_whitespace().collect::<Vec<_>>().join("|");
    let verbs = [CREATE, DELETE, SHOW, SET].map(words).join("|");
    Regex::new(&format!(
        r"\b(?:{})\b|\bas (?:long|soon)\b|[;\x01]|[,.!?:]\s*(?:{verbs})\b|\bcomponents?[ #-]*[0-9]",
        words(TANGLING)
    ))
    .ok()
});

/// What makes an unquoted text doubtful that may be anything: it may say more than its field becomes.
static AMBIGUOUS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let types: Vec<&str> = TYPES
        .iter()
        .flat_map(|words| words.iter().copied())
        .collect();
    Regex::new(&format!(
        r"\b(?:{}|{}|components?|with|please|thanks?|twice)\b",
        fields(),
        types.join("|")
    ))
    .ok()
});

/// The only form of an unquoted text: words, and at most one mark at the end.
static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let word = r"[\w--_]+(?:['’&:-][\w--_]+)*";
    Regex::new(&format!("^{word}(?::? {word})*[.!?]?$")).ok()
});

/// A name such as that of a font: at most three words, none of which begins where or how it counts.
static NAME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[\w--_]+(?: [\w--_]+){0,2}[.!]?$").ok());
static NO_NAME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b(?:on|for|in|at|to|of|from|the|same|as|no|none)\b").ok());

pub(super) fn fields() -> String {
    let phrases = PHRASES
        .iter()
        .map(|(phrase, _)| phrase.replace(' ', "[ _-]?"));
    let paths = FIELDS
        .iter()
        .map(|(path, _)| *path)
        .chain(PROTECTED.iter().copied());
    let mut all: Vec<String> = phrases
        .chain(paths.map(|path| regex::escape(&path.to_lowercase())))
        .collect();
    all.sort_by_key(|field| std::cmp::Reverse(field.len()));
    format!("(?:{})", all.join("|"))
}

/// The parts of forms, those that hold others first.
fn parts() -> Vec<(&'static str, String)> {
    let kinds: Vec<&str> = TYPES
        .iter()
        .flat_map(|words| words.iter().copied())
        .collect();
    let states: Vec<&str> = STATES.iter().map(|(word, _, _)| *word).collect();
    let numbered = r"(?:(?:my|the|our|this) )?component(?:[ _-]?id)?(?: (?:number|no\.?|with id|is))?(?:\s*[:=#_]\s*|-| #?)(?P<id>[0-9]{1,15})(?:'s)?(?:\s*\x02+)?";
    let described = r"(?:a |(?:my|the|our|this) (?:(?P<label>\x01+|[^\x01\x02]{1,60}?) )??)?(?P<kind>components?|{kinds})(?: component)?(?:(?: (?:with|whose|where)(?: the| a)? (?P<by>{field})(?: is| of| =|:)?| (?:called|named|titled)) (?P<what>\x01+|[^\x01\x02]+?))?(?:'s?)?(?:\s*\x02+)?";
    vec![
        ("target", format!("(?:{numbered}|{described})")),
        ("numbered", numbered.to_string()),
        ("kinds", format!("(?:{})", kinds.join("|"))),
        ("field", fields()),
        ("state", format!("(?:{})", states.join("|"))),
        (
            "show",
            "(?:show|list|get|view|display|find|fetch|see|search(?: for)?)".to_string(),
        ),
        (
            "set",
            "(?:set|change|update|edit|modify|rename|adjust|switch|make)".to_string(),
        ),
        ("to", r"(?: (?:to be|to|into|as) |\s*[=:]\s*)".to_string()),
        ("end", r"[\s.!]*\x02*[\s.!]*".to_string()),
        ("end?", r"[\s.!?]*\x02*[\s.!?]*".to_string()),
        ("endv", r"(?:\s*\x02+[\s.!]*)?".to_string()),
    ]
}

/// Reads a message as a whole.
pub(crate) fn understand(message: &str) -> Option<Meaning> {
    let sentence = Sentence::read(message);
    let rest = sentence.plain.replace(CLIENT, "");
    let rest = rest.trim_matches(['.', '!', '?', ' ', ',']);
    if ["help", "help me", "what can you do", "what can i say"].contains(&rest) {
        return Some(Meaning::Help);
    }
    if sentence.has_odd_client || sentence.clients.len() > 1 {
        return None;
    }
    let client = sentence.client().map(String::from);
    let only = [
        "",
        "i am",
        "i'm",
        "it is",
        "it's",
        "this is",
        "my",
        "switch to",
        "use",
        "no, i am",
    ];
    if let Some(client) = client.clone().filter(|_| only.contains(&rest)) {
        return Some(Meaning::Client(client));
    }
    let mut calls = READERS
        .iter()
        .filter_map(|(name, form)| read(name, &sentence, &form.captures(&sentence.plain)?));
    let mut call = calls.next()?;
    if (sentence.is_client_bare || sentence.has_loose_end) && ends_in_text(&sentence, &call) {
        return None;
    }
    if let Some(client) = client {
        call.set("clientId", client);
    }
    Some(Meaning::Call(call))
}

/// Whether an unquoted text stands right before the client or the end, and may go on there.
fn ends_in_text(sentence: &Sentence, call: &Call) -> bool {
    let before = sentence.plain.split(CLIENT).next().unwrap_or_default();
    let before = sentence.text[..before.len()].trim_end().to_lowercase();
    let all = [
        call.object("updates"),
        call.object("designUpdates"),
        call.object("criteria"),
    ];
    let mut values = all
        .iter()
        .flat_map(|object| object.iter())
        .filter(|(key, _)| !is_closed(key))
        .filter_map(|(_, value)| value.as_str());
    values.any(|value| before.ends_with(&value.to_lowercase()))
}

/// Whether only few values are possible, so that none can be too long.
fn is_closed(key: &str) -> bool {
    let element = ELEMENTS.iter().find(|one| one.key == key);
    let kind = element.map(|one| one.kind).or_else(|| kind_of(key));
    kind.is_some_and(|kind| !matches!(kind, Kind::Text | Kind::Name))
}

/// Reads fields and values from an answer: "title to A and caption to B".
pub(super) fn read_pairs(sentence: &Sentence) -> Option<Map<String, Value>> {
    let end = sentence.plain.trim_end_matches([CLIENT, ' ']).len();
    pairs(sentence, 0..end, &CHANGED, None, &|name| {
        field(name).map(String::from)
    })
}

/// Reads one value. Without quotes it may not hold what could begin another request, and a text only words.
pub(super) fn read_text(
    sentence: &Sentence,
    place: Range<usize>,
    kind: Option<Kind>,
) -> Option<String> {
    let plain = sentence.plain.get(place.clone())?.trim();
    let text = sentence.text_at(place);
    let has = |regex: &Option<Regex>| regex.as_ref().is_some_and(|regex| regex.is_match(plain));
    let is_sure = match kind {
        _ if plain.is_empty() => false,
        _ if plain.chars().all(|c| c == QUOTED) => !text.contains('"'),
        Some(Kind::Address) if !plain.contains(' ') => {
            !plain.contains(['"', '\'', '(', ')', '<', '>', QUOTED])
                && !plain.ends_with(['.', ',', ';', '!', '?'])
        }
        Some(Kind::Name) => !has(&DOUBTFUL) && !has(&AMBIGUOUS) && has(&NAME) && !has(&NO_NAME),
        None | Some(Kind::Text | Kind::Address) => {
            !has(&DOUBTFUL) && !has(&AMBIGUOUS) && has(&WORDS)
        }
        // What is none of the few values that these can be is refused later.
        Some(_) => !has(&DOUBTFUL),
    };
    is_sure.then(|| text.to_string())
}

/// Reads "X to V and Y to W" at a place. What stands behind `and` and names no field belongs to the value
/// before it.
fn pairs(
    sentence: &Sentence,
    place: Range<usize>,
    pair: &Option<Regex>,
    first: Option<&str>,
    named: &dyn Fn(&str) -> Option<String>,
) -> Option<Map<String, Value>> {
    let (plain, pair) = (&sentence.plain[..place.end], pair.as_ref()?);
    let mut found: Vec<(String, Range<usize>)> = Vec::new();
    let cuts = BETWEEN.as_ref()?.find_iter(&plain[place.start..]);
    let cuts = cuts.map(|cut| place.start + cut.end()).take(PAIRS_MAX);
    let starts: Vec<usize> = [place.start].into_iter().chain(cuts).collect();
    for (index, &start) in starts.iter().enumerate() {
        let read = || {
            let captures = pair.captures(&plain[start..])?;
            let start = start + captures.name("value")?.start();
            Some((named(&captures["name"])?, start..place.end))
        };
        let read = match first.filter(|_| index == 0) {
            Some(first) => Some((first.to_string(), start..place.end)),
            None => read(),
        };
        match (read, found.last_mut()) {
            (Some(one), before) => {
                if let Some((_, value)) = before {
                    value.end = plain[..start]
                        .trim_end_matches([' ', ','])
                        .trim_end_matches(" and")
                        .trim_end_matches(',')
                        .len();
                }
                found.push(one);
            }
            (None, Some(_)) => {}
            (None, None) => return None,
        }
    }
    let mut values = Map::new();
    for (name, place) in found {
        let kind = kind_of(&name);
        // What is protected is refused whatever it is to become.
        let is_protected = PROTECTED.contains(&name.as_str());
        let other = || match is_protected {
            true => Some(Kind::Flag),
            false => elements(&name).first().map(|one| one.kind),
        };
        let value = read_text(sentence, place, kind.or_else(other))?;
        let value = kind
            .and_then(|kind| kind.read(&json!(value)))
            .unwrap_or(value.into());
        if values.insert(name, value).is_some() {
            return None;
        }
    }
    Some(values)
}

/// Finds the parts of a design that a phrase may name: the one that it names in full, else all that have its
/// words, unless it says too little.
pub(crate) fn elements(phrase: &str) -> Vec<&'static Element> {
    let words = words_of(phrase);
    let (joined, words): (String, Vec<&str>) =
        (words.concat(), words.iter().map(String::as_str).collect());
    let bare = |text: &str| text.to_lowercase().replace(['_', '-', ' ', '.'], "");
    let is_it = |one: &&Element| {
        joined == bare(one.key)
            || joined == bare(one.label)
            || joined == bare(&format!("{}{}", one.path.0, one.path.1))
    };
    if let Some(exact) = ELEMENTS.iter().find(is_it) {
        return vec![exact];
    }
    let has_all = |one: &&Element| {
        words
            .iter()
            .all(|word| one.words.iter().any(|group| group.contains(word)))
    };
    let hits = |one: &Element| {
        one.words
            .iter()
            .filter(|group| group.iter().any(|word| words.contains(word)))
            .count()
    };
    let found: Vec<_> = ELEMENTS
        .iter()
        .filter(|one| !words.is_empty() && has_all(one))
        .collect();
    if let Some(full) = found.iter().find(|one| hits(one) == one.words.len()) {
        return vec![full];
    }
    let fewest = found.iter().map(|one| one.words.len()).min().unwrap_or(0);
    let found: Vec<_> = found
        .into_iter()
        .filter(|one| one.offered && one.words.len() == fewest)
        .collect();
    let says_enough =
        found.iter().all(|one| 2 * hits(one) >= fewest) && (found.len() > 1 || words.len() > 1);
    let is_type = matches!(words.as_slice(), [word] if component_type(word).is_some());
    if says_enough && !is_type {
        found
    } else {
        Vec::new()
    }
}

/// Whether a message speaks of a design rather than of components.
pub(crate) fn is_about_design(message: &str) -> bool {
    let words = words_of(&Sentence::read(message).plain);
    let is_design = |word: &String| contains_word(DESIGN, word) || contains_word(NEVER, word);
    words.iter().any(is_design) && !words.iter().any(|word| word.starts_with("component"))
}

/// Says what of a message is in the way of understanding it, where that is known.
pub(crate) fn doubt(sentence: &Sentence) -> Option<&'static str> {
    let numbers = sentence
        .plain
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.parse::<u64>().is_ok());
    let mut words = sentence.plain.split(|c: char| !c.is_alphanumeric());
    let is_tangled = words.any(|word| contains_word(TANGLING, word));
    let first = sentence.plain.split(' ').next().unwrap_or_default();
    let is_change = contains_word(SET, first) || contains_word(CREATE, first);
    let has_text = [
        " to ", " as ", " with ", " titled ", " called ", " named ", "=", ": ",
    ]
    .iter()
    .any(|word| sentence.plain.contains(word));
    match sentence.clients.len() {
        _ if sentence.has_odd_client => Some("A client is named by its number, such as client 6."),
        2.. => Some("I work for one client at a time."),
        _ if sentence.plain.contains("component") && numbers.count() > 1 => {
            Some("I work on one component at a time.")
        }
        _ if is_tangled => Some(
            "I do one thing at a time, and a text with \"and\", \"or\" or the like has to stand in quotes.",
        ),
        _ if is_change && has_text => Some(
            "Put the text in quotes if it is more than words, or holds the name of a field or of a component.",
        ),
        _ => None,
    }
}

fn words_of(phrase: &str) -> Vec<String> {
    let phrase = phrase.to_lowercase();
    let words = phrase.split([' ', '_', '-', '.', '\'', CLIENT]);
    let words = words.filter(|word| !["", "the", "my", "our", "s", "of"].contains(word));
    words.map(String::from).collect()
}

/// Returns the key of the part of a design that a phrase names, or the phrase where it names several, or
/// one that no message changes.
fn element_key(phrase: &str) -> Option<String> {
    match elements(phrase).as_slice() {
        [one] => Some(one.key.to_string()),
        [] => {
            let words = words_of(phrase);
            let is_known = |word: &String| {
                contains_word(NEVER, word) || contains_word(DESIGN, word) || word == "page"
            };
            let is_never =
                words.iter().any(|word| contains_word(NEVER, word)) && words.iter().all(is_known);
            is_never.then(|| words.join(" "))
        }
        _ => Some(words_of(phrase).join(" ")),
    }
}

/// Makes the call that a form asks for; none where its words do not fit after all.
fn read(name: &str, sentence: &Sentence, captures: &Captures<'_>) -> Option<Call> {
    let target = |tool| on_target(tool, sentence, captures);
    let updating = |updates: Value| {
        let mut call = target(Tool::UpdateComponent)?;
        call.set("updates", updates);
        Some(call)
    };
    let named = |name: &str| field(name).map(String::from);
    let place = |name| Some(captures.name(name)?.range());
    match name {
        "show_design" => Some(Call::new(Tool::GetClientDesign, [])),
        "show_element" => (elements(&captures["element"]).len() == 1)
            .then(|| Call::new(Tool::GetClientDesign, [])),
        "change_design" => change_design(sentence, place("pairs")?),
        "make_element" => match elements(&captures["element"]).as_slice() {
            [one] => Some(update_design(
                json!({ one.key: one.kind.read(&json!(&captures["value"]))? }),
            )),
            _ => None,
        },
        "ask_element" => Some(update_design(
            json!({ element_key(&captures["element"])?: null }),
        )),
        "list" => {
            let kind =
                component_type(&captures["kind"]).map(|kind| ("component_type", json!(kind)));
            let state = state(captures).map(|(field, value)| (field, json!(value)));
            let criteria = kind
                .into_iter()
                .chain(state)
                .map(|(field, value)| (field.to_string(), value));
            Some(Call::new(
                Tool::SearchComponent,
                [("criteria", Map::from_iter(criteria).into())],
            ))
        }
        "show" if captures.name("id").is_some() => target(Tool::GetComponent),
        "show" => target(Tool::SearchComponent),
        "delete" => target(Tool::DeleteComponent),
        "secure" | "unsecure" => {
            let is_new = name == "secure";
            let mut call = target(if is_new {
                Tool::AddSecurityGroup
            } else {
                Tool::RemoveSecurityGroup
            })?;
            if let Some(group) = captures
                .name("group")
                .filter(|group| group.as_str() != "security")
            {
                call.set(
                    "security_group_title",
                    read_text(sentence, group.range(), None)?,
                );
            }
            Some(call)
        }
        "update" => {
            let first = captures.name("field").and_then(|name| field(name.as_str()));
            updating(pairs(sentence, place("pairs")?, &CHANGED, first, &named)?.into())
        }
        "ask_value" => updating(json!({ field(&captures["field"])?: null })),
        "ask_field" => {
            let mut call = updating(json!({}))?;
            if let Some(value) = place("value") {
                call.set("value", read_text(sentence, value, None)?);
            }
            Some(call)
        }
        "set_state" => state(captures).and_then(|(field, value)| updating(json!({ field: value }))),
        _ => {
            let pairs =
                place("pairs").map(|place| pairs(sentence, place, &DESCRIBED, None, &named));
            let mut updates = pairs.unwrap_or_else(|| Some(Map::new()))?;
            if let Some(kind) = component_type(&captures["kind"])
                && updates
                    .insert("component_type".to_string(), kind.into())
                    .is_some()
            {
                return None;
            }
            let mut call = Call::new(Tool::AddComponent, [("updates", updates.into())]);
            if let Some(id) = captures.name("id") {
                call.set("componentId", canonical(id.as_str()));
            }
            Some(call)
        }
    }
}

fn update_design(updates: Value) -> Call {
    Call::new(Tool::UpdateDesign, [("designUpdates", updates)])
}

fn change_design(sentence: &Sentence, place: Range<usize>) -> Option<Call> {
    let mut updates = Map::new();
    for (key, value) in pairs(sentence, place, &CHANGED, None, &element_key)? {
        let text = value
            .as_str()
            .unwrap_or_default()
            .trim_end_matches([' ', '.', '!']);
        let text = text.trim_end_matches(" please");
        let named = elements(&key);
        let read = named.iter().find_map(|one| one.kind.read(&json!(text)));
        if read.is_none() && named.len() > 1 {
            return None;
        }
        updates.insert(key, read.unwrap_or(value));
    }
    Some(update_design(updates.into()))
}

fn state(captures: &Captures<'_>) -> Option<(&'static str, bool)> {
    let word = captures.name("state")?.as_str();
    let (_, field, value) = STATES.iter().find(|(state, _, _)| *state == word)?;
    Some((field, *value))
}

/// Makes a call on the component that is named by its number, or described.
fn on_target(tool: Tool, sentence: &Sentence, captures: &Captures<'_>) -> Option<Call> {
    if let Some(id) = captures.name("id") {
        return Some(Call::new(
            tool,
            [("componentId", canonical(id.as_str()).into())],
        ));
    }
    let mut criteria = Map::new();
    if let Some(kind) = component_type(&captures["kind"]) {
        criteria.insert("component_type".to_string(), kind.into());
    }
    let others = ["component", "to", "of", "with", "from", "for"];
    let is_other = |word: &str| {
        component_type(word).is_some() || field(word).is_some() || others.contains(&word)
    };
    if let Some(label) = captures.name("label") {
        if label.as_str().split(' ').any(is_other) {
            return None;
        }
        criteria.insert(
            "called".to_string(),
            read_text(sentence, label.range(), None)?.into(),
        );
    }
    if let Some(what) = captures.name("what") {
        let by = captures
            .name("by")
            .map_or(Some("called"), |by| field(by.as_str()))?;
        criteria.insert(
            by.to_string(),
            read_text(sentence, what.range(), None)?.into(),
        );
    }
    Some(Call::new(tool, [("criteria", criteria.into())]))
}
