//! `cleo agents tasks create`

use std::process::ExitCode;

use clap::Args;

use super::fields::Fields;
use super::line;
use crate::cli::Face;
use crate::cli::screen::Tone;
use crate::error::Result;
use crate::ops::agent_tasks;

/// Add a task, perhaps for an agent
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo agents tasks create 'Research the Second War' --agent toby-technical --due 2026-12-31
  cleo agents tasks create 'Lay out the blog' --priority urgent --estimate 2.5 --feature blog")]
pub(in crate::cli) struct Arguments {
    /// What is to be done, in one line of at most 200 characters
    title: String,

    #[command(flatten)]
    fields: Fields,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let change = arguments.fields.change(Some(arguments.title));
    let kept = agent_tasks::create(&mut face.context()?, change, None)?;
    face.reply(&kept, &kept.warnings, |screen| {
        screen.say(Tone::Good, "Added ");
        line(screen, &kept.task);
    })
}
