//! `cleo unarchive`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::archive::render;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::tasks;

#[derive(Args)]
#[command(after_help = "Examples:\n  cleo unarchive T3\n  cleo list --archived")]
pub(super) struct Arguments {
    /// The tasks, each with everything below it
    #[arg(required = true, value_name = "TASK")]
    tasks: Vec<TaskId>,

    /// Show what would be taken out
    #[arg(long, short = 'n')]
    dry_run: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let moved = tasks::unarchive(&mut face.context()?, &arguments.tasks, arguments.dry_run)?;
    face.reply(&moved, &[], |screen| {
        render(screen, ["Took out", "Would take out"], &moved)
    })
}
