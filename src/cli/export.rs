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
  cleo export --output tasks.jsonl            one task per line, sorted by id, for git
  cleo export --format text | head            print the lines

The same tasks always give the same bytes, and a changed task changes one line. `cleo import`
reads the file, also in another copy of the workspace.")]
pub(super) struct Arguments {
    /// File to write [default: put the lines into the answer]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let work = |context: &mut _| transfer::export(context, arguments.output.as_deref());
    face.inside("export", work, |screen, exported| match &exported.text {
        // A pipe gets the exact bytes. Only a terminal could obey escape sequences in them.
        Some(text) if !std::io::stdout().is_terminal() => drop(screen.raw(text)),
        Some(text) => drop(screen.verbatim(text)),
        None => {
            let file = exported.file.as_deref().unwrap_or_default();
            let tasks = count(exported.total, "task", "tasks");
            screen.line(Tone::Good, format!("{tasks} written to {file}"));
        }
    })
}
