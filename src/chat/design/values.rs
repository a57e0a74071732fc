//! What a part of a design is to become: read from a value, from the words of a message, or from the
//! answer to the question for it.

use serde_json::Value;

use super::{AGENT, best};
use crate::chat::kind::Kind;
use crate::chat::message::{SEAM, unquoted};
use crate::chat::pending::Ask;
use crate::chat::request::{Request, behind_name};
use crate::chat::value::{brief, element};
use crate::chat::vocabulary::{ARTICLES, Element, POLITE};
use crate::chat::{Saying, Wait};

/// Words beside an option or a color that say nothing against it. With any other word beside it, as in
/// "anything but full", it is none.
const IDLE: &[&str] = &[
    "again",
    "be",
    "beautiful",
    "color",
    "colour",
    "instead",
    "it",
    "just",
    "like",
    "make",
    "nice",
    "one",
    "pretty",
    "quite",
    "rather",
    "really",
    "set",
    "simply",
    "some",
    "something",
    "use",
    "very",
];

/// Finds what an element is to become. A value that is said and cannot be it is refused, whatever
/// else stands in the message.
pub(super) fn value(request: &Request, element: &Element) -> Result<Value, Saying> {
    if let Some(given) = request.given.get(element.key) {
        return Ok(given.clone());
    }
    let found = match &request.value {
        Some(value) => said(element, value),
        None => option(element, &request.words)
            .map(Value::from)
            .or_else(|| answered(request, element)),
    };
    found.ok_or_else(|| match &request.value {
        Some(value) => refused(element, value),
        None => asked(request, element),
    })
}

fn refused(element: &Element, value: &str) -> Saying {
    let (label, kind, value) = (element.label, element.kind, brief(value));
    let text = format!("The {label} cannot be \"{value}\". Allowed values: {kind}.");
    Saying::new(AGENT, text)
}

fn asked(request: &Request, element: &Element) -> Saying {
    let (label, kind) = (element.label, element.kind);
    let text = format!("What should the {label} be? Allowed values: {kind}.");
    let options = match kind {
        Kind::Options(options) => options.iter().map(|option| (*option).to_string()).collect(),
        _ => Vec::new(),
    };
    Saying::new(AGENT, text).waiting(Wait::Ask(Ask {
        message: request.message.clone(),
        options,
        field: Some((AGENT, element.key.to_string())),
        given: request.given.clone(),
        ..Ask::default()
    }))
}

/// Reads the answer to the question what a part of a design should be. What is none may be another
/// request, or say more than that.
pub(in crate::chat) fn answer(key: &str, answer: &str) -> Option<Value> {
    let element = element(key)?;
    let names = [element.label, key];
    let answer = unquoted(behind_name(&names, answer).trim());
    let answer = ["use ", "Use "]
        .iter()
        .find_map(|lead| answer.strip_prefix(lead))
        .unwrap_or(answer);
    let is_name = matches!(element.kind, Kind::Name | Kind::Text);
    let is_other = is_name && Request::read(answer, None).is_order();
    said(element, answer).filter(|_| !is_other && !bare(element, answer).is_empty())
}

/// Reads a value that is said, also with words around it that say nothing: "the full radius, please".
fn said(element: &Element, value: &str) -> Option<Value> {
    let read = |text: &str| element.kind.read(&text.into());
    let is_loose = matches!(element.kind, Kind::Options(_) | Kind::Color);
    let trimmed = || read(&bare(element, value)).filter(|_| is_loose);
    read(value).or_else(trimmed)
}

/// Takes the words that say nothing off a value.
fn bare(element: &Element, value: &str) -> String {
    let words = value.split_whitespace();
    let words = words.map(|word| word.trim_end_matches([',', '.', '!']));
    let said = words.filter(|word| !is_idle(element, &word.to_lowercase()));
    said.collect::<Vec<_>>().join(" ")
}

fn is_idle(element: &Element, word: &str) -> bool {
    let is_named = element.words.iter().any(|group| group.contains(&word));
    is_named || ARTICLES.contains(&word) || POLITE.contains(&word) || IDLE.contains(&word)
}

/// Reads the answer to the question what an element should be. One that chose or named the element
/// is none.
fn answered(request: &Request, element: &Element) -> Option<Value> {
    let answer = request.answer.as_deref()?;
    let answer = ["use ", "Use "]
        .iter()
        .find_map(|lead| answer.strip_prefix(lead))
        .unwrap_or(answer);
    let (before, _) = request.message.rsplit_once(SEAM)?;
    let (asked, is_full) = best(&Request::read(before, None).head);
    let is_asked = is_full && asked.iter().any(|other| other.key == element.key);
    let is_said = is_asked && !bare(element, answer).is_empty();
    let is_other = matches!(element.kind, Kind::Name) && is_no_name(&asked, answer);
    said(element, answer).filter(|_| is_said && !is_other)
}

/// Says whether an answer is no name, which any text can be: another of the elements that are asked
/// for takes it, or it is another request.
fn is_no_name(asked: &[&Element], answer: &str) -> bool {
    let mut others = asked
        .iter()
        .filter(|other| !matches!(other.kind, Kind::Name));
    others.any(|other| said(other, answer).is_some()) || Request::read(answer, None).is_order()
}

/// Finds one of the options of an element among words, also when it is written as two words.
pub(super) fn option(element: &Element, words: &[String]) -> Option<&'static str> {
    let Kind::Options(options) = element.kind else {
        return None;
    };
    let pairs = words.windows(2).map(|pair| pair.join("-"));
    let pair = pairs
        .into_iter()
        .find_map(|pair| options.iter().copied().find(|option| *option == pair));
    pair.or_else(|| {
        let mut words = words.iter();
        words.find_map(|word| options.iter().copied().find(|option| option == word))
    })
}
