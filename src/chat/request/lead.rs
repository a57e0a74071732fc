//! What stands in front of an answer and is no part of it: "the title is X" for X.

use crate::chat::message::{hidden, parts};
use crate::chat::vocabulary::PHRASES;

/// Words between the name of a field and its value, each with a blank behind it.
const SIGNS: [&str; 6] = ["to ", "into ", "as ", "is ", "=", ":"];
/// What can stand for the name of the field that is asked for.
const LEADS: [&str; 15] = [
    "set it to ",
    "change it to ",
    "rename it to ",
    "make it ",
    "call it ",
    "name it ",
    "let it be ",
    "it should be ",
    "i want it to be ",
    "i'd like it to be ",
    "i’d like it to be ",
    "i would like it to be ",
    "make that ",
    "set that to ",
    "change that to ",
];

/// Takes the name of a field with the sign of its value off the start of an answer.
pub(in crate::chat) fn behind_name<'a>(names: &[&str], answer: &'a str) -> &'a str {
    let answer = answer.trim();
    let said = unled(answer);
    let signs = |rest: &'a str| {
        let rest = rest.trim_start();
        SIGNS.iter().find_map(|sign| without(rest, sign))
    };
    let names = names.iter().filter_map(|name| {
        let rest = without(said, name)?;
        let is_word = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        signs(rest).filter(|_| is_word)
    });
    // The longest name leaves the least.
    let named = names.min_by_key(|rest| rest.len());
    // "To be or not to be" is a text.
    named
        .or_else(|| behind_lead(answer))
        .or_else(|| answer.strip_prefix("to "))
        .unwrap_or(answer)
        .trim()
}

/// Takes what stands for the name of a field off the start of an answer: "make it X" for X.
pub(in crate::chat) fn behind_lead(answer: &str) -> Option<&str> {
    let answer = answer.trim();
    let said = without(answer, "please ").unwrap_or(answer);
    LEADS.iter().find_map(|lead| without(said, lead))
}

/// Takes "the" and "new" off the start of a text.
fn unled(text: &str) -> &str {
    let text = without(text, "the ").unwrap_or(text);
    without(text, "new ").unwrap_or(text)
}

/// Finds the fields of a component that a text assigns values to, with signs: "title to A and caption
/// to B".
pub(in crate::chat) fn assigned(text: &str) -> Vec<&'static str> {
    let plain = hidden(text);
    let assigned = parts(text).into_iter().filter_map(|place| {
        let part = unled(plain[place].trim());
        let (_, field) = PHRASES.iter().find(|(words, field)| {
            let names = [words.join(" "), (*field).to_string()];
            names
                .iter()
                .any(|name| behind_name(&[name], part) != behind_name(&[], part))
        })?;
        Some(*field)
    });
    assigned.collect()
}

/// Takes what a text begins with off it, in any letter case.
fn without<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let begin = text.get(..start.len())?;
    let rest = text.get(start.len()..)?;
    begin.eq_ignore_ascii_case(start).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_field_is_taken_off_an_answer_with_its_sign_only() {
        for (answer, expected) in [
            ("title to Back to school", "Back to school"),
            ("The title is X", "X"),
            ("the new title is X", "X"),
            ("new title: X", "X"),
            ("Title = X", "X"),
            ("header: X", "X"),
            ("header title: X", "X"),
            ("to X", "X"),
            ("set it to X", "X"),
            ("make it X", "X"),
            ("Please make it X", "X"),
            ("I'd like it to be X", "X"),
            ("Make room", "Make room"),
            ("please X", "please X"),
            ("Back to school", "Back to school"),
            ("To be or not to be", "To be or not to be"),
            ("Sign in = Log in", "Sign in = Log in"),
            ("New title", "New title"),
            ("Title", "Title"),
            ("Titles to read", "Titles to read"),
            ("caption to X", "caption to X"),
            ("İ to X", "İ to X"),
        ] {
            let names = ["title", "header", "header title"];
            assert_eq!(behind_name(&names, answer), expected, "{answer}");
        }
    }
}
