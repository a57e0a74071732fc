//! `cleo complete`, `reopen` and `cancel`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::arguments::EpochOption;
use super::start::moved_line;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::{self, tasks};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo complete T3
  cleo complete T3 --force

What a task depends on need not be done: work that is finished is finished, so that is a warning.")]
pub(super) struct CompleteArguments {
    /// The task
    task: TaskId,

    /// Complete it although it does not verify, has open children or is somebody else's; this is
    /// recorded
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    claim: EpochOption,
}

pub(super) fn complete(face: &mut Face<'_>, arguments: CompleteArguments) -> Result<ExitCode> {
    let (epoch, force) = (arguments.claim.epoch, arguments.force);
    let moved = ops::complete::complete(&mut face.context()?, arguments.task, epoch, force)?;
    face.reply(&moved, &moved.warnings, |screen| {
        moved_line(screen, "Completed", &moved)
    })
}

#[derive(Args)]
#[command(after_help = "Examples:\n  cleo reopen T3")]
pub(super) struct ReopenArguments {
    /// The task
    task: TaskId,
}

pub(super) fn reopen(face: &mut Face<'_>, arguments: ReopenArguments) -> Result<ExitCode> {
    let moved = tasks::reopen(&mut face.context()?, arguments.task)?;
    face.reply(&moved, &moved.warnings, |screen| {
        moved_line(screen, "Reopened", &moved)
    })
}

#[derive(Args)]
#[command(after_help = "Examples:\n  cleo cancel T3 --reason 'the library does it already'")]
pub(super) struct CancelArguments {
    /// The task
    task: TaskId,

    /// Why; kept as a note
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// Cancel it although somebody else holds it; this is recorded
    #[arg(long)]
    force: bool,
}

pub(super) fn cancel(face: &mut Face<'_>, arguments: CancelArguments) -> Result<ExitCode> {
    let CancelArguments {
        task,
        reason,
        force,
    } = arguments;
    let moved = tasks::cancel(&mut face.context()?, task, reason, force)?;
    face.reply(&moved, &moved.warnings, |screen| {
        moved_line(screen, "Cancelled", &moved)
    })
}
