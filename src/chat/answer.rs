//! What a message is in its conversation: an answer to what waits, a request, or neither.

use serde_json::{Map, Value, json};

use super::grammar::{self, Meaning, elements, read_pairs, read_text};
use super::model::Advice;
use super::pending::{Chat, Choosable, Lack, Pending, PendingKind, Question};
use super::record::{canonical, is_id};
use super::sentence::{CLIENT, Sentence, strip_quotes};
use super::value::element;
use super::vocabulary::{CREATE, DELETE, SET, SHOW, component_type, contains_word, field, kind_of};
use super::{Call, Tool};

const YES: &str =
    "yes|y|yeah|yep|ok|okay|sure|confirm|confirmed|proceed|go ahead|do|do it|of course|sounds good";
const NO: &str = "no|n|nope|cancel|stop|abort|never mind|nevermind|forget it|forget about it|keep it|leave it|don't|do not|don't do it|do not do it";

#[derive(Clone, Debug)]
pub(crate) enum Heard {
    Confirmed(Pending),
    Cancelled(Pending),
    Chosen(Pending, String),
    /// A number that is none of the list.
    Invalid(Pending),
    /// The question for what a request lacks is called off.
    Dropped,
    /// No answer to the question for what a request lacks.
    Again(Question),
    /// An answer, but nothing waits.
    Nothing,
    /// An answer that completes what was asked for.
    Filled(Call),
    /// A request, and whether a model read it.
    Request(Meaning, bool),
    /// No request, and what a model says instead of one.
    Unknown(Option<Advice>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Short {
    Yes,
    No,
}

/// Reads a message at a moment (RFC 3339 in UTC); times of one form are in the order of their bytes.
pub(crate) fn hear(chat: &Chat, message: &str, now: &str, advice: Option<&Advice>) -> Heard {
    let short = short(message);
    let pending = chat
        .pending
        .as_ref()
        .filter(|pending| now < pending.expires.as_str());
    let question = chat
        .question
        .as_ref()
        .filter(|question| now < question.expires.as_str());
    let meaning = grammar::understand(message);
    let call = match advice {
        Some(Advice::Call(call)) => Some(Heard::Request(Meaning::Call(call.clone()), true)),
        _ => None,
    };
    if let Some(heard) = pending.and_then(|pending| answer(pending, short, message)) {
        return heard;
    }
    if let Some(question) = question {
        let again = || Heard::Again(question.clone());
        return match (short, meaning) {
            (Some(Short::No), _) => Heard::Dropped,
            (_, Some(Meaning::Client(client))) if question.lacks == Lack::Client => {
                let mut call = question.call.clone();
                call.set("clientId", client);
                Heard::Filled(call)
            }
            (_, Some(meaning)) => Heard::Request(meaning, false),
            (Some(Short::Yes), None) => again(),
            (None, None) => fill(question, message).map_or_else(again, Heard::Filled),
        };
    }
    match meaning {
        Some(meaning) => Heard::Request(meaning, false),
        None if short.is_some() || choice(message, &[]).is_some() => Heard::Nothing,
        None => call.unwrap_or_else(|| Heard::Unknown(advice.cloned())),
    }
}

/// Reads a yes, a no or a choice.
fn answer(pending: &Pending, short: Option<Short>, message: &str) -> Option<Heard> {
    let chosen = |id: &String| Heard::Chosen(pending.clone(), id.clone());
    match (pending.kind, short) {
        (_, Some(Short::No)) => Some(Heard::Cancelled(pending.clone())),
        (PendingKind::Confirm, Some(Short::Yes)) => Some(Heard::Confirmed(pending.clone())),
        (PendingKind::Confirm, None) => {
            // A component named where only the list was offered.
            let next = pending.next.clone()?;
            let id = component_number(message)?;
            let pending = Pending::new(PendingKind::Select, pending.agent, next);
            Some(Heard::Chosen(pending, id))
        }
        (PendingKind::Select, Some(Short::Yes)) => match pending.candidates.as_slice() {
            [one] => Some(chosen(one)),
            _ => Some(Heard::Invalid(pending.clone())),
        },
        (PendingKind::Select, None) => match choice(message, &pending.options)? {
            Some(id) => Some(chosen(&id)),
            None => Some(Heard::Invalid(pending.clone())),
        },
    }
}

/// Reads a yes or a no. Every word of the message must be part of one.
fn short(message: &str) -> Option<Short> {
    let text = message.to_lowercase().replace('’', "'");
    let words = text.split([' ', ',', ';', '.', '!', '\t', '\n']);
    let polite = ["", "please", "thanks", "thank", "you", "now"];
    let words: Vec<&str> = words.filter(|word| !polite.contains(word)).collect();
    let text = words.join(" ");
    let is_all = |list: &str| {
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let fitting = list.split('|').filter_map(|phrase| {
                let rest = rest.strip_prefix(phrase)?;
                (rest.is_empty() || rest.starts_with(' ')).then_some(rest.trim_start())
            });
            match fitting.min_by_key(|rest| rest.len()) {
                Some(shorter) => rest = shorter,
                None => return false,
            }
        }
        !text.is_empty()
    };
    match (is_all(YES), is_all(NO)) {
        (true, _) => Some(Short::Yes),
        (_, true) => Some(Short::No),
        _ => None,
    }
}

/// Reads a choice by place, id or unique title: the component, or none where the number is none of the list.
fn choice(message: &str, options: &[Choosable]) -> Option<Option<String>> {
    let text = message.trim().trim_end_matches(['.', '!']).to_lowercase();
    let text = text.trim_end_matches("please").trim_end_matches([' ', ',']);
    let is_id_only = text.starts_with("component");
    let leads = ["the ", "component", "number", "option", "no.", "#", " "];
    let digits = leads
        .iter()
        .fold(text, |text, lead| text.strip_prefix(lead).unwrap_or(text));
    let digits = digits.trim_start_matches([' ', '#']);
    if digits.parse::<f64>().is_ok() && digits.contains(|c: char| c.is_ascii_digit()) {
        let place = digits.parse::<usize>().ok().filter(|_| !is_id_only);
        let by_place = place.and_then(|place| options.get(place.checked_sub(1)?));
        let id = if is_id(digits) {
            canonical(digits)
        } else {
            String::new()
        };
        let by_id = || options.iter().find(|one| one.id == id);
        return Some(by_place.or_else(by_id).map(|one| one.id.clone()));
    }
    let bare = text.trim_start_matches("the ");
    let bare = match bare.rsplit_once(' ') {
        Some((title, kind)) if component_type(kind).is_some() || kind == "one" => title,
        _ => bare,
    };
    let titles = [strip_quotes(text), strip_quotes(bare)];
    let mut fitting = options
        .iter()
        .filter(|one| !one.title.is_empty() && titles.contains(&one.title.to_lowercase().as_str()));
    let one = fitting.next()?;
    fitting.next().is_none().then(|| Some(one.id.clone()))
}

fn component_number(message: &str) -> Option<String> {
    let text = message.trim().to_lowercase();
    let digits = text
        .trim_start_matches("component")
        .trim_start_matches([' ', '#']);
    is_id(digits).then(|| canonical(digits))
}

/// Completes a call with an answer.
fn fill(question: &Question, message: &str) -> Option<Call> {
    let mut call = question.call.clone();
    let sentence = Sentence::read(message);
    if sentence
        .client()
        .is_some_and(|client| client != call.text("clientId"))
    {
        return None;
    }
    let end = sentence.plain.trim_end_matches([CLIENT, ' ']).len();
    let phrase = bare(&sentence.plain[..end]);
    let mut updates = call.object("updates");
    match &question.lacks {
        Lack::Client => call.set(
            "clientId",
            canonical(Some(phrase).filter(|text| is_id(text))?),
        ),
        Lack::Type => {
            updates.insert("component_type".to_string(), component_type(phrase)?.into());
            call.set("updates", updates);
        }
        Lack::Group => {
            let title = read_text(&sentence, 0..end, None)?;
            let bare = bare(&title);
            let bare = bare
                .trim_end_matches(" one")
                .trim_end_matches(" group")
                .trim_end_matches(" security");
            call.set("security_group_title", bare);
        }
        Lack::Element(name) => {
            let mut updates = call.object("designUpdates");
            let by_number = phrase
                .parse::<usize>()
                .ok()
                .and_then(|place| question.options.get(place.checked_sub(1)?));
            let named = elements(by_number.map_or(phrase, String::as_str));
            let [one] = named.as_slice() else { return None };
            let value = updates.remove(name).unwrap_or_default();
            updates.insert(one.key.to_string(), value);
            call.set("designUpdates", updates);
        }
        Lack::Field(value) => {
            let one =
                field(phrase).map(|field| Map::from_iter([(field.to_string(), json!(value))]));
            call.set("updates", one.or_else(|| read_pairs(&sentence))?);
        }
        Lack::Value(key) if call.tool == Tool::UpdateDesign => {
            let mut updates = call.object("designUpdates");
            updates.insert(key.clone(), read_value(&sentence, end, element(key)?.kind)?);
            call.set("designUpdates", updates);
        }
        Lack::Value(key) => match read_pairs(&sentence) {
            Some(pairs) => call.set("updates", pairs),
            None => {
                updates.insert(key.clone(), read_value(&sentence, end, kind_of(key)?)?);
                call.set("updates", updates);
            }
        },
    }
    Some(call)
}

/// Reads the value that was asked for. A text that may be a request or a question has to stand in quotes.
fn read_value(sentence: &Sentence, end: usize, kind: super::kind::Kind) -> Option<Value> {
    let leads = ["make it ", "set it to ", "it should be ", "use ", "to "];
    let plain = &sentence.plain[..end];
    let start = leads
        .iter()
        .find(|lead| plain.starts_with(**lead))
        .map_or(0, |lead| lead.len());
    let first = plain[start..]
        .trim_start_matches("the ")
        .split([' ', ',', '.', '!'])
        .next();
    let first = first.unwrap_or_default();
    let verbs = [
        CREATE,
        DELETE,
        SHOW,
        SET,
        "what which why how who when where is are does no not none nothing keep leave wait forget hold skip \
         same old whatever anything something maybe i idk dunno",
    ];
    let is_request = verbs.iter().any(|list| contains_word(list, first)) || plain.ends_with('?');
    let text = read_text(sentence, start..end, Some(kind))
        .filter(|text| !is_request && !text.is_empty())?;
    kind.read(&json!(text))
        .or_else(|| kind.read(&json!(bare(&text))))
}

/// Takes off what may stand around an answer.
fn bare(text: &str) -> &str {
    let text = text.trim().trim_end_matches(['.', '!', ' ']);
    let text = text.trim_end_matches("please").trim_end_matches([' ', ',']);
    let leads = ["only ", "just ", "the ", "a ", "an ", "its "];
    leads
        .iter()
        .fold(text, |text, lead| text.strip_prefix(lead).unwrap_or(text))
}
