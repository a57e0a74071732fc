//! What a part of a design is to become: read from a value, from the words of a message, or from the
//! answer to the question for it.

use serde_json::Value;

use super::{AGENT, best};
use crate::chat::kind::Kind;
use crate::chat::message::{SEAM, unquoted};
use crate::chat::pending::Ask;
use crate::chat::request::{Request, behind_name};
use crate::chat::value::{brief, element};
use crate::chat::vocabulary::{ARTICLES, ELEMENTS, Element, POLITE, VERBS};
use crate::chat::{Saying, Wait};

/// Words beside an option or a color that say nothing against it. With any other word beside it, as in
/// "anything but full", it is none.
const IDLE: &str = "again be beautiful color colour instead it just like make nice one pretty quite rather \
    really set simply some something use very";
/// Further such words beside an option or a color; a name can be one of them.
const FILLERS: &str = "change choose fine for go good great i i'd i’d is it's let let's me option pick prefer should sure take \
    that think to try value want will with would yes";
/// Words right before an option that take it out.
const NOT: [&str; 4] = ["not", "never", "than", "from"];
/// Words in a row that do so.
const NOT_PAIRS: [[&str; 2]; 4] = [
    ["instead", "of"],
    ["anything", "but"],
    ["everything", "but"],
    ["other", "than"],
];
/// Words that `but` takes something out of.
const ALL: [&str; 4] = ["all", "anything", "everything", "nothing"];
/// Words that turn a change of a design round where they do not take an option out.
const TURNS: [&str; 18] = [
    "not", "never", "t", "dont", "cannot", "without", "except", "unless", "neither", "nor", "if",
    "stop", "when", "while", "until", "once", "before", "after",
];

/// Finds what an element is to become. A value that is said and cannot be it is refused, whatever
/// else stands in the message.
pub(super) fn value(request: &Request, element: &Element) -> Result<Value, Saying> {
    if let Some(given) = request.given.get(element.key) {
        return Ok(given.clone());
    }
    let found = match &request.value {
        Some(value) => said(element, value.trim_end_matches('?')),
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
    let is_loose = matches!(element.kind, Kind::Options(_) | Kind::Color);
    let fillers = FILLERS.split(' ').filter(|_| is_loose);
    let mut idle = IDLE.split(' ').chain(fillers);
    is_named || ARTICLES.contains(&word) || POLITE.contains(&word) || idle.any(|idle| idle == word)
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

/// Finds one of the options of an element among words, also when it is written as two words. One that
/// the words take out is none.
pub(super) fn option(element: &Element, words: &[String]) -> Option<&'static str> {
    let mut options = options(element, words).into_iter();
    options.next().map(|(_, option)| option)
}

/// Finds all of them, each with its place.
pub(super) fn options(element: &Element, words: &[String]) -> Vec<(usize, &'static str)> {
    let mut all = mentioned(element, words);
    all.retain(|(at, _)| !is_taken_out(words, *at));
    all
}

fn mentioned(element: &Element, words: &[String]) -> Vec<(usize, &'static str)> {
    let Kind::Options(options) = element.kind else {
        return Vec::new();
    };
    let known = |text: &str| options.iter().copied().find(|option| *option == text);
    let at = |at: usize| words.get(at).map_or("", String::as_str);
    let (mut found, mut index) = (Vec::new(), 0);
    while index < words.len() {
        let pair = known(&format!("{}-{}", at(index), at(index + 1)));
        found.extend(
            pair.or_else(|| known(at(index)))
                .map(|option| (index, option)),
        );
        index += if pair.is_some() { 2 } else { 1 };
    }
    found
}

/// Says whether the words before an option take it out: "not solid", "instead of the solid one".
fn is_taken_out(words: &[String], at: usize) -> bool {
    let before = words[..at].iter().rev().map(String::as_str);
    let mut before = before.skip_while(|word| ARTICLES.contains(word));
    let (last, first) = (
        before.next().unwrap_or_default(),
        before.next().unwrap_or_default(),
    );
    NOT.contains(&last) || NOT_PAIRS.contains(&[first, last])
}

/// Says whether words speak of an option of an element, also one that they take out, or of none.
pub(in crate::chat) fn mentions(key: &str, words: &[String]) -> bool {
    let has_option = |element| !mentioned(element, words).is_empty();
    element(key).is_some_and(has_option) || unsure(words).is_some()
}

/// Says that a word could turn a change round.
pub(super) fn unsure(words: &[String]) -> Option<String> {
    let takes_out = |index: usize| {
        let rest = words[index + 1..].iter();
        let articles = rest.take_while(|word| ARTICLES.contains(&word.as_str()));
        let next = index + 1 + articles.count();
        let next = &words[next.min(words.len())..(next + 2).min(words.len())];
        let mut places = ELEMENTS.iter().map(|element| mentioned(element, next));
        places.any(|found| found.first().is_some_and(|first| first.0 == 0))
    };
    let is_polite = |index: usize| {
        let next = words.get(index + 1).map_or("", String::as_str);
        let is_clause = ["if", "when", "while", "once", "before", "after"];
        let polite = ["possible", "you", "i", "ready", "done", "all", "that"];
        is_clause.contains(&words[index].as_str()) && polite.contains(&next)
    };
    // "No radius".
    let is_option = |index: usize| {
        let next = &words[index..(index + 2).min(words.len())];
        let mut places = ELEMENTS.iter().map(|element| mentioned(element, next));
        places.any(|found| found.first().is_some_and(|first| first.0 == 0))
    };
    // "No, change …".
    let is_answer = |index: usize| {
        let next = words.get(index + 1).map_or("", String::as_str);
        let is_verb = VERBS.iter().any(|(verb, _)| *verb == next);
        let is_none = ["problem", "worries", "rush", "hurry"].contains(&next);
        index == 0 && (is_verb || is_none)
    };
    let turns = |index: &usize| {
        let word = words[*index].as_str();
        let is_taken = NOT.contains(&word) && takes_out(*index);
        // "Everything but the button radius".
        let before = index.checked_sub(1).map(|before| words[before].as_str());
        let is_but = word == "but" && before.is_some_and(|before| ALL.contains(&before));
        let is_no = word == "no" && !is_option(*index) && !is_answer(*index);
        let is_turn = TURNS.contains(&word) && !is_polite(*index) || is_but || is_no;
        is_turn && !is_taken && !(is_but && takes_out(*index))
    };
    let word = brief(&words[(0..words.len()).find(turns)?]);
    let word = if word == "t" { "n't".to_string() } else { word };
    Some(format!(
        "I am not sure what \"{word}\" is to change here. Nothing was changed. Please say what it is to \
         become, for example: change button radius to full"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_an_option_with_words_that_say_nothing_only() {
        for (said, expected) in [
            ("full", Some("full")),
            ("I'd like it to be full, please", Some("full")),
            ("it should be full", Some("full")),
            ("I think full", Some("full")),
            ("full is fine", Some("full")),
            ("full would be great", Some("full")),
            ("full for the buttons", Some("full")),
            ("let's go with medium", Some("medium")),
            ("no radius", Some("no-radius")),
            ("not full", None),
            ("anything but full", None),
            ("is full good?", None),
            ("do you think full is good", None),
            ("full?", None),
            ("instead of full small", None),
            ("small or full", None),
            ("medium for the card", None),
        ] {
            let value = answer("button_radius", said);
            assert_eq!(value, expected.map(Value::from), "{said}");
        }
        assert_eq!(answer("title_font", "Change"), Some("Change".into()));
        assert_eq!(answer("title_font", "the font"), None);
    }

    #[test]
    fn an_option_that_is_taken_out_is_none() {
        let element = element("button_style").unwrap();
        for (message, expected) in [
            ("solid not stroked", Some("solid")),
            ("not solid but stroked", Some("stroked")),
            ("instead of the solid one stroked", Some("stroked")),
            ("soft shadow rather than solid", Some("soft-shadow")),
            ("from stroked", None),
            ("anything but solid", None),
        ] {
            let words: Vec<String> = message.split(' ').map(String::from).collect();
            assert_eq!(option(element, &words), expected, "{message}");
        }
    }

    #[test]
    fn what_turns_a_change_round_is_doubted() {
        for (message, is_sure) in [
            ("button style solid not stroked", true),
            ("make the button radius full if you can", true),
            ("I don t want the button radius full", false),
            ("neither solid nor stroked", false),
            ("change everything but button radius", false),
            ("anything but full", true),
            ("the button radius not ever full", false),
            ("there is no need to change button radius to full", false),
            ("i want no button radius full", false),
            ("button radius no full", false),
            ("change button radius to no radius", true),
            ("no change button radius to full", true),
            ("when asked change button radius to full", false),
        ] {
            let words: Vec<String> = message.split(' ').map(String::from).collect();
            assert_eq!(unsure(&words).is_none(), is_sure, "{message}");
        }
    }
}
