//! `cleo runs resume`

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::plan::run as plan;
use crate::cli::run::{Reporting, carried_out};
use crate::coordinator;
use crate::error::Result;
use crate::ops::runs;
use crate::run::RunKind;

/// Go on with a run of tasks or of a plan that was interrupted, failed or was cancelled
///
/// What is done stays done. What an agent left behind is verified first; what is missing is done by
/// another one. Agents of the dead process are ended. Tasks that failed are tried again unless the run
/// was interrupted before it came to its end. A plan goes on as by cleo plan run --resume.
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
    if runs::kind(&surroundings, &arguments.run)? == RunKind::Plan {
        arguments.reporting.refuse(&arguments.run)?;
        return plan::run(face, plan::Arguments::of_run(arguments.run));
    }
    carried_out(face, &arguments.reporting, |ambience, listener| {
        coordinator::resume(surroundings, &arguments.run, ambience, listener)
    })
}
