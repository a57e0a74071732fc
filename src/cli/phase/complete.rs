//! `cleo phase complete`

use std::process::ExitCode;

use clap::Args;

use super::kept_reply;
use crate::cli::Face;
use crate::error::Result;
use crate::ops::phases;

/// Complete a phase whose tasks are done or cancelled
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo phase complete\n  cleo phase complete build --force")]
pub(in crate::cli) struct Arguments {
    /// The phase; the one that the project is in unless told
    phase: Option<String>,

    /// Complete it although tasks of it are open
    #[arg(long)]
    force: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let (slug, force) = (arguments.phase.as_deref(), arguments.force);
    let kept = phases::complete(&mut face.context()?, slug, force)?;
    kept_reply(face, "Completed", &kept)
}
