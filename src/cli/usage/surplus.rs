//! What a command line has too much of: words that name no task, and values that cannot stay.

use clap::error::ContextKind;

use super::line::{Line, Role, Word, pasted};
use super::naming::{context, numbered};
use crate::id::TaskId;

/// Options that name other tasks; without them a command still does the rest of what was meant.
const REFERENCES: [&str; 2] = ["depends", "parent"];

/// Of several tasks, those that are named rightly are left; the only one never goes.
pub(super) fn without(fault: &clap::Error, line: &Line<'_>) -> Option<String> {
    let argument = context(fault, ContextKind::InvalidArg)?;
    let wrong = context(fault, ContextKind::InvalidValue)?;
    let is_of_it = |word: &Word<'_>| word.role == Role::Argument && word.gives(&argument);
    let is_task = |word: &Word<'_>| word.text().is_some_and(is_id);
    let goes = |word: &Word<'_>| is_of_it(word) && !is_task(word);
    let mut words = line.words.iter();
    let is_one_left = words.any(|word| is_of_it(word) && is_task(word));
    let mut words = line.words.iter();
    let is_found = words.any(|word| goes(word) && word.text() == Some(&wrong));
    if !is_one_left || !is_found {
        return None;
    }
    let left = line.words.iter().filter(|word| !goes(word));
    let left: Vec<&str> = left.map(Word::text).collect::<Option<_>>()?;
    Some(pasted(left.into_iter()))
}

/// A number that no task has is left out where the command goes without it.
pub(super) fn unknown(fault: &clap::Error, line: &Line<'_>) -> Option<String> {
    let argument = context(fault, ContextKind::InvalidArg)?;
    let wrong = context(fault, ContextKind::InvalidValue)?;
    numbered(&argument, &wrong)?;
    if !matches!(line.name().as_str(), "add" | "update") {
        return None;
    }
    let is_it = |option: &&&str| argument.starts_with(&format!("--{option} "));
    let option = REFERENCES.iter().find(is_it)?;
    left_out(line, option, &wrong)
}

/// Says whether an option in the place of another word would name a task that is not there.
pub(super) fn is_stranger(
    line: &Line<'_>,
    place: usize,
    option: &str,
    is_task: &dyn Fn(TaskId) -> bool,
) -> bool {
    let text = |at: usize| line.words.get(at).and_then(Word::text);
    let joined = text(place).and_then(|text| Some(text.split_once('=')?.1));
    let given = joined.or_else(|| text(place + 1)).unwrap_or_default();
    let mut ids = given
        .split(',')
        .filter_map(|item| item.parse::<TaskId>().ok());
    REFERENCES.contains(&option) && ids.any(|id| !is_task(id))
}

/// Leaves a value out, and its option when that gives no other; none when nothing is left to be changed.
pub(super) fn left_out(line: &Line<'_>, option: &str, value: &str) -> Option<String> {
    let mut left: Vec<(String, bool)> = Vec::new();
    let mut is_found = false;
    for word in &line.words {
        let Some(rest) = rest(word, option, value) else {
            left.push((word.text()?.to_string(), is_change(word)));
            continue;
        };
        is_found = true;
        if !rest.is_empty() {
            left.push((word.holding(&rest)?, true));
        } else if word.role == Role::Value {
            // The option stands before it.
            left.pop();
        }
    }
    let is_idle = line.name() == "update" && !left.iter().any(|(_, is_change)| *is_change);
    let left = || pasted(left.iter().map(|(word, _)| word.as_str()));
    (is_found && !is_idle).then(left)
}

/// Returns what is left of the values of a word; none when the word does not give that value.
fn rest(word: &Word<'_>, option: &str, value: &str) -> Option<String> {
    let argument = word.argument.as_ref()?;
    let given = word.value()?;
    if argument.get_long() != Some(option) {
        return None;
    }
    let Some(delimiter) = argument.get_value_delimiter() else {
        return is_same(given, value).then(String::new);
    };
    let items: Vec<&str> = given.split(delimiter).collect();
    let kept = items.iter().filter(|item| !is_same(item, value));
    let kept: Vec<&str> = kept.copied().collect();
    (kept.len() < items.len()).then(|| kept.join(&delimiter.to_string()))
}

fn is_same(given: &str, value: &str) -> bool {
    let id = given.parse::<TaskId>().map(|id| id.to_string());
    given.trim() == value || id.is_ok_and(|id| id == value)
}

fn is_id(text: &str) -> bool {
    text.parse::<TaskId>().is_ok()
}

/// Says whether a word belongs to an option of the command itself.
pub(super) fn is_change(word: &Word<'_>) -> bool {
    let argument = word.argument.as_ref();
    argument.is_some_and(|argument| !argument.is_positional() && !argument.is_global_set())
}
