//! `cleo config`

use std::process::ExitCode;

use clap::Subcommand;

use super::screen::{Cell, Screen, Tone, accent, dim, plain, strong};
use super::{Face, environment};
use crate::config::{KEYS, Kind, Value};
use crate::error::Result;
use crate::ops::config::{self, Changed, Listed, Setting, Shown};
use crate::ops::operation::Nothing;
use crate::ops::trust::{Item, vouch};
use crate::ops::{Surroundings, api};

#[derive(Subcommand)]
#[command(after_help = "\
Settings of the project stand in .cleo/config.yaml, those of the user in
~/.config/cleo/config.yaml (or below XDG_CONFIG_HOME). The first of these counts: options,
CLEO_… variables, the project, the user, defaults. Of llm.baseUrl OPENAI_BASE_URL, ANTHROPIC_BASE_URL
or OLLAMA_HOST are the default, whichever belongs to llm.provider.")]
pub(super) enum Command {
    /// List all settings with their values
    #[command(after_help = "Examples:\n  cleo config list --show-origin")]
    List {
        /// Also show who sets each: an option, a variable, a file with its line
        #[arg(long)]
        show_origin: bool,
    },
    /// Show one setting
    #[command(after_help = "Examples:\n  cleo config get list.limit")]
    Get(Setting),
    /// Set a value in the project's file, or in the user's; comments in it stay
    #[command(after_help = "\
Examples:
  cleo config set list.limit 50
  cleo config set gates.timeLimit 20m
  cleo config set color never --user")]
    Set {
        /// The setting
        key: String,

        /// What to set it to; several folders are separated by commas
        value: String,

        /// In the user's file, for all projects
        #[arg(long)]
        user: bool,
    },
    /// Take a setting out of the project's file, or out of the user's
    #[command(after_help = "Examples:\n  cleo config unset list.limit")]
    Unset {
        /// The setting
        key: String,

        /// In the user's file
        #[arg(long)]
        user: bool,
    },
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    let globals = face.globals;
    match command {
        Command::List { show_origin } => face.call(&api::SETTINGS, Nothing {}, |screen, listed| {
            table(screen, listed, show_origin)
        }),
        Command::Get(setting) => face.call(&api::SETTING, setting, |screen, one| {
            screen.line(Tone::Plain, value(&one.setting));
        }),
        Command::Set { key, value, user } => face.anywhere(
            "config.set",
            |surroundings, notes| {
                surroundings
                    .assignment
                    .refuse_agent("changes no settings")?;
                let files = environment::settings_files(globals);
                let changed = config::set(&files, &key, &value, user)?;
                match user {
                    true => {}
                    false => notes.warn(vouch_for(surroundings, &changed)?),
                }
                Ok(changed)
            },
            show_changed,
        ),
        Command::Unset { key, user } => face.anywhere(
            "config.unset",
            |surroundings, _| {
                surroundings
                    .assignment
                    .refuse_agent("changes no settings")?;
                config::unset(&environment::settings_files(globals), &key, user)
            },
            show_changed,
        ),
    }
}

fn vouch_for(surroundings: &Surroundings, changed: &Changed) -> Result<Vec<String>> {
    let item = match &changed.value {
        Some(Value::Text(text)) if Item::is_of_settings(&changed.key) => {
            Item::setting(&changed.key, text)
        }
        _ => return Ok(Vec::new()),
    };
    let workspace = surroundings.workspace()?;
    Ok(vouch(surroundings, &workspace, &[item]))
}

fn show_changed(screen: &mut Screen, changed: &Changed) {
    match changed.changed {
        true => screen.say(Tone::Good, "changed   "),
        false => screen.say(Tone::Good, "unchanged "),
    };
    screen.line(Tone::Plain, &changed.path);
}

fn table(screen: &mut Screen, listed: &Listed, with_origin: bool) {
    let rows = listed.settings.iter().map(|setting| {
        let origin = with_origin.then(|| accent(&setting.origin));
        let row = [strong(setting.key), plain(value(setting))].into_iter();
        let row = row.chain(origin).chain([dim(setting.meaning)]);
        row.collect::<Vec<Cell>>()
    });
    let head: &[&str] = match with_origin {
        true => &["SETTING", "VALUE", "ORIGIN", "MEANING"],
        false => &["SETTING", "VALUE", "MEANING"],
    };
    screen.rows(head, rows);
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
