//! `cleo complete`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::arguments::EpochOption;
use super::start::moved_line;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops;

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo complete T3
  cleo complete T3 --force

What a task depends on need not be done: work that is finished is finished, so that is a warning.")]
pub(super) struct Arguments {
    /// The task
    task: TaskId,

    /// Complete it although it does not verify, has open children or is somebody else's; this is
    /// recorded
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    claim: EpochOption,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let (epoch, force) = (arguments.claim.epoch, arguments.force);
    let moved = ops::complete::complete(&mut face.context()?, arguments.task, epoch, force)?;
    face.reply(&moved, &moved.warnings, |screen| {
        moved_line(screen, "Completed", &moved)
    })
}
