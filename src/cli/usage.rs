//! What clap finds wrong with a command line, as an answer like any other, and fixes that are made
//! from the user's own command line.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::arguments::{Format, Globals};
use super::output::Output;
use crate::error::{Code, Error, quote};

/// Reports a fault of the command line, or prints the help or version that was asked for.
pub(super) fn report(fault: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let output_for = |globals: &Globals| Output::new(globals);
    if matches!(
        fault.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        output_for(&Globals::default()).print(&fault.render().to_string());
        return ExitCode::SUCCESS;
    }
    let mut output = output_for(&globals_of(arguments));
    if output.format() == Format::Text
        && fault.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    {
        output.note(&fault.render().to_string());
        return ExitCode::from(Code::Usage.exit_code());
    }
    output.error(&command_of(arguments), to_error(fault, arguments))
}

/// Gives an error that knows which argument is wrong a fix made from the command line.
pub(super) fn with_fix(mut error: Error, arguments: &[OsString]) -> Error {
    if let (None, Some((wrong, right))) = (&error.fix, &error.replacement) {
        error.fix = replaced(arguments, wrong, right);
    }
    error
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
    let named = joined
        .map(str::to_string)
        .or(after.map(|word| word.to_string()));
    globals.format = match named
        .or(super::environment::setting("CLEO_FORMAT"))
        .as_deref()
    {
        Some("text") => Some(Format::Text),
        Some("json") => Some(Format::Json),
        Some("ndjson") => Some(Format::Ndjson),
        _ => None,
    };
    globals
}

/// Names the command as far as its words go: `orchestrator.spawn`.
fn command_of(arguments: &[OsString]) -> String {
    let mut command = <super::Cli as clap::CommandFactory>::command();
    let mut names = Vec::new();
    for word in arguments.iter().skip(1).filter_map(|word| word.to_str()) {
        let Some(found) = command.find_subcommand(word) else {
            continue;
        };
        names.push(word.to_string());
        command = found.clone();
    }
    if names.is_empty() {
        "cleo".to_string()
    } else {
        names.join(".")
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
    match corrected(fault, arguments) {
        Some(fix) => error.fix(fix),
        None => error.fix(help_for(arguments)),
    }
}

/// Puts what clap suggests in the place of what is wrong.
fn corrected(fault: &clap::Error, arguments: &[OsString]) -> Option<String> {
    let pairs = [
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        (
            ContextKind::InvalidSubcommand,
            ContextKind::SuggestedSubcommand,
        ),
        (ContextKind::InvalidValue, ContextKind::SuggestedValue),
    ];
    pairs.iter().find_map(|(wrong, right)| {
        let wrong = one(fault.get(*wrong)?)?;
        let right = one(fault.get(*right)?)?;
        replaced(arguments, wrong.split([' ', '=']).next()?, &right)
    })
}

fn one(value: &ContextValue) -> Option<String> {
    match value {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => texts.first().cloned(),
        _ => None,
    }
}

/// Writes the command line again with one argument replaced.
fn replaced(arguments: &[OsString], wrong: &str, right: &str) -> Option<String> {
    let mut found = false;
    let mut words = vec!["cleo".to_string()];
    for argument in arguments.iter().skip(1) {
        let argument = argument.to_string_lossy();
        let new = match argument.split_once('=') {
            _ if argument == wrong => Some(right.to_string()),
            Some((name, value)) if name == wrong => Some(format!("{right}={value}")),
            Some((name, value)) if value == wrong => Some(format!("{name}={right}")),
            _ => None,
        };
        found |= new.is_some();
        words.push(quote(&new.unwrap_or_else(|| argument.into_owned())));
    }
    found.then(|| words.join(" "))
}

fn help_for(arguments: &[OsString]) -> String {
    let command = command_of(arguments);
    if command == "cleo" {
        "cleo --help".into()
    } else {
        format!("cleo {} --help", command.replace('.', " "))
    }
}
