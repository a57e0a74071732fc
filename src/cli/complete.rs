//! `cleo complete`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::start::moved_line;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops;

#[derive(Args)]
#[command(after_help = "Examples:\n  cleo complete T3\n  cleo complete T3 --force")]
pub(super) struct Arguments {
    /// The task
    task: TaskId,

    /// Complete it although it does not verify or has open children; this is recorded
    #[arg(long)]
    force: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let moved = ops::complete::complete(&mut face.context()?, arguments.task, arguments.force)?;
    face.reply(&moved, &moved.warnings, |screen| {
        moved_line(screen, "Completed", &moved)
    })
}
