//! `cleo agents update`

use std::process::ExitCode;

use clap::Args;

use super::agent_text;
use super::fields::Fields;
use crate::agent::draft::Draft;
use crate::cli::Face;
use crate::cli::screen::Tone;
use crate::error::Result;
use crate::ops::agents::{self, Terms};

/// Change an agent, pause it or put it away
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo agents update lore-keeper --tag warcraft,wow,lore
  cleo agents update toby-technical --status paused
  cleo agents update lore-keeper --name 'Keeper of lore' --temperature 0.2")]
pub(in crate::cli) struct Arguments {
    /// Its id
    agent: String,

    /// Its name for people
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    fields: Fields,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let draft = Draft {
        name: arguments.name,
        ..Draft::default()
    };
    let draft = arguments.fields.over(draft)?;
    let shown = agents::update(
        &face.surroundings()?,
        &arguments.agent,
        draft,
        &Terms::default(),
    )?;
    face.reply(&shown, &shown.warnings, |screen| {
        screen.say(Tone::Good, "Changed").say(Tone::Plain, " ");
        agent_text(screen, &shown);
    })
}
