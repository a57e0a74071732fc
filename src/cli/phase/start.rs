//! `cleo phase start`

use std::process::ExitCode;

use clap::Args;

use super::kept_reply;
use crate::cli::Face;
use crate::error::Result;
use crate::ops::phases;

/// Begin a phase; the one that the project is in must be completed first
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo phase start build")]
pub(in crate::cli) struct Arguments {
    /// The phase
    phase: String,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let kept = phases::start(&mut face.context()?, &arguments.phase)?;
    kept_reply(face, "Started", &kept)
}
