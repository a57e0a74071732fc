//! Classifies a message in its conversation: an answer to a pending call or question, a request, or neither.

use serde_json::Value;

use super::grammar::understand;
use super::record::canonical;
use super::sentence::COUNT;
use super::value::{Kind, set};
use super::vocabulary::{COMPONENT, component_type, find_element_fields, find_field, type_names};
use super::{Call, Chat, ComponentOption, Meaning, Pending, PendingKind, Question, Sentence, Tool};

const QUOTES: [char; 4] = ['"', '\'', '“', '”'];

patterns! {
    YES = pattern_of_only("yes|y|yeah|yep|ok|okay|sure|confirm|confirmed|proceed|go ahead|do it|sounds good");
    NO = pattern_of_only("no|n|nope|cancel|stop|abort|never ?mind|(?:forget|keep|leave) it|don['’]t|do not");
    /// A client, where it is asked for: "it's 6", "id #6."
    CLIENT =
        r"(?i)^\s*(?:(?:it['’]s|it is|my|the|for)\s+)*(?:client\s*)?(?:(?:id|number|no\.?)\s*)?(?:is\s*)?[:#]?\s*(?P<id>[0-9]{1,15})(?:,?\s+please)?[\s.!)]*$";
    /// "the second one", "component 102", "the card called About", "#2 please".
    CHOICE = format!(
        r#"(?i)^\s*(?:the\s+)?(?:(?P<noun>one|component|id|{0})\s+)?(?:(?P<title>(?:called|named|titled|with(?:\s+the)?\s+(?:title|caption))\s+["'“]?|["'“])|number\s+|option\s+)?#?(?P<what>.+?)["'”]?(?:\s+(?:one|component|{0}))?(?:,?\s+please)?[\s.!)]*$"#,
        type_names()
    );
}

/// Returns a pattern for messages whose words are all part of one of these.
fn pattern_of_only(words: &str) -> String {
    let polite = r"(?:please|thanks|thank you|now)\b[\s,;.!]*";
    let word = format!(r"(?:{words})(?:$|[\s,;.!]+)");
    format!(r"(?i)^\s*(?:{polite})*(?:{word}(?:{polite})*)+$")
}

/// Reads a message at a moment (RFC 3339 in UTC); times of one form are in the order of their bytes.
pub(crate) fn interpret(chat: &Chat, message: &str, now: &str) -> Meaning {
    let is_yes = YES.is_match(message);
    let short = (is_yes || NO.is_match(message)).then_some(is_yes);
    let pending = chat.pending.as_ref().filter(|it| now < it.expires.as_str());
    if let Some(heard) = pending.and_then(|pending| interpret_answer(pending, short, message)) {
        return heard;
    }
    let question = (chat.question.as_ref()).filter(|it| now < it.expires.as_str());
    let heard = match question.and_then(|_| CLIENT.captures(message)) {
        Some(answer) => Some(Meaning::Client(canonical(&answer["id"]))),
        None => understand(&Sentence::read(message)),
    };
    match (heard, question) {
        (Some(Meaning::Client(client)), Some(question)) => {
            let mut call = question.call.clone();
            call.set("clientId", client);
            Meaning::Request(call)
        }
        (Some(heard), _) => heard,
        (None, Some(_)) if short == Some(false) => Meaning::Cancelled,
        (None, Some(question)) if let Some(call) = complete(question, message) => {
            Meaning::Request(call)
        }
        (None, _) if short.is_some() || find_chosen(message, &[]).is_some() => Meaning::Nothing,
        (None, _) => Meaning::Unknown,
    }
}

/// Completes the call of a question with its answer; none if the message is not one.
fn complete(question: &Question, message: &str) -> Option<Call> {
    let said = message.trim().trim_end_matches(['.', '!']);
    let is_text = said.starts_with(QUOTES) && said.ends_with(QUOTES) || !said.contains(' ');
    let (said, mut call) = (said.trim_matches(QUOTES), question.call.clone());
    let mut updates = call.object(call.tool.updates());
    let missing = call.find_missing_value();
    match (question.kind, missing) {
        (PendingKind::Field, _) if call.tool == Tool::UpdateDesign => {
            let mut names = updates.keys();
            let name = names
                .find(|name| find_element_fields(name).len() > 1)?
                .clone();
            let mut fields = find_element_fields(said);
            if fields.len() != 1 {
                let said = said.to_lowercase();
                fields = find_element_fields(&name);
                fields.retain(|field| field.label().starts_with(&said));
            }
            let [field] = fields[..] else {
                return None;
            };
            let value = updates.remove(&name)?;
            updates.insert(field.key.to_string(), value);
        }
        (PendingKind::Field, _) => {
            let key = find_field(COMPONENT, said)?.key;
            updates.insert(key.to_string(), Value::Null);
        }
        (PendingKind::Value, _) if call.lacks_type() => {
            let kind = said.rsplit(' ').next().and_then(component_type)?;
            updates.insert("component_type".to_string(), kind.into());
        }
        (PendingKind::Value, Some(path)) => {
            let kind = find_field(call.tool.fields(), &path)?.kind;
            let value = kind.read(&said.into())?;
            let is_free = matches!(kind, Kind::Text | Kind::Name);
            (is_text || !is_free).then_some(())?;
            match updates.get_mut(&path) {
                Some(place) => *place = value,
                None => {
                    let mut nested = updates.into();
                    set(&mut nested, &path, value);
                    call.set(call.tool.updates(), nested);
                    return Some(call);
                }
            }
        }
        (PendingKind::Value, None) if is_text => {
            call.set("security_group_title", said);
            return Some(call);
        }
        _ => return None,
    }
    call.set(call.tool.updates(), updates);
    Some(call)
}

fn interpret_answer(pending: &Pending, short: Option<bool>, message: &str) -> Option<Meaning> {
    let chosen = |id: &str| Meaning::Chosen(pending.call().choose_component(id));
    Some(match (pending.kind, short) {
        (_, Some(false)) => Meaning::Cancelled,
        (PendingKind::Confirm, Some(true)) => Meaning::Confirmed,
        (PendingKind::Select, Some(true)) => match pending.candidates.as_slice() {
            [one] => chosen(one),
            _ => Meaning::Invalid,
        },
        (PendingKind::Select, None) => match find_chosen(message, &pending.options)? {
            Some(id) => chosen(&id),
            None => Meaning::Invalid,
        },
        _ => return None,
    })
}

/// Reads a choice by place, id or title: the component, or none where a number or its like is not clearly one of
/// the list. "The other one" is not, even if one is titled so.
fn find_chosen(message: &str, options: &[ComponentOption]) -> Option<Option<String>> {
    let choice = CHOICE.captures(message)?;
    let what = choice["what"].to_lowercase();
    let noun = choice.name("noun").map(|noun| noun.as_str().to_lowercase());
    let kind = noun.as_deref().and_then(component_type);
    let mut ordinals = "first|second|third|fourth|fifth|sixth".split('|');
    let ordinal = ordinals.position(|it| it == what);
    let is_number = what.parse::<f64>().is_ok() && !what.contains(char::is_alphabetic);
    let is_count = is_number || COUNT.is_match(&what) && !options.is_empty();
    let counts = is_count && choice.name("title").is_none();
    let place = ordinal.or_else(|| usize::checked_sub(what.parse().ok()?, 1));
    let place = place.filter(|_| counts && noun.is_none_or(|noun| noun == "one"));
    let whole = message.trim().trim_matches(['"', '\'', '“', '”', '.']);
    let titles = [whole.to_lowercase(), what];
    let mut fitting = options.iter().enumerate().filter(|(at, one)| {
        let is_titled = !one.title.is_empty() && titles.contains(&one.title.to_lowercase());
        let is_numbered = place == Some(*at) || counts && one.id == canonical(&titles[1]);
        let is_it = is_numbered || is_titled && (place.is_some() || !counts);
        is_it && kind.is_none_or(|kind| one.kind == kind)
    });
    let one = fitting.next().filter(|_| fitting.next().is_none());
    let id = one.map(|(_, one)| one.id.clone());
    (counts || id.is_some()).then_some(id)
}
