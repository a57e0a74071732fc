//! `cleo research list`

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::manifest::list::{Filters, answer};
use crate::error::Result;
use crate::ops::research;

/// List what earlier work found, newest last
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo research list --topic auth
  cleo research list --json | jq -r '.result.entries[] | \"\\(.id) \\(.title)\"'")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    filters: Filters,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let listed = research::list(&mut face.context()?, &arguments.filters.filter())?;
    answer(face, &listed)
}
