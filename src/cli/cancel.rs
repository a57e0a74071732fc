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

    /// Cancel it although somebody else holds it; this is recorded
    #[arg(long)]
    force: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let Arguments {
        task,
        reason,
        force,
    } = arguments;
    let moved = tasks::cancel(&mut face.context()?, task, reason, force)?;
    face.reply(&moved, &moved.warnings, |screen| {
        moved_line(screen, "Cancelled", &moved)
    })
}
