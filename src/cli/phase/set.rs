//! `cleo phase set`

use std::process::ExitCode;

use clap::Args;

use super::kept_reply;
use crate::cli::Face;
use crate::error::Result;
use crate::ops::phases;

/// Make a phase the one that the project is in, whatever phase it was in before
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo phase set build")]
pub(in crate::cli) struct Arguments {
    /// The phase
    phase: String,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let kept = phases::set(&mut face.context()?, &arguments.phase)?;
    kept_reply(face, "Set", &kept)
}
