//! What clap finds wrong with a command line, as an answer like any other, and fixes that are made
//! from the user's own command line.

mod elsewhere;
mod fix;
mod line;
mod naming;
mod order;
mod removal;
mod surplus;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::ValueEnum;
use clap::error::ErrorKind;
use serde::Serialize;

use super::arguments::{Format, Globals};
use super::environment;
use super::output::Output;
use crate::config::Settings;
use crate::error::{Code, Error};
use crate::id::TaskId;
use crate::ops::{Context, require};
use line::Line;

/// Longest fix, in characters: nobody reads, and hardly anybody pastes, a longer one.
const FIX_MAX: usize = 4_000;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Version {
    version: &'static str,
}

/// Reports a fault of the command line, or prints the help or version that was asked for.
pub(super) fn report(fault: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let line = Line::read(arguments);
    let globals = globals_of(&line);
    let settings = environment::settings(&globals).unwrap_or_default();
    let mut output = Output::new(&globals, &settings);
    match fault.kind() {
        ErrorKind::DisplayHelp => output.help_page(&fault.render().to_string()),
        ErrorKind::DisplayVersion => {
            let version = env!("CARGO_PKG_VERSION");
            output.page("version", &fault.render().to_string(), &Version { version })
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            no_command(&mut output, line)
        }
        _ => {
            let is_task = |id| is_task(&globals, &settings, id);
            output.error(&line.name(), to_error(fault, &line, &is_task))
        }
    }
}

/// Returns the name of the command of a command line, as in `orchestrator.spawn`.
pub(super) fn command_of(arguments: &[OsString]) -> String {
    Line::read(arguments).name()
}

/// Answers a command line that ends before it names a command: people get the help.
fn no_command(output: &mut Output, mut line: Line<'_>) -> ExitCode {
    if output.format() == Format::Text {
        output.help(&line.command.render_help().to_string());
        return ExitCode::from(Code::Usage.exit_code());
    }
    let name = line.name();
    let message = match name.replace('.', " ").as_str() {
        "cleo" => "`cleo` needs a command".to_string(),
        words => format!("`cleo {words}` needs a command"),
    };
    output.error(&name, Error::new(Code::Usage, message).fix(help_for(&line)))
}

/// Completes an error with what the command line knows: each gets a fix, and each command in it
/// goes to the workspace that the user named.
pub(super) fn with_fix(mut error: Error, globals: &Globals, arguments: &[OsString]) -> Error {
    let others = error.alternatives.iter_mut();
    let others = others.map(|other| &mut other.command);
    for command in error.fix.iter_mut().chain(others) {
        *command = globals.in_root(command);
    }
    let line = Line::read(arguments);
    let surplus = error.surplus.take();
    let fix = surplus.and_then(|(option, value)| surplus::left_out(&line, option, &value));
    let fix = fix.or(error.fix.take());
    let fix = fix.or_else(|| fix::replaced(&error, &line));
    let fix = fix.or_else(|| way_out(&error, &line)).filter(is_usable);
    error.fix = Some(fix.unwrap_or_else(|| help_for(&line)));
    error.alternatives.retain(|other| is_usable(&other.command));
    error
}

/// Says whether a fix can be pasted: not one without end, nor one with a path in it that is no
/// text, which would name another file.
#[expect(clippy::ptr_arg, reason = "Option::filter hands out what it holds")]
fn is_usable(fix: &String) -> bool {
    fix.chars().count() <= FIX_MAX && !fix.contains(char::REPLACEMENT_CHARACTER)
}

/// What to type about an error that has no better fix, if it is not the help: the same again, or
/// the explanation.
fn way_out(error: &Error, line: &Line<'_>) -> Option<String> {
    match error.code {
        _ if error.retryable() => fix::again(line),
        // What was mended or stopped is tried again with every option that it had.
        Code::GateFailed | Code::Interrupted | Code::Terminated => fix::again(line),
        Code::Internal | Code::StoreCorrupt | Code::StoreForeign | Code::StoreSchema => {
            Some(format!("cleo explain {}", error.code.name()))
        }
        _ => None,
    }
}

/// Reads the form of the answer from a command line that could not be parsed.
fn globals_of(line: &Line<'_>) -> Globals {
    Globals {
        json: line.global("json").is_some(),
        format: value_of(line, "format"),
        color: value_of(line, "color"),
        quiet: line.global("quiet").is_some(),
        root: line.global("root").map(Into::into),
        ..Globals::default()
    }
}

fn value_of<T: ValueEnum>(line: &Line<'_>, name: &str) -> Option<T> {
    T::from_str(line.global(name)?, false).ok()
}

/// Says whether a task is there; where nobody can tell, it may be.
fn is_task(globals: &Globals, settings: &Settings, id: TaskId) -> bool {
    let surroundings = environment::surroundings(globals, settings, "help");
    let context = surroundings.and_then(Context::open);
    let found = context.and_then(|mut context| context.read(|tasks| require(tasks, id)));
    !found.is_err_and(|error| error.code == Code::TaskNotFound)
}

fn to_error(fault: &clap::Error, line: &Line<'_>, is_task: &dyn Fn(TaskId) -> bool) -> Error {
    let text = fault.render().to_string();
    let first = text
        .split("\n\n")
        .next()
        .unwrap_or(&text)
        .trim_start_matches("error: ");
    let message = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let fix = fix::corrected(fault, line, is_task).filter(is_usable);
    let found = naming::found(fault).filter(is_usable);
    let error = Error::new(Code::Usage, message);
    match (fix, found) {
        (Some(fix), Some(found)) => error.fix(fix).or("find a task by an id it once had", found),
        (fix, found) => error.fix(fix.or(found).unwrap_or_else(|| help_for(line))),
    }
}

fn help_for(line: &Line<'_>) -> String {
    match line.name().as_str() {
        "cleo" => "cleo --help".into(),
        command => format!("cleo {} --help", command.replace('.', " ")),
    }
}
