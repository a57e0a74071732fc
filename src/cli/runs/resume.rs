//! `cleo runs resume`

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::plan::run as plan;
use crate::cli::run::{Reporting, perform};
use crate::coordinator::{self, Rest};
use crate::error::{Code, Error, Result, quote};
use crate::ops::runs;
use crate::run::RunKind;

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo runs list --status interrupted
  cleo runs resume run_1769418000000_1
  cleo runs resume run_1769418000000_1 --max-cost 5
  cleo runs resume run_1769418000000_1 --format ndjson")]
pub(in crate::cli) struct Arguments {
    /// Id of the run
    run: String,

    #[command(flatten)]
    rest: Rest,

    #[command(flatten)]
    reporting: Reporting,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let surroundings = face.surroundings()?;
    if runs::kind(&surroundings, &arguments.run)? == RunKind::Plan {
        arguments.reporting.refuse(&arguments.run)?;
        if arguments.rest.max_cost.is_some() || arguments.rest.time_limit.is_some() {
            let run = &arguments.run;
            let message = format!(
                "{run} carries out a plan; `--max-cost` and `--time-limit` bound runs over tasks"
            );
            return Err(
                Error::new(Code::Usage, message).fix(format!("cleo runs resume {}", quote(run)))
            );
        }
        return plan::run(face, plan::Arguments::of_run(arguments.run));
    }
    let rest = arguments.rest;
    let reporting = &arguments.reporting;
    perform(face, reporting, Vec::new(), |ambience, listener| {
        coordinator::resume(surroundings, &arguments.run, rest, ambience, listener)
    })
}
