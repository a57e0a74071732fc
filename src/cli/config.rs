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
Settings come from options, CLEO_… variables, the project (.cleo/config.yaml), the user
(~/.config/cleo/config.yaml, or below XDG_CONFIG_HOME) and defaults, in this order. The default of
llm.baseUrl is OPENAI_BASE_URL, ANTHROPIC_BASE_URL or OLLAMA_HOST, depending on llm.provider.")]
pub(super) enum Command {
    /// List all settings and their values
    #[command(after_help = "Examples:\n  cleo config list --show-origin")]
    List {
        /// Also show where each value comes from: an option, a variable, or a line of a file
        #[arg(long)]
        show_origin: bool,
    },
    /// Show a setting
    #[command(after_help = "Examples:\n  cleo config get list.limit")]
    Get(Setting),
    /// Change a setting in the project's file, or in the user's; comments are kept
    #[command(after_help = "\
Examples:
  cleo config set list.limit 50
  cleo config set gates.timeLimit 20m
  cleo config set color never --user")]
    Set {
        /// Name of the setting
        key: String,

        /// New value; separate several folders by commas
        value: String,

        /// Change the user's file, for all projects
        #[arg(long)]
        user: bool,
    },
    /// Remove a setting from the project's file, or from the user's
    #[command(after_help = "Examples:\n  cleo config unset list.limit")]
    Unset {
        /// Name of the setting
        key: String,

        /// Change the user's file
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
