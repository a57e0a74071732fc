//! `cleo cancel`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::start::moved_line;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::tasks;

#[derive(Args)]
#[command(after_help = "Examples:\n  cleo cancel T3 --reason 'the library does it already'")]
pub(super) struct Arguments {
    /// The task
    task: TaskId,

    /// Why; kept as a note
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let moved = tasks::cancel(&mut face.context()?, arguments.task, arguments.reason)?;
    face.reply(&moved, &moved.warnings, |screen| {
        moved_line(screen, "Cancelled", &moved)
    })
}
