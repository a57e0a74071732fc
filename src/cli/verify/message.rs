//! `cleo verify message`

use std::process::ExitCode;

use clap::Args;

use super::answer;
use crate::cli::Face;
use crate::error::{Result, quote};
use crate::ops::verify;

/// Check that an agent's last message is one of the allowed sentences (exit 61)
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo verify message 'Research complete. See MANIFEST.jsonl for summary.'

The message must be the sentence alone, to the letter, with no blank or line end around it.")]
pub(in crate::cli) struct Arguments {
    /// The message
    #[arg(allow_hyphen_values = true)]
    message: String,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let result = verify::message(&arguments.message);
    answer(face, "message", &result, &result.verdict, |error| {
        let nearest = result.nearest.as_deref().unwrap_or_default();
        error.fix(format!("cleo verify message {}", quote(nearest)))
    })
}
