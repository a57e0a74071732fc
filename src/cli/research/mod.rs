//! `cleo research …`

mod inject;

use std::process::ExitCode;

use clap::Subcommand;

use super::Face;
use crate::error::Result;

/// Manage findings: entries of the manifest and the tasks that they belong to
#[derive(Subcommand)]
pub(super) enum Command {
    Inject(inject::Arguments),
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::Inject(arguments) => face.run("research.inject", arguments, inject::run),
    }
}
