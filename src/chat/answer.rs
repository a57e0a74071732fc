//! Short answers to what waits: yes, no, a choice from a list.

use serde_json::Value;

use super::message::unquoted;
use super::record::{ID_MAX, canonical};
use super::vocabulary::component_type;

/// A short answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Short {
    /// Go on.
    Yes,
    /// Leave it.
    No,
}

/// Words that mean a yes, as people say it.
const YES: &[&str] = &[
    "absolutely",
    "agreed",
    "approved",
    "certainly",
    "confirm",
    "confirmed",
    "correct",
    "definitely",
    "do it",
    "do so",
    "do that",
    "fine",
    "fine by me",
    "fine with me",
    "go ahead",
    "go for it",
    "go on",
    "i agree",
    "i confirm",
    "i do",
    "looks good",
    "looks good to me",
    "of course",
    "ok",
    "okay",
    "please do",
    "proceed",
    "sounds good",
    "sure",
    "that is fine",
    "that's fine",
    "y",
    "yeah",
    "yep",
    "yes",
    "you can",
    "you may",
    "yup",
];

/// Words that mean a no.
const NO: &[&str] = &[
    "abort",
    "better not",
    "cancel",
    "cancel it",
    "cancel that",
    "do not",
    "do not do it",
    "do not do that",
    "don't",
    "don't do it",
    "don't do that",
    "drop it",
    "forget it",
    "leave it",
    "n",
    "nah",
    "never mind",
    "nevermind",
    "no",
    "nope",
    "not now",
    "stop",
];

/// Words beside a yes or a no that change nothing about it.
const POLITE: &[&str] = &["now", "please", "thank", "thanks", "then", "you"];

/// Reads a yes or a no. Every word of the message must be part of one; a message that says both says
/// neither.
pub(super) fn short(message: &str) -> Option<Short> {
    let bare = bare(message).replace('’', "'");
    let words = bare.split([' ', ',', ';', '.', '!', '\t', '\n']);
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let (mut at, mut found) = (0, None);
    while at < words.len() {
        let (meaning, count) = phrase(&words[at..])?;
        if meaning.is_some() && found.is_some() && meaning != found {
            return None;
        }
        found = found.or(meaning);
        at += count;
    }
    found
}

/// Reads the longest phrase that words begin with: what it means, and how many words it has.
fn phrase(words: &[&str]) -> Option<(Option<Short>, usize)> {
    let begins = |phrase: &str| {
        let mut parts = phrase.split(' ').enumerate();
        parts.all(|(at, part)| words.get(at) == Some(&part))
    };
    let meaning = |phrases: &'static [&'static str], short| {
        let fitting = phrases.iter().filter(|phrase| begins(phrase));
        fitting.map(move |phrase| (short, phrase.split(' ').count()))
    };
    let all = meaning(YES, Some(Short::Yes)).chain(meaning(NO, Some(Short::No)));
    all.chain(meaning(POLITE, None))
        .max_by_key(|(_, count)| *count)
}

/// Says whether a message is a short answer or a number, which ask for nothing by themselves.
pub(crate) fn is_short(message: &str) -> bool {
    short(message).is_some() || choice(message, &[]) == Choice::Invalid
}

/// Writes a short answer in its one form. A long message is none.
fn bare(message: &str) -> String {
    let message = message.trim();
    if message.len() > 200 {
        return String::new();
    }
    message
        .trim_end_matches(['.', '!', ')'])
        .trim()
        .to_lowercase()
}

/// What a choice comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// This component.
    Component(String),
    /// A number that is none of the list.
    Invalid,
    /// No choice by number; it may be a title.
    Other,
}

/// Words for places in a list.
const PLACES: &[&[&str]] = &[
    &["first", "1st"],
    &["second", "2nd"],
    &["third", "3rd"],
    &["fourth", "4th"],
    &["fifth", "5th"],
    &["sixth", "6th"],
    &["seventh", "7th"],
    &["eighth", "8th"],
    &["ninth", "9th"],
    &["tenth", "10th"],
];

/// Reads a word for a place in a list of so many, counted from 1.
pub(super) fn place(word: &str, last: usize) -> Option<usize> {
    let place = PLACES.iter().position(|names| names.contains(&word));
    place.map(|at| at + 1).or((word == "last").then_some(last))
}

/// Takes the little words off a choice, and writes "the second one" as a number.
fn spoken(word: &str, last: usize) -> String {
    let little = ["the", "one", "take", "i", "choose", "pick", "mean"];
    let words = word.split([' ', ',']);
    let is_little = |word: &&str| {
        little.contains(word) || POLITE.contains(word) || component_type(word).is_some()
    };
    let words = words.filter(|word| !word.is_empty() && !is_little(word));
    let number =
        |word: &str| place(word, last).map_or_else(|| word.to_string(), |place| place.to_string());
    words.map(number).collect::<Vec<_>>().join(" ")
}

/// Reads the choice of a component by its place in the list or by its id.
pub(super) fn choice(message: &str, candidates: &[String]) -> Choice {
    let word = spoken(&bare(message), candidates.len());
    let words = ["component", "number", "option", "no.", "id", "#"];
    let digits = words.iter().fold(word.as_str(), |word, prefix| {
        word.strip_prefix(prefix).unwrap_or(word).trim_start()
    });
    if digits.is_empty() || !digits.bytes().all(|c| c.is_ascii_digit()) {
        // A number that no place and no id can be, such as -1.
        let is_number =
            digits.contains(|c: char| c.is_ascii_digit()) && digits.parse::<f64>().is_ok();
        return match is_number {
            true => Choice::Invalid,
            false => Choice::Other,
        };
    }
    let place = digits
        .parse::<usize>()
        .ok()
        .filter(|_| !word.starts_with("component"));
    let by_place = place.and_then(|place| candidates.get(place.checked_sub(1)?));
    let id = canonical(digits);
    let by_id = || candidates.iter().find(|candidate| **candidate == id);
    match by_place.or_else(by_id) {
        Some(component) => Choice::Component(component.clone()),
        None => Choice::Invalid,
    }
}

/// Reads an answer that only names a component by its id: "component 101".
pub(super) fn only_component(message: &str) -> Option<String> {
    let word = spoken(&bare(message), 0);
    let digits = word.trim_start_matches("component").trim_start();
    let is_id = (1..=ID_MAX).contains(&digits.len()) && digits.bytes().all(|c| c.is_ascii_digit());
    is_id.then(|| canonical(digits))
}

/// Takes the little words off a title: "the card called About" for "about".
fn bare_title(message: &str) -> String {
    let little = [
        "called",
        "titled",
        "named",
        "with",
        "title",
        "caption",
        "component",
    ];
    let spoken = spoken(&bare(message), 0);
    let words = spoken.split(' ').filter(|word| !little.contains(word));
    unquoted(&words.collect::<Vec<_>>().join(" ")).to_string()
}

/// Finds the one candidate among found components that has this title, or caption without one.
pub(super) fn titled(message: &str, found: &Value, candidates: &[String]) -> Option<String> {
    let whole = unquoted(message.trim()).to_lowercase();
    let one = titled_so(&whole, found, candidates);
    one.or_else(|| titled_so(&bare_title(message), found, candidates))
}

fn titled_so(wanted: &str, found: &Value, candidates: &[String]) -> Option<String> {
    let components = found.get("components")?.as_array()?;
    let mut fitting = components.iter().filter_map(|component| {
        let id = component.get("componentId")?.as_str()?;
        let props = component.get("props")?;
        let title = props
            .get("title")
            .or_else(|| props.get("caption"))?
            .as_str()?;
        let fits = title.to_lowercase() == wanted && candidates.iter().any(|one| one == id);
        fits.then(|| id.to_string())
    });
    let one = fitting.next()?;
    fitting.next().is_none().then_some(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_answers_are_read_in_every_form() {
        for (message, expected) in [
            ("yes", Some(Short::Yes)),
            (" Yes! ", Some(Short::Yes)),
            ("y", Some(Short::Yes)),
            ("OK.", Some(Short::Yes)),
            ("confirm", Some(Short::Yes)),
            ("proceed", Some(Short::Yes)),
            ("yes, please", Some(Short::Yes)),
            ("sure", Some(Short::Yes)),
            ("Go ahead!", Some(Short::Yes)),
            ("ok do it", Some(Short::Yes)),
            ("Yes, go ahead and thank you", None),
            ("yes. do that now, thanks", Some(Short::Yes)),
            ("sounds good", Some(Short::Yes)),
            ("Of course, please proceed.", Some(Short::Yes)),
            ("please do", Some(Short::Yes)),
            ("please", None),
            ("No, thank you", Some(Short::No)),
            ("please don’t do it", Some(Short::No)),
            ("never mind", Some(Short::No)),
            ("no, go ahead", None),
            ("ok cancel", None),
            ("do it for client 7", None),
            ("not sure", None),
            ("sure, but delete component 102", None),
            ("yes yes yes yes", Some(Short::Yes)),
            ("no", Some(Short::No)),
            ("Cancel", Some(Short::No)),
            ("yes but to small", None),
            ("not ok", None),
            ("", None),
        ] {
            assert_eq!(short(message), expected, "{message}");
        }
    }

    #[test]
    fn a_choice_is_a_place_in_the_list_or_an_id() {
        let candidates = ["101".to_string(), "2".to_string(), "7".to_string()];
        for (message, expected) in [
            ("1", Choice::Component("101".into())),
            ("2.", Choice::Component("2".into())),
            ("#3", Choice::Component("7".into())),
            ("number 3", Choice::Component("7".into())),
            ("101", Choice::Component("101".into())),
            ("component 2", Choice::Component("2".into())),
            ("component 7", Choice::Component("7".into())),
            ("7", Choice::Component("7".into())),
            ("0", Choice::Invalid),
            ("9", Choice::Invalid),
            ("99999999999999999999999", Choice::Invalid),
            ("-1", Choice::Invalid),
            ("1.5", Choice::Invalid),
            ("-", Choice::Other),
            ("nan", Choice::Other),
            ("About", Choice::Other),
            ("the second one", Choice::Component("2".into())),
            ("2 please", Choice::Component("2".into())),
            ("The 3rd, thanks", Choice::Component("7".into())),
            ("the last one please", Choice::Component("7".into())),
            ("the second card", Choice::Component("2".into())),
            ("the About card", Choice::Other),
            ("the fourth", Choice::Invalid),
            ("the one", Choice::Other),
        ] {
            assert_eq!(choice(message, &candidates), expected, "{message}");
        }
    }

    #[test]
    fn a_title_is_found_with_little_words_around_it() {
        let about = serde_json::json!({"componentId": "102", "props": {"title": "About"}});
        let the_one = serde_json::json!({"componentId": "103", "props": {"title": "The one"}});
        let found = serde_json::json!({"components": [about, the_one]});
        let candidates = ["102".to_string(), "103".to_string()];
        for (message, expected) in [
            ("About", Some("102")),
            ("the About card", Some("102")),
            ("About please", Some("102")),
            ("the one called About", Some("102")),
            ("the card with title \"About\"", Some("102")),
            ("the one", Some("103")),
            ("delete About", None),
        ] {
            let id = titled(message, &found, &candidates);
            assert_eq!(id.as_deref(), expected, "{message}");
        }
        assert_eq!(only_component("component 101").as_deref(), Some("101"));
        assert_eq!(only_component("delete component 101"), None);
    }
}
