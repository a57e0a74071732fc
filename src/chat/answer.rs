//! What a message is in its conversation: an answer to what waits, a request, or neither.

use std::sync::LazyLock;

use regex::Regex;

use super::Call;
use super::grammar::{Meaning, understand};
use super::model::Advice;
use super::pending::{Chat, Choosable, Pending, PendingKind};
use super::record::{canonical, is_id};
use super::sentence::Sentence;

static YES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    short("yes|y|yeah|yep|ok|okay|sure|confirm|confirmed|proceed|go ahead|do it|sounds good")
});
static NO: LazyLock<Option<Regex>> = LazyLock::new(|| {
    short("no|n|nope|cancel|stop|abort|never ?mind|forget it|keep it|don['’]t|do not")
});

/// Returns a pattern for messages whose words are all part of one of these.
fn short(words: &str) -> Option<Regex> {
    let polite = r"(?:please|thanks|thank you|now)\b[\s,;.!]*";
    let word = format!(r"(?:{words})(?:$|[\s,;.!]+)");
    Regex::new(&format!(r"(?i)^\s*(?:{polite})*(?:{word}(?:{polite})*)+$")).ok()
}

#[derive(Clone, Debug)]
pub(crate) enum Heard {
    Confirmed,
    Cancelled,
    /// The call that waited, on the component that was chosen.
    Chosen(Call),
    /// A number that is none of the list.
    Invalid,
    /// An answer, but nothing waits.
    Nothing,
    /// What was asked for, with the client that it lacked.
    Filled(Call),
    Request(Meaning),
    /// No request that the grammar knows, and what a model makes of it.
    Unknown(Option<Advice>),
}

/// Reads a message at a moment (RFC 3339 in UTC); times of one form are in the order of their bytes.
pub(crate) fn hear(chat: &Chat, message: &str, now: &str, advice: Option<&Advice>) -> Heard {
    let is_short = |short: &Option<Regex>| short.as_ref().is_some_and(|it| it.is_match(message));
    let short = match is_short(&YES) {
        true => Some(true),
        false => is_short(&NO).then_some(false),
    };
    let pending = chat.pending.as_ref().filter(|it| now < it.expires.as_str());
    if let Some(heard) = pending.and_then(|pending| answer(pending, short, message)) {
        return heard;
    }
    let question = chat.question.as_ref();
    let asked = question.filter(|it| now < it.expires.as_str());
    let text = message.trim();
    let meaning = match asked {
        Some(_) if is_id(text) => Some(Meaning::Client(canonical(text))),
        _ => understand(&Sentence::read(message)),
    };
    match (meaning, asked) {
        (Some(Meaning::Client(client)), Some(question)) => {
            let mut call = question.call.clone();
            call.set("clientId", client);
            Heard::Filled(call)
        }
        (Some(meaning), _) => Heard::Request(meaning),
        (None, Some(_)) if short == Some(false) => Heard::Cancelled,
        (None, _) if short.is_some() || choose(message, &[]).is_some() => Heard::Nothing,
        (None, _) => Heard::Unknown(advice.cloned()),
    }
}

/// Reads a yes, a no or a choice.
fn answer(pending: &Pending, short: Option<bool>, message: &str) -> Option<Heard> {
    let chosen = |mut call: Call, id: &str| {
        call.args.remove("criteria");
        call.set("componentId", id);
        Heard::Chosen(call)
    };
    Some(match (pending.kind, short) {
        (_, Some(false)) => Heard::Cancelled,
        (PendingKind::Confirm, Some(true)) => Heard::Confirmed,
        (PendingKind::Confirm, None) => {
            // A component named where only the list was offered.
            let next = pending.next.clone()?;
            chosen(next, &canonical(number(message).filter(|it| is_id(it))?))
        }
        (PendingKind::Select, Some(true)) => match pending.candidates.as_slice() {
            [one] => chosen(pending.call(), one),
            _ => Heard::Invalid,
        },
        (PendingKind::Select, None) => match choose(message, &pending.options)? {
            Some(id) => chosen(pending.call(), &id),
            None => Heard::Invalid,
        },
    })
}

/// Returns the number that a message such as `component 102` or `#2` is.
fn number(message: &str) -> Option<&str> {
    let text = message.trim().trim_end_matches(['.', '!']);
    let lead = text.get(.."component".len());
    let is_led = lead.is_some_and(|lead| lead.eq_ignore_ascii_case("component"));
    let text = text.get(if is_led { "component".len() } else { 0 }..)?;
    let number = text.trim_start_matches([' ', '#']);
    let is_number = number.parse::<f64>().is_ok() && number.contains(|c: char| c.is_ascii_digit());
    is_number.then_some(number)
}

/// Reads a choice by place, id or unique title: the component, or none where the number is none of the list.
fn choose(message: &str, options: &[Choosable]) -> Option<Option<String>> {
    if let Some(number) = number(message) {
        let is_id_only = message.to_lowercase().contains("component");
        let place = number.parse::<usize>().ok().filter(|_| !is_id_only);
        let by_place = place.and_then(|place| options.get(place.checked_sub(1)?));
        let id = Some(number).filter(|it| is_id(it)).map(canonical);
        let by_id = || options.iter().find(|one| Some(&one.id) == id.as_ref());
        return Some(by_place.or_else(by_id).map(|one| one.id.clone()));
    }
    let title = message
        .trim()
        .trim_matches(['"', '\'', '“', '”', '.'])
        .to_lowercase();
    let mut fitting = options
        .iter()
        .filter(|one| one.title.to_lowercase() == title);
    let one = fitting.next().filter(|_| !title.is_empty())?;
    fitting.next().is_none().then(|| Some(one.id.clone()))
}
