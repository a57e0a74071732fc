//! Corrects a command line: one argument, and only the one that is wrong, is replaced.

use std::any::TypeId;
use std::error::Error as _;

use clap::error::{ContextKind, ContextValue};

use super::line::{Line, Role, Word, pasted, takes_value};
use super::naming::{context, numbered};
use super::{elsewhere, order, removal, surplus};
use crate::error::{Code, Error, likeliest, nearest};
use crate::id::TaskId;
use crate::task::rules::{cleaned_line, cleaned_text};

/// Options whose texts may have several lines.
const PROSE: [&str; 3] = ["description", "note", "reason"];
/// Options that only say what a task is like or how an answer looks.
const DESCRIBING: [&str; 4] = ["--size", "--priority", "--format", "--color"];
/// Words that other programs begin the commands about tasks with.
const GROUPS: [&str; 2] = ["task", "tasks"];

/// Finds what was most likely meant by a line that clap refuses. `is_task` says whether a task is there.
pub(super) fn corrected(
    fault: &clap::Error,
    line: &Line<'_>,
    is_task: &dyn Fn(TaskId) -> bool,
) -> Option<String> {
    command(fault, line)
        .or_else(|| option(fault, line, is_task))
        .or_else(|| elsewhere::meant(fault, line))
        .or_else(|| value(fault, line, is_task))
        .or_else(|| surplus::unknown(fault, line))
        .or_else(|| dashed(fault, line))
        .or_else(|| quoted_title(fault, line))
        .or_else(|| scoped(fault, line))
        .or_else(|| order::swapped(fault, line))
        .or_else(|| surplus::without(fault, line))
}

/// Puts the replacement that an error names in its place; none when it is not clear which place
/// that is.
pub(super) fn replaced(error: &Error, line: &Line<'_>) -> Option<String> {
    let (wrong, right) = error.replacement.as_ref()?;
    if error.code == Code::TextControl {
        return cleaned(line);
    }
    let is_wrong = |value: &str| is_same(value, wrong);
    let all = places(line, |word| word.with(&is_wrong, right).is_some());
    let first = |places: &[usize]| line.words[*places.first()?].argument.clone();
    let one = |places: &Vec<usize>| {
        let argument = first(places).map(|argument| argument.to_string());
        argument.is_some_and(|shown| places.iter().all(|at| line.words[*at].gives(&shown)))
    };
    let mut named = all.clone();
    named.retain(|at| is_named(&error.message, &line.words[*at]));
    let chosen = [all, named].into_iter().find(one)?;
    rewritten(line, &chosen, |word| word.with(&is_wrong, right))
}

/// Writes the line again without the control characters that texts must not hold. It takes them out of
/// all, because only the first of them was named.
fn cleaned(line: &Line<'_>) -> Option<String> {
    let places = places(line, |word| clean(word).is_some());
    rewritten(line, &places, clean)
}

fn clean(word: &Word<'_>) -> Option<String> {
    let argument = word.argument.as_ref()?;
    let (name, value) = (argument.get_long().unwrap_or_default(), word.value()?);
    let clean = match PROSE.contains(&name) {
        _ if argument.is_global_set() => None,
        true => cleaned_text(value),
        false => cleaned_line(value),
    };
    word.holding(&clean?)
}

/// Writes a command line so that it can be pasted; none when a word of it is no text.
pub(super) fn again(line: &Line<'_>) -> Option<String> {
    let words: Option<Vec<&str>> = line.words.iter().map(Word::text).collect();
    words.map(|words| pasted(words.into_iter()))
}

/// Fields are trimmed before they are judged, and numbers are shown in a form of their own.
fn is_same(value: &str, wrong: &str) -> bool {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let numbers = number(value).zip(number(wrong));
    value.trim() == wrong.trim() || numbers.is_some_and(|(one, other)| one == other)
}

/// Says whether a message names the argument that a word gives: `labels` names `--label`.
fn is_named(message: &str, word: &Word<'_>) -> bool {
    let Some(argument) = &word.argument else {
        return false;
    };
    let name = argument.get_long().unwrap_or(argument.get_id().as_str());
    // What stands in backticks is quoted from somebody else.
    let own = message.split('`').step_by(2);
    own.flat_map(|text| text.split(|c: char| !c.is_alphanumeric()))
        .map(|field| field.trim_end_matches('s').to_lowercase())
        .any(|field| field.ends_with(name))
}

fn places(line: &Line<'_>, is_it: impl Fn(&Word<'_>) -> bool) -> Vec<usize> {
    let words = line.words.iter().enumerate();
    words
        .filter(|(_, word)| is_it(word))
        .map(|(at, _)| at)
        .collect()
}

/// Writes the line again with new words in some places; none when there is no such place.
fn rewritten(
    line: &Line<'_>,
    places: &[usize],
    new: impl Fn(&Word<'_>) -> Option<String>,
) -> Option<String> {
    let words = line.words.iter().enumerate().map(|(at, word)| {
        if places.contains(&at) {
            new(word)
        } else {
            word.text().map(str::to_string)
        }
    });
    let words: Vec<String> = words.collect::<Option<_>>()?;
    (!places.is_empty()).then(|| pasted(words.iter().map(String::as_str)))
}

/// What is far away is no correction: pasted, it would do something else.
fn suggested(fault: &clap::Error, kind: ContextKind, wrong: &str) -> Option<String> {
    let right = context(fault, kind)?;
    nearest(wrong, [right.as_str()]).map(str::to_string)
}

fn command(fault: &clap::Error, line: &Line<'_>) -> Option<String> {
    let wrong = context(fault, ContextKind::InvalidSubcommand)?;
    let is_it = |word: &Word<'_>| word.role == Role::Argument && word.text() == Some(&wrong);
    let place = line.words.iter().position(is_it)?;
    if line.name() == "cleo" && GROUPS.contains(&wrong.as_str()) {
        return plain(line, place);
    }
    let right = suggested(fault, ContextKind::SuggestedSubcommand, &wrong)?;
    let whole = rewritten(line, &[place], |_| Some(right.clone()))?;
    Some(match lacks_argument(line, place, &right) {
        true => format!("{whole} --help"),
        false => whole,
    })
}

/// Says whether a command that is put in the place of a word would need more words than follow.
fn lacks_argument(line: &Line<'_>, place: usize, name: &str) -> bool {
    let Some(command) = line.command.find_subcommand(name) else {
        return false;
    };
    let needed = command
        .get_positionals()
        .filter(|one| one.is_required_set());
    let needed = needed.count() + usize::from(command.is_subcommand_required_set());
    let follow = line.words[place + 1..].iter();
    follow.filter(|word| word.role == Role::Argument).count() < needed
}

/// `cleo task add x` becomes `cleo add x`, where there is such a command, and `cleo tasks` a list.
fn plain(line: &Line<'_>, place: usize) -> Option<String> {
    let mut after = line.words[place + 1..].iter();
    let Some(next) = after.find(|word| word.role == Role::Argument) else {
        return rewritten(line, &[place], |_| Some("list".to_string()));
    };
    line.command.find_subcommand(next.text()?)?;
    let words = line.words.iter().map(Word::text);
    let mut words: Vec<&str> = words.collect::<Option<_>>()?;
    words.remove(place);
    Some(pasted(words.into_iter()))
}

/// Finds the word that begins with an option that nobody knows.
fn unknown(fault: &clap::Error, line: &Line<'_>) -> Option<(usize, String)> {
    let shown = context(fault, ContextKind::InvalidArg)?;
    let wrong = shown.split([' ', '=']).next()?.to_string();
    let is_long = wrong.starts_with("--");
    let begins = |text: &str| {
        let rest = text.strip_prefix(&wrong);
        rest.is_some_and(|rest| !is_long || rest.is_empty() || rest.starts_with('='))
    };
    let place = line.words.iter().position(|word| {
        let stranger = word.role == Role::Option && word.argument.is_none();
        stranger && word.text().is_some_and(begins)
    })?;
    Some((place, wrong))
}

fn option(
    fault: &clap::Error,
    line: &Line<'_>,
    is_task: &dyn Fn(TaskId) -> bool,
) -> Option<String> {
    let (place, wrong) = unknown(fault, line)?;
    let right = meant(fault, line, &wrong)?;
    let bare = right.trim_start_matches('-');
    if lacks_value(line, place, bare) || surplus::is_stranger(line, place, bare, is_task) {
        return None;
    }
    rewritten(line, &[place], |word| {
        Some(format!("{right}{}", word.text()?.strip_prefix(&wrong)?))
    })
}

/// Finds the option that is meant. One that gives something is not meant where it is to be taken away.
fn meant(fault: &clap::Error, line: &Line<'_>, wrong: &str) -> Option<String> {
    let right = context(fault, ContextKind::SuggestedArg);
    // All options begin with dashes, which says nothing about how near they are.
    let bare = wrong.trim_start_matches('-');
    let near = right.as_deref().unwrap_or_default().trim_start_matches('-');
    if let Some(thing) = removal::named(bare, near) {
        return removal::option(&line.command, thing);
    }
    nearest(bare, [near])?;
    right
}

/// Says whether an option that takes a value would have none in the place of another word.
fn lacks_value(line: &Line<'_>, place: usize, long: &str) -> bool {
    let mut options = line.command.get_arguments();
    let option = options.find(|option| option.get_long() == Some(long));
    let is_given = |word: &Word<'_>| word.text().is_some_and(|text| text.contains('='));
    let follows = |word: &Word<'_>| word.role == Role::Argument;
    option.is_some_and(takes_value)
        && !line.words.get(place).is_some_and(is_given)
        && !line.words.get(place + 1).is_some_and(follows)
}

fn value(fault: &clap::Error, line: &Line<'_>, is_task: &dyn Fn(TaskId) -> bool) -> Option<String> {
    let argument = context(fault, ContextKind::InvalidArg)?;
    let wrong = context(fault, ContextKind::InvalidValue)?;
    let numbered = || numbered(&argument, &wrong).filter(|id| is_task(*id));
    let right = suggested(fault, ContextKind::SuggestedValue, &wrong)
        .or_else(|| numbered().map(|id| id.to_string()))
        .or_else(|| listed(fault, &argument, &wrong));
    match right {
        Some(right) => in_place(line, &argument, &wrong, &right),
        None => stranger(fault, line, &argument, &wrong),
    }
}

fn in_place(line: &Line<'_>, argument: &str, wrong: &str, right: &str) -> Option<String> {
    let is_wrong = |value: &str| value == wrong;
    let places = places(line, |word| {
        word.gives(argument) && word.with(&is_wrong, right).is_some()
    });
    rewritten(line, &places, |word| word.with(&is_wrong, right))
}

/// Whoever names a stranger among the agents gets the files of the others, or else of all that there are.
fn stranger(fault: &clap::Error, line: &Line<'_>, argument: &str, wrong: &str) -> Option<String> {
    let is_all = known_words(fault).iter().any(|word| word == "all");
    if !is_all || !argument.starts_with("--agents ") {
        return None;
    }
    let has_others = |word: &Word<'_>| word.value().is_some_and(|value| value != wrong);
    let mut words = line.words.iter().filter(|word| word.gives(argument));
    match words.any(has_others) {
        true => surplus::left_out(line, "agents", wrong),
        false => in_place(line, argument, wrong, "all"),
    }
}

/// Guesses the word that is meant among those that the refusal lists: one that is near, or the
/// likeliest where a wrong guess does no harm.
fn listed(fault: &clap::Error, argument: &str, wrong: &str) -> Option<String> {
    let known = known_words(fault);
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let option = argument.split(' ').next().unwrap_or_default();
    let far = || likeliest(wrong, &known).filter(|_| DESCRIBING.contains(&option));
    let near = nearest(wrong, known.iter().copied());
    near.or_else(far).map(str::to_string)
}

/// Returns the words that a refusal lists, as clap or as we do.
fn known_words(fault: &clap::Error) -> Vec<String> {
    if let Some(ContextValue::Strings(words)) = fault.get(ContextKind::ValidValue) {
        return words.clone();
    }
    let refusal = fault.source().map(ToString::to_string);
    let refusal = refusal.unwrap_or_default();
    let (_, words) = refusal.split_once("; use ").unwrap_or_default();
    let words = words.strip_prefix("one of ").unwrap_or(words).split(", ");
    let words = words.filter(|word| !word.is_empty() && !word.contains(' '));
    words.map(str::to_string).collect()
}

/// A text or a number that begins with a dash is taken for an option.
fn dashed(fault: &clap::Error, line: &Line<'_>) -> Option<String> {
    let (place, _) = unknown(fault, line)?;
    let before = place.checked_sub(1).map(|before| &line.words[before]);
    let waits = |word: &&Word<'_>| {
        let option = word.argument.as_ref().filter(|option| takes_value(option));
        word.role == Role::Option && option.is_some() && word.value().is_none()
    };
    match before.filter(waits) {
        Some(option) => joined(line, option, place),
        None => behind_dashes(line, place),
    }
}

/// `--title -x` becomes `--title=-x`, and `--estimate -1` becomes `--estimate=1`.
fn joined(line: &Line<'_>, option: &Word<'_>, place: usize) -> Option<String> {
    let text = line.words[place].text()?;
    let kind = option.argument.as_ref()?.get_value_parser().type_id();
    let positive = text.trim_start_matches('-');
    let value = match text.parse::<f64>() {
        _ if kind == TypeId::of::<String>() => text,
        Ok(_) if kind == TypeId::of::<f64>() || kind == TypeId::of::<u32>() => positive,
        _ => return None,
    };
    let whole = format!("{}={value}", option.text()?);
    let words = line.words.iter().map(Word::text);
    let mut words: Vec<&str> = words.collect::<Option<_>>()?;
    words.splice(place - 1..=place, [whole.as_str()]);
    Some(pasted(words.into_iter()))
}

/// `cleo add -x` becomes `cleo add -- -x`, where free text is still to come.
fn behind_dashes(line: &Line<'_>, place: usize) -> Option<String> {
    let is_text = matches!(line.name().as_str(), "add" | "find" | "route");
    let is_taken = |word: &Word<'_>| word.role == Role::Argument || word.text() == Some("--");
    if !is_text || line.words.iter().any(is_taken) {
        return None;
    }
    let words = line.words.iter().map(Word::text);
    let mut words: Vec<&str> = words.collect::<Option<_>>()?;
    let text = words.remove(place);
    Some(pasted(words.into_iter().chain(["--", text])))
}

/// `cleo add Fix the door` most likely means one title of several words.
fn quoted_title(fault: &clap::Error, line: &Line<'_>) -> Option<String> {
    let unexpected = context(fault, ContextKind::InvalidArg)?;
    let is_title = |word: &Word<'_>| word.role == Role::Argument;
    let places = places(line, is_title);
    let (first, last) = (*places.first()?, *places.last()?);
    let in_one_piece = last - first + 1 == places.len() && places.len() > 1;
    let words: Vec<&str> = line.words.iter().map(Word::text).collect::<Option<_>>()?;
    let takes_text = matches!(line.name().as_str(), "add" | "route");
    if !takes_text || !in_one_piece || !words[first..=last].contains(&&*unexpected) {
        return None;
    }
    let title = words[first..=last].join(" ");
    let mut whole = words;
    whole.splice(first..=last, [title.as_str()]);
    Some(pasted(whole.into_iter()))
}

/// `cleo orchestrator waves T1` most likely means the epic T1.
fn scoped(fault: &clap::Error, line: &Line<'_>) -> Option<String> {
    let unexpected = context(fault, ContextKind::InvalidArg)?;
    let epic: TaskId = unexpected.trim_start_matches('#').parse().ok()?;
    let mut options = line.command.get_arguments();
    let option = options.find(|option| option.get_long() == Some("epic"))?;
    let is_it = |word: &Word<'_>| word.role == Role::Argument && word.text() == Some(&unexpected);
    let [place] = places(line, is_it)[..] else {
        return None;
    };
    let is_given = |word: &Word<'_>| word.argument.as_ref() == Some(option);
    if line.words.iter().any(is_given) {
        return None;
    }
    let epic = epic.to_string();
    let words = line.words.iter().map(Word::text);
    let mut words: Vec<&str> = words.collect::<Option<_>>()?;
    words.splice(place..=place, ["--epic", &epic]);
    Some(pasted(words.into_iter()))
}
