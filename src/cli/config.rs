//! `cleo config`

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::screen::{Cell, Screen, Tone};
use super::{Face, environment};
use crate::config::{KEYS, Kind, Value};
use crate::error::Result;
use crate::ops::config::{self, Changed, Listed, Shown};
use crate::ops::trust::{Item, vouch};

#[derive(Subcommand)]
#[command(after_help = "\
Settings of the project stand in .cleo/config.yaml, those of the user in
~/.config/cleo/config.yaml (or below XDG_CONFIG_HOME). The first of these counts: options,
CLEO_… variables, the project, the user, defaults. Of llm.baseUrl OPENAI_BASE_URL, ANTHROPIC_BASE_URL
or OLLAMA_HOST are the default, whichever belongs to llm.provider.")]
pub(super) enum Command {
    List(ListArguments),
    Get(GetArguments),
    Set(SetArguments),
    Unset(UnsetArguments),
}

/// List all settings with their values
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo config list --show-origin")]
pub(super) struct ListArguments {
    /// Also show who sets each: an option, a variable, a file with its line
    #[arg(long)]
    show_origin: bool,
}

/// Show one setting
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo config get list.limit")]
pub(super) struct GetArguments {
    /// The setting
    key: String,
}

/// Set a value in the project's file, or in the user's; comments in it stay
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo config set list.limit 50
  cleo config set gates.timeLimit 20m
  cleo config set color never --user")]
pub(super) struct SetArguments {
    /// The setting
    key: String,

    /// What to set it to; several folders are separated by commas
    value: String,

    /// In the user's file, for all projects
    #[arg(long)]
    user: bool,
}

/// Take a setting out of the project's file, or out of the user's
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo config unset list.limit")]
pub(super) struct UnsetArguments {
    /// The setting
    key: String,

    /// In the user's file
    #[arg(long)]
    user: bool,
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::List(arguments) => face.run("config.list", arguments, list),
        Command::Get(arguments) => face.run("config.get", arguments, get),
        Command::Set(arguments) => face.run("config.set", arguments, set),
        Command::Unset(arguments) => face.run("config.unset", arguments, unset),
    }
}

fn list(face: &mut Face<'_>, arguments: ListArguments) -> Result<ExitCode> {
    let listed = config::list(&environment::settings(face.globals)?);
    face.reply(&listed, &[], |screen| {
        table(screen, &listed, arguments.show_origin)
    })
}

fn get(face: &mut Face<'_>, arguments: GetArguments) -> Result<ExitCode> {
    let one = config::get(&environment::settings(face.globals)?, &arguments.key)?;
    face.reply(&one, &[], |screen| {
        screen.line(Tone::Plain, value(&one.setting));
    })
}

fn set(face: &mut Face<'_>, arguments: SetArguments) -> Result<ExitCode> {
    let files = environment::settings_files(face.globals);
    let changed = config::set(&files, &arguments.key, &arguments.value, arguments.user)?;
    let warnings = match arguments.user {
        true => Vec::new(),
        false => vouch_for(face, &changed)?,
    };
    reply(face, &changed, &warnings)
}

fn unset(face: &mut Face<'_>, arguments: UnsetArguments) -> Result<ExitCode> {
    let files = environment::settings_files(face.globals);
    let changed = config::unset(&files, &arguments.key, arguments.user)?;
    reply(face, &changed, &[])
}

fn vouch_for(face: &Face<'_>, changed: &Changed) -> Result<Vec<String>> {
    let item = match &changed.value {
        Some(Value::Text(text)) if Item::is_of_settings(&changed.key) => {
            Item::setting(&changed.key, text)
        }
        _ => return Ok(Vec::new()),
    };
    let surroundings = face.surroundings()?;
    let workspace = surroundings.workspace()?;
    Ok(vouch(&surroundings, &workspace, &[item]))
}

fn reply(face: &mut Face<'_>, changed: &Changed, warnings: &[String]) -> Result<ExitCode> {
    face.reply(changed, warnings, |screen| {
        let word = if changed.changed {
            "changed   "
        } else {
            "unchanged "
        };
        screen
            .say(Tone::Good, word)
            .line(Tone::Plain, &changed.path);
    })
}

fn table(screen: &mut Screen, listed: &Listed, with_origin: bool) {
    let row = |setting: &Shown| -> Vec<Cell> {
        let mut row = vec![
            (Tone::Strong, setting.key.to_string()),
            (Tone::Plain, value(setting)),
        ];
        if with_origin {
            row.push((Tone::Accent, setting.origin.clone()));
        }
        row.push((Tone::Dim, setting.meaning.to_string()));
        row
    };
    let head: &[&str] = if with_origin {
        &["SETTING", "VALUE", "ORIGIN", "MEANING"]
    } else {
        &["SETTING", "VALUE", "MEANING"]
    };
    screen.table(head, listed.settings.iter().map(row).collect());
}

fn value(setting: &Shown) -> String {
    let key = KEYS.iter().find(|key| key.name == setting.key);
    let is_time = key.is_some_and(|key| matches!(key.kind, Kind::Duration(..)));
    match &setting.value {
        None => String::new(),
        Some(Value::Text(text)) => text.clone(),
        Some(Value::Number(seconds)) if is_time => format!("{seconds}s"),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Flag(flag)) => flag.to_string(),
        Some(Value::Folders(folders)) => folders.join(","),
    }
}
