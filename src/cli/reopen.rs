//! `cleo reopen`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::start::moved_line;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::tasks;

#[derive(Args)]
#[command(after_help = "Examples:\n  cleo reopen T3")]
pub(super) struct Arguments {
    /// The task
    task: TaskId,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let moved = tasks::reopen(&mut face.context()?, arguments.task)?;
    face.reply(&moved, &moved.warnings, |screen| {
        moved_line(screen, "Reopened", &moved)
    })
}
