//! `cleo explain CODE` and `cleo help exit-codes`.

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::Face;
use super::screen::{Screen, Tone, accent, plain, strong};
use crate::error::{Code, Error, Result, nearest};

/// The topic of `cleo help` that is not a command.
const CODES: &str = "exit-codes";

#[derive(Args)]
#[command(
    after_help = "Examples:\n  cleo explain E_PROTOCOL_MISSING\n  cleo explain protocol_missing\n  cleo explain 60"
)]
pub(super) struct Arguments {
    /// Error code, with or without E_, or exit code [default: all]
    code: Option<String>,
}

#[derive(Args)]
#[command(after_help = "Examples:\n  cleo help add\n  cleo help exit-codes")]
pub(super) struct HelpArguments {
    /// Command, or `exit-codes`
    topic: Vec<String>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct Explained {
    code: &'static str,
    exit_code: u8,
    meaning: &'static str,
    advice: &'static str,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Table {
    codes: Vec<Explained>,
    total: usize,
}

fn describe(code: Code) -> Explained {
    Explained {
        code: code.name(),
        exit_code: code.exit_code(),
        meaning: code.meaning(),
        advice: code.advice(),
    }
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let Some(name) = arguments.code else {
        return table(face, Code::ALL);
    };
    let codes = Code::ALL.iter().copied();
    let exiting: Vec<Code> = codes
        .filter(|code| name.parse() == Ok(code.exit_code()))
        .collect();
    if !exiting.is_empty() {
        return table(face, &exiting);
    }
    let Some(code) = Code::find(&name) else {
        return Err(refuse_unknown_code(&name));
    };
    let result = describe(code);
    face.reply(&result, &[], |screen| {
        screen
            .say(Tone::Strong, result.code)
            .line(Tone::Dim, format!("  exit {}", result.exit_code));
        screen
            .line(Tone::Plain, result.meaning)
            .line(Tone::Plain, result.advice);
    })
}

fn refuse_unknown_code(name: &str) -> Error {
    let message = format!("there is no error code `{name}`");
    let error = Error::new(Code::CodeNotFound, message);
    // All names begin with E_, which must not count as similarity.
    let bare = |name: &'static str| name.trim_start_matches("E_");
    let wanted = name
        .strip_prefix("E_")
        .or(name.strip_prefix("e_"))
        .unwrap_or(name);
    match nearest(wanted, Code::ALL.iter().map(|code| bare(code.name()))) {
        Some(code) => error.fix("cleo help exit-codes").or(
            format!("explain E_{code}"),
            format!("cleo explain E_{code}"),
        ),
        None => error.fix("cleo help exit-codes"),
    }
}

pub(super) fn help(face: &mut Face<'_>, arguments: HelpArguments) -> Result<ExitCode> {
    match arguments.topic.as_slice() {
        [topic] if topic == CODES => return table(face, Code::ALL),
        [topic, word, ..] if topic == CODES => {
            let message = format!("unexpected argument `{word}` after `{CODES}`");
            return Err(Error::new(Code::Usage, message).fix(format!("cleo help {CODES}")));
        }
        _ => {}
    }
    let mut root = super::tree::whole();
    root.build();
    let mut command = find(root, &arguments.topic, &[CODES])?;
    let help = command.render_long_help().to_string();
    Ok(face.output.help_page(&help))
}

/// Finds a subcommand by its words. A suggestion for an unknown first word may also be one of
/// `topics`.
pub(super) fn find(
    mut command: clap::Command,
    words: &[String],
    mut topics: &[&str],
) -> Result<clap::Command> {
    for word in words {
        let Some(found) = command.find_subcommand(word) else {
            return Err(no_command(&command, word, topics));
        };
        command = found.clone();
        topics = &[];
    }
    Ok(command)
}

fn no_command(above: &clap::Command, word: &str, topics: &[&str]) -> Error {
    let message = format!("there is no command `{word}`");
    let error = Error::new(Code::Usage, message);
    let names = above.get_subcommands().map(clap::Command::get_name);
    match nearest(word, names.chain(topics.iter().copied())) {
        Some(name) => error
            .did_you_mean(name)
            .or("see all commands", "cleo --help"),
        None => error.or("see all commands", "cleo --help"),
    }
}

fn table(face: &mut Face<'_>, codes: &[Code]) -> Result<ExitCode> {
    let mut codes: Vec<Explained> = codes.iter().map(|code| describe(*code)).collect();
    codes.sort_by_key(|code| code.exit_code);
    let result = Table {
        total: codes.len(),
        codes,
    };
    face.reply(&result, &[], |screen| show(screen, &result))
}

fn show(screen: &mut Screen, table: &Table) {
    let is_whole = table.total == Code::ALL.len();
    let success = is_whole.then(|| [strong(0), accent(""), plain("Success.")]);
    let rows = table.codes.iter();
    let rows = rows.map(|it| [strong(it.exit_code), accent(it.code), plain(it.meaning)]);
    screen.rows(
        &["EXIT", "CODE", "MEANING"],
        success.into_iter().chain(rows),
    );
}
