//! `cleo phase add`

use std::process::ExitCode;

use clap::Args;

use super::kept_reply;
use crate::cli::Face;
use crate::error::Result;
use crate::ops::phases::{self, New};

/// Add a phase, or describe one that only tasks name so far
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo phase add build
  cleo phase add design --name 'Design it' --description 'No code yet.' --position 1")]
pub(in crate::cli) struct Arguments {
    /// Its name in tasks: letters, digits, `.`, `_` and `-`
    slug: String,

    /// Its name for people; the slug unless told
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,

    /// What it is about
    #[arg(long, short, value_name = "TEXT")]
    description: Option<String>,

    /// Its place among the others; the last unless told
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    position: Option<u32>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let new = New {
        slug: arguments.slug,
        name: arguments.name,
        description: arguments.description,
        position: arguments.position,
    };
    let kept = phases::add(&mut face.context()?, &new)?;
    kept_reply(face, "Added", &kept)
}
