//! `cleo release`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::arguments::EpochOption;
use super::claim::claimed_reply;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::claims;

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo release T3
  cleo release T3 --epoch 2
  cleo release T3 --force                  take it from whoever holds it")]
pub(super) struct Arguments {
    /// The task
    task: TaskId,

    #[command(flatten)]
    claim: EpochOption,

    /// Take it from somebody else; this is recorded
    #[arg(long)]
    force: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let (epoch, force) = (arguments.claim.epoch, arguments.force);
    let released = claims::release(&mut face.context()?, arguments.task, epoch, force)?;
    claimed_reply(face, "Released", &released)
}
