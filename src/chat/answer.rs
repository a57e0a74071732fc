//! What a message is in its conversation: an answer to what waits, a request, or neither.

use super::grammar::{type_names, understand};
use super::record::{canonical, is_id};
use super::{Call, Chat, Choosable, Pending, PendingKind, Sentence};

pattern!(
    YES,
    short("yes|y|yeah|yep|ok|okay|sure|confirm|confirmed|proceed|go ahead|do it|sounds good")
);
pattern!(
    NO,
    short("no|n|nope|cancel|stop|abort|never ?mind|(?:forget|keep|leave) it|don['’]t|do not")
);

/// Returns a pattern for messages whose words are all part of one of these.
fn short(words: &str) -> String {
    let polite = r"(?:please|thanks|thank you|now)\b[\s,;.!]*";
    let word = format!(r"(?:{words})(?:$|[\s,;.!]+)");
    format!(r"(?i)^\s*(?:{polite})*(?:{word}(?:{polite})*)+$")
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Heard {
    Confirmed,
    Cancelled,
    /// The call that waited, on the component that was chosen.
    Chosen(Call),
    /// A number that is none of the list.
    Invalid,
    Nothing,
    Request(Call),
    /// Only names the client that the conversation is about from now on.
    Client(String),
    Help,
    Unknown,
}

/// Reads a message at a moment (RFC 3339 in UTC); times of one form are in the order of their bytes.
pub(crate) fn hear(chat: &Chat, message: &str, now: &str) -> Heard {
    let is_yes = YES.iter().any(|yes| yes.is_match(message));
    let is_no = NO.iter().any(|no| no.is_match(message));
    let short = (is_yes || is_no).then_some(is_yes);
    let pending = chat.pending.as_ref().filter(|it| now < it.expires.as_str());
    if let Some(heard) = pending.and_then(|pending| answer(pending, short, message)) {
        return heard;
    }
    let question = (chat.question.as_ref()).filter(|it| now < it.expires.as_str());
    let text = message.trim();
    let heard = match question {
        Some(_) if is_id(text) => Some(Heard::Client(canonical(text))),
        _ => understand(&Sentence::read(message)),
    };
    match (heard, question) {
        (Some(Heard::Client(client)), Some(question)) => {
            let mut call = question.call.clone();
            call.set("clientId", client);
            Heard::Request(call)
        }
        (Some(heard), _) => heard,
        (None, Some(_)) if short == Some(false) => Heard::Cancelled,
        (None, _) if short.is_some() || choose(message, &[]).is_some() => Heard::Nothing,
        (None, _) => Heard::Unknown,
    }
}

fn answer(pending: &Pending, short: Option<bool>, message: &str) -> Option<Heard> {
    let chosen = |id: &str| Heard::Chosen(pending.call().choose_component(id));
    Some(match (pending.kind, short) {
        (_, Some(false)) => Heard::Cancelled,
        (PendingKind::Confirm, Some(true)) => Heard::Confirmed,
        (PendingKind::Confirm, None) => return None,
        (PendingKind::Select, Some(true)) => match pending.candidates.as_slice() {
            [one] => chosen(one),
            _ => Heard::Invalid,
        },
        (PendingKind::Select, None) => match choose(message, &pending.options)? {
            Some(id) => chosen(&id),
            None => Heard::Invalid,
        },
    })
}

// "the second one", "component 102", "the one called About", "#2 please".
pattern!(
    CHOICE,
    format!(
        r#"(?i)^\s*(?:the\s+)?(?:one\s+)?(?:(?:called|named|titled|with(?:\s+the)?\s+(?:title|caption))\s+|(?P<id>component\s*|id\s+)|number\s+|option\s+)?[#"'“]*(?P<what>.+?)["'”]*(?:\s+(?:one|component|{}))?(?:,?\s+please)?[\s.!]*$"#,
        type_names()
    )
);

/// Reads a choice by place, id or unique title: the component, or none where the number is none of the list.
fn choose(message: &str, options: &[Choosable]) -> Option<Option<String>> {
    let choice = CHOICE.as_ref()?.captures(message)?;
    let what = choice["what"].to_lowercase();
    let ordinals = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth";
    let ordinal = ordinals.split('|').position(|it| it == what);
    let is_number = what.parse::<f64>().is_ok() && !what.contains(char::is_alphabetic);
    if is_number || ordinal.is_some() {
        let place = ordinal.or_else(|| usize::checked_sub(what.parse().ok()?, 1));
        let place = place.filter(|_| choice.name("id").is_none());
        let by_place = place.and_then(|place| options.get(place));
        let by_id = || options.iter().find(|one| one.id == canonical(&what));
        return Some(by_place.or_else(by_id).map(|one| one.id.clone()));
    }
    let whole = message.trim().trim_matches(['"', '\'', '“', '”', '.']);
    let titles = [whole.to_lowercase(), what];
    let is_it = |it: &&Choosable| !it.title.is_empty() && titles.contains(&it.title.to_lowercase());
    let mut fitting = options.iter().filter(is_it);
    let one = fitting.next()?;
    fitting.next().is_none().then(|| Some(one.id.clone()))
}
