//! `cleo heartbeat`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::arguments::{EpochOption, LeaseOption};
use super::claim::claimed_reply;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::claims;

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo heartbeat T3
  cleo heartbeat T3 --epoch 2 --lease 30m")]
pub(super) struct Arguments {
    /// The task
    task: TaskId,

    #[command(flatten)]
    lease: LeaseOption,

    #[command(flatten)]
    claim: EpochOption,

    /// Extend it although somebody else holds the task; this is recorded
    #[arg(long)]
    force: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let (lease, epoch) = (arguments.lease.lease, arguments.claim.epoch);
    let mut context = face.context()?;
    let extended = claims::heartbeat(&mut context, arguments.task, lease, epoch, arguments.force)?;
    claimed_reply(face, "Extended", &extended)
}
