//! `cleo verify manifest`

use std::process::ExitCode;

use clap::Args;

use super::render;
use crate::cli::Face;
use crate::error::Result;
use crate::ops::verify;

/// Check the manifest (exit 6), or one entry of it (exit 62 when it is missing)
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo verify manifest
  cleo verify manifest auth-2026-01-26")]
pub(in crate::cli) struct Arguments {
    /// Id of the entry; all lines are checked without one
    id: Option<String>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let mut context = face.context()?;
    let (what, mut result) = match &arguments.id {
        Some(id) => (format!("entry {id}"), verify::entry(&mut context, id)?),
        None => ("manifest".to_string(), verify::manifest(&mut context)?),
    };
    let error = result.error.take();
    face.verdict(&result, error, |screen| {
        render(screen, &what, &result.verdict.violations)
    })
}
