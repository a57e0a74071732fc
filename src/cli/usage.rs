//! Replies to command lines that clap refused.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::ValueEnum;
use clap::error::ErrorKind;
use serde::Serialize;

use super::arguments::{Format, Globals};
use super::output::Output;
use super::{environment, tree};
use crate::error::{Code, Error};

/// Maximum length of a fix, in characters.
const FIX_MAX: usize = 4_000;

#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct Version {
    version: &'static str,
}

pub(super) fn report(fault: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let line = Line::read(arguments);
    let settings = environment::settings(&line.globals).unwrap_or_default();
    let mut output = Output::new(&line.globals, &settings);
    match fault.kind() {
        ErrorKind::DisplayHelp => output.help_page(&fault.render().to_string()),
        ErrorKind::DisplayVersion => {
            let version = env!("CARGO_PKG_VERSION");
            output.show_page(
                "version",
                &fault.render().to_string(),
                &Version { version },
                &[],
            )
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            report_missing_command(&mut output, line)
        }
        _ => {
            let message = join_clap_message(&fault.render().to_string());
            let error = line.with_help(Error::new(Code::Usage, message));
            output.error(&line.name, error)
        }
    }
}

pub(super) fn command_of(arguments: &[OsString]) -> String {
    Line::read(arguments).name
}

/// Replies to a command line without a command: people get the help.
fn report_missing_command(output: &mut Output, mut line: Line) -> ExitCode {
    if output.format() == Format::Text {
        output.eprint(&line.command.render_help().to_string());
        return ExitCode::from(Code::Usage.exit_code());
    }
    let message = match line.name.replace('.', " ").as_str() {
        "cleo" => "`cleo` needs a command".to_string(),
        words => format!("`cleo {words}` needs a command"),
    };
    let error = line.with_help(Error::new(Code::Usage, message));
    output.error(&line.name, error)
}

/// Completes an error: its commands get the options of the workspace, and an error without a
/// proposal names the help, unless its message is enough or the same command may succeed later.
pub(super) fn complete(mut error: Error, globals: &Globals, arguments: &[OsString]) -> Error {
    let others = error.alternatives.iter_mut();
    let others = others.map(|other| &mut other.command);
    for command in error.fix.iter_mut().chain(others) {
        *command = globals.in_root(command);
    }
    error.fix = error.fix.filter(|fix| is_usable(fix));
    error.alternatives.retain(|other| is_usable(&other.command));
    if error.fix.is_some() || !error.alternatives.is_empty() || error.is_retryable() {
        return error;
    }
    match error.code {
        Code::Interrupted | Code::Terminated => error,
        Code::Internal | Code::StoreCorrupt | Code::StoreForeign | Code::StoreSchema => {
            let explain = format!("cleo explain {}", error.code.name());
            error.fix(explain)
        }
        _ => Line::read(arguments).with_help(error),
    }
}

/// Returns whether a fix can be pasted: it is short, and its paths are UTF-8, so that they name the
/// right file.
fn is_usable(fix: &str) -> bool {
    fix.chars().count() <= FIX_MAX && !fix.contains(char::REPLACEMENT_CHARACTER)
}

/// Returns the message of clap on one line, with its tips: `unrecognized subcommand 'lst'; a similar
/// subcommand exists: 'list'`.
fn join_clap_message(text: &str) -> String {
    let mut paragraphs = text.split("\n\n");
    let first = paragraphs.next().unwrap_or(text);
    let first = first.trim_start_matches("error: ").split_whitespace();
    let tips = paragraphs.flat_map(str::lines);
    let tips = tips.filter_map(|line| line.trim_start().strip_prefix("tip: "));
    let mut message = first.collect::<Vec<_>>().join(" ");
    for tip in tips {
        message.push_str("; ");
        message.push_str(tip);
    }
    message
}

/// The readable part of a command line that clap refused.
struct Line {
    /// The command, as in `orchestrator.spawn`; `cleo` when it names none.
    name: String,
    command: clap::Command,
    globals: Globals,
}

impl Line {
    fn read(arguments: &[OsString]) -> Line {
        let mut command = tree::branch(arguments).unwrap_or_else(tree::whole);
        command.build();
        let (mut names, mut globals, mut may_name) = (Vec::new(), Globals::default(), true);
        let mut words = arguments.iter().skip(1).map(|word| word.to_string_lossy());
        while let Some(word) = words.next().filter(|word| word != "--") {
            let (given, value) = match word.split_once('=') {
                Some((given, value)) => (given, Some(value.to_string())),
                None => (&*word, None),
            };
            let mut value = || value.clone().or_else(|| words.next().map(Into::into));
            match given {
                "--json" => globals.json = true,
                "--quiet" | "-q" => globals.quiet = true,
                "--format" => globals.format = read_value(value()),
                "--color" => globals.color = read_value(value()),
                "--root" => globals.root = value().map(Into::into),
                "--as" | "--fields" | "--jq" | "--skills-dir" => drop(value()),
                _ if given.starts_with('-') => {}
                _ => match command.find_subcommand(&*word).filter(|_| may_name) {
                    Some(found) => {
                        names.push(word.into_owned());
                        command = found.clone();
                    }
                    None => may_name = false,
                },
            }
        }
        let name = if names.is_empty() {
            "cleo".to_string()
        } else {
            names.join(".")
        };
        Line {
            name,
            command,
            globals,
        }
    }

    fn with_help(&self, error: Error) -> Error {
        let help = match self.name.as_str() {
            "cleo" => "cleo --help".to_string(),
            name => format!("cleo {} --help", name.replace('.', " ")),
        };
        error.or("see the help", help)
    }
}

fn read_value<T: ValueEnum>(value: Option<String>) -> Option<T> {
    T::from_str(&value?, false).ok()
}
