//! `cleo sync`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::Face;
use crate::error::Result;
use crate::ops::transfer;

/// Merge the tasks with a copy in a file, both ways
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo sync tasks.jsonl --dry-run             see what would change on either side
  cleo sync tasks.jsonl && git add tasks.jsonl")]
pub(super) struct Arguments {
    /// File of JSON lines, as `cleo export` writes it; made when it is not there
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Report what would change, and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let synced = transfer::sync(&mut face.context()?, &arguments.file, arguments.dry_run)?;
    face.reply(&synced, &[], |_| {})
}
