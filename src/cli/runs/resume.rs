//! `cleo runs resume`

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::run::{Reporting, carried_out};
use crate::coordinator;
use crate::error::Result;

/// Go on with a run of tasks that was interrupted, failed or was cancelled
///
/// What is done stays done. What an agent left behind is verified first; what is missing is done by
/// another one. Agents of the dead process are ended. Tasks that failed are tried again unless the run
/// was interrupted before it came to its end.
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo runs list --status interrupted
  cleo runs resume run_1769418000000_1
  cleo runs resume run_1769418000000_1 --format ndjson")]
pub(in crate::cli) struct Arguments {
    /// Its id
    run: String,

    #[command(flatten)]
    reporting: Reporting,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let surroundings = face.surroundings()?;
    carried_out(face, &arguments.reporting, |ambience, listener| {
        coordinator::resume(surroundings, &arguments.run, ambience, listener)
    })
}
