//! `cleo export`

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::screen::{Tone, count};
use crate::error::Result;
use crate::ops::transfer;

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo export --output tasks.jsonl            one task a line, by id: made for git
  cleo export --format text | head            the lines themselves, into a pipe

The same tasks give the same bytes, and a changed task is a changed line. `cleo import` reads the
lines back, also into another copy of the workspace.")]
pub(super) struct Arguments {
    /// File to write; without it the text is the answer
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let work = |context: &mut _| transfer::export(context, arguments.output.as_deref());
    face.inside("export", work, |screen, exported| match &exported.text {
        // Into a pipe the lines go as they are; a terminal could obey what stands in them.
        Some(text) if !std::io::stdout().is_terminal() => drop(screen.raw(text)),
        Some(text) => drop(screen.verbatim(text)),
        None => {
            let file = exported.file.as_deref().unwrap_or_default();
            let tasks = count(exported.total, "task", "tasks");
            screen.line(Tone::Good, format!("{tasks} written to {file}"));
        }
    })
}
