//! What clap finds wrong with a command line, as an answer like any other, and fixes that are made
//! from the user's own command line.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::arguments::{Format, Globals};
use super::output::Output;
use crate::error::{Code, Error, nearest, quote};
use crate::task::{Priority, Size, Status};

/// Reports a fault of the command line, or prints the help or version that was asked for.
pub(super) fn report(fault: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let mut output = Output::new(&globals_of(arguments));
    match fault.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            output.print(&fault.render().to_string())
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            no_command(&mut output, arguments)
        }
        _ => output.error(&command_of(arguments).0, to_error(fault, arguments)),
    }
}

/// Answers a command line that ends before it names a command: people get the help.
fn no_command(output: &mut Output, arguments: &[OsString]) -> ExitCode {
    let (name, mut command) = command_of(arguments);
    if output.format() == Format::Text {
        output.help(&command.render_help().to_string());
        return ExitCode::from(Code::Usage.exit_code());
    }
    let words = name.replace('.', " ");
    let message = match words.as_str() {
        "cleo" => "`cleo` needs a command".to_string(),
        words => format!("`cleo {words}` needs a command"),
    };
    output.error(
        &name,
        Error::new(Code::Usage, message).fix(help_for(arguments)),
    )
}

/// Completes an error with what the command line knows: each gets a fix, and each command in it
/// goes to the workspace that the user named.
pub(super) fn with_fix(mut error: Error, globals: &Globals, arguments: &[OsString]) -> Error {
    if let Some(root) = &globals.root {
        let others = error
            .alternatives
            .iter_mut()
            .map(|other| &mut other.command);
        for command in error.fix.iter_mut().chain(others) {
            *command = in_root(command, root);
        }
    }
    if let (None, Some((wrong, right))) = (&error.fix, &error.replacement) {
        error.fix = replaced(arguments, wrong, right);
    }
    if error.fix.is_none() {
        error.fix = Some(way_out(&error, arguments));
    }
    error
}

/// Names the workspace in a command that would look for one.
fn in_root(command: &str, root: &Path) -> String {
    match command.strip_prefix("cleo ") {
        Some(rest) if !command.contains("--root") && !rest.ends_with("--help") => {
            format!("cleo --root {} {rest}", quote(&root.to_string_lossy()))
        }
        _ => command.to_string(),
    }
}

/// What to type about an error that has no better fix: the same again, the explanation, or the
/// help.
fn way_out(error: &Error, arguments: &[OsString]) -> String {
    match error.code {
        _ if error.retryable() => again(arguments.iter().skip(1)),
        Code::Internal => format!("cleo explain {}", error.code.name()),
        _ => help_for(arguments),
    }
}

/// Writes a command line so that it can be pasted.
fn again<'a>(arguments: impl Iterator<Item = &'a OsString>) -> String {
    let words = arguments.map(|argument| quote(&argument.to_string_lossy()));
    std::iter::once("cleo".to_string())
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Reads the form of the answer from a command line that could not be parsed.
fn globals_of(arguments: &[OsString]) -> Globals {
    let words: Vec<_> = arguments
        .iter()
        .map(|word| word.to_string_lossy())
        .collect();
    let mut globals = Globals {
        json: words.iter().any(|word| word == "--json"),
        ..Globals::default()
    };
    let after = words
        .iter()
        .position(|word| word == "--format")
        .and_then(|at| words.get(at + 1));
    let joined = words.iter().find_map(|word| word.strip_prefix("--format="));
    globals.format = match joined.or(after.map(|word| word.as_ref())) {
        Some("text") => Some(Format::Text),
        Some("json") => Some(Format::Json),
        Some("ndjson") => Some(Format::Ndjson),
        _ => None,
    };
    globals
}

/// Follows the command line as far as its words name commands; the name is as in
/// `orchestrator.spawn`.
fn command_of(arguments: &[OsString]) -> (String, clap::Command) {
    let mut command = <super::Cli as clap::CommandFactory>::command();
    command.build();
    let mut names = Vec::new();
    for word in arguments.iter().skip(1).filter_map(|word| word.to_str()) {
        let Some(found) = command.find_subcommand(word) else {
            continue;
        };
        names.push(word.to_string());
        command = found.clone();
    }
    if names.is_empty() {
        ("cleo".to_string(), command)
    } else {
        (names.join("."), command)
    }
}

fn to_error(fault: &clap::Error, arguments: &[OsString]) -> Error {
    let text = fault.render().to_string();
    let first = text
        .split("\n\n")
        .next()
        .unwrap_or(&text)
        .trim_start_matches("error: ");
    let message = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let error = Error::new(Code::Usage, message);
    let fix = corrected(fault, arguments).or_else(|| quoted_title(fault, arguments));
    error.fix(fix.unwrap_or_else(|| help_for(arguments)))
}

/// Puts what clap suggests, or what is mostly meant, in the place of what is wrong.
fn corrected(fault: &clap::Error, arguments: &[OsString]) -> Option<String> {
    let context = |kind| fault.get(kind).and_then(one);
    let pairs = [
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        (
            ContextKind::InvalidSubcommand,
            ContextKind::SuggestedSubcommand,
        ),
        (ContextKind::InvalidValue, ContextKind::SuggestedValue),
    ];
    let suggested = pairs.iter().find_map(|(wrong, right)| {
        let (wrong, right) = (context(*wrong)?, context(*right)?);
        let wrong = wrong.split([' ', '=']).next()?;
        // What is far away is no correction: pasted, it would do something else.
        replaced(arguments, wrong, nearest(wrong, [right.as_str()])?)
    });
    suggested.or_else(|| {
        let wrong = context(ContextKind::InvalidValue)?;
        let argument = context(ContextKind::InvalidArg)?;
        replaced(arguments, &wrong, &meant(&argument, &wrong)?)
    })
}

fn one(value: &ContextValue) -> Option<String> {
    match value {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => texts.first().cloned(),
        _ => None,
    }
}

/// Guesses the value that is meant by one that an argument, such as `--status <STATUS>`, cannot
/// take.
fn meant(argument: &str, wrong: &str) -> Option<String> {
    let (_, name) = argument.trim_end_matches(['.', ']', '>']).split_once('<')?;
    let near = |words: Vec<&'static str>| nearest(wrong, words).map(str::to_string);
    match name {
        "TASK" => {
            let digits = wrong.trim_start_matches('#');
            let is_number = digits.parse::<u32>().is_ok_and(|number| number > 0);
            is_number.then(|| format!("T{digits}"))
        }
        "STATUS" => near(Status::ALL.iter().map(|word| word.word()).collect()),
        "PRIORITY" => near(Priority::ALL.iter().map(|word| word.word()).collect()),
        "SIZE" => near(Size::ALL.iter().map(|word| word.word()).collect()),
        _ => None,
    }
}

/// `cleo add Fix the door` most likely means one title of several words.
fn quoted_title(fault: &clap::Error, arguments: &[OsString]) -> Option<String> {
    let unexpected = fault.get(ContextKind::InvalidArg).and_then(one)?;
    let add = arguments.iter().position(|word| word == "add")?;
    let is_option = |word: &OsString| word.to_string_lossy().starts_with('-');
    let words: Vec<_> = arguments[add + 1..]
        .iter()
        .take_while(|word| !is_option(word))
        .map(|word| word.to_string_lossy())
        .collect();
    if words.len() < 2 || !words.iter().any(|word| *word == unexpected) {
        return None;
    }
    let title = OsString::from(words.join(" "));
    let rest = &arguments[add + 1 + words.len()..];
    let line = arguments[1..=add].iter().chain([&title]).chain(rest);
    Some(again(line))
}

/// Writes the command line again with one argument, or one item of a list, replaced.
fn replaced(arguments: &[OsString], wrong: &str, right: &str) -> Option<String> {
    let mut found = false;
    let words: Vec<OsString> = arguments
        .iter()
        .skip(1)
        .map(|argument| {
            let new = with_replaced(&argument.to_string_lossy(), wrong, right);
            found |= new.is_some();
            new.map_or_else(|| argument.clone(), OsString::from)
        })
        .collect();
    found.then(|| again(words.iter()))
}

fn with_replaced(argument: &str, wrong: &str, right: &str) -> Option<String> {
    if argument == wrong {
        return Some(right.to_string());
    }
    if let Some((name, value)) = argument
        .split_once('=')
        .filter(|_| argument.starts_with('-'))
    {
        return match name == wrong {
            true => Some(format!("{right}={value}")),
            false => with_replaced(value, wrong, right).map(|value| format!("{name}={value}")),
        };
    }
    let mut items: Vec<&str> = argument.split(',').collect();
    let place = items
        .iter()
        .position(|item| *item == wrong && !wrong.is_empty())?;
    items[place] = right;
    Some(items.join(","))
}

fn help_for(arguments: &[OsString]) -> String {
    match command_of(arguments).0.as_str() {
        "cleo" => "cleo --help".into(),
        command => format!("cleo {} --help", command.replace('.', " ")),
    }
}
