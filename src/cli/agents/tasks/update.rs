//! `cleo agents tasks update`

use std::process::ExitCode;

use clap::Args;

use super::fields::Fields;
use super::line;
use crate::cli::Face;
use crate::cli::screen::Tone;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::agent_tasks;

/// Change a task or move it along; done must be earned as with `cleo complete`
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo agents tasks update T3 --status doing
  cleo agents tasks update T3 --agent peter-logical --priority high")]
pub(in crate::cli) struct Arguments {
    /// The task
    task: TaskId,

    /// New title
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// todo, doing, review, done, paused or cancelled
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,

    #[command(flatten)]
    fields: Fields,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let change = arguments.fields.change(arguments.title, arguments.status);
    let kept = agent_tasks::update(&mut face.context()?, arguments.task, change)?;
    face.reply(&kept, &kept.warnings, |screen| {
        screen.say(Tone::Good, "Updated ");
        line(screen, &kept.task);
    })
}
