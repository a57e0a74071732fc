//! `cleo undo`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::screen::Tone;
use crate::error::Result;
use crate::ops::log::describe;
use crate::ops::undo;

#[derive(Args)]
#[command(after_help = "\
Without a number: your own latest operation (that of CLEO_AGENT) that is neither an undo nor undone.
Name anybody else's by its number.
Only tasks and their links are undone, never claims, sessions, phases and runs. If a later operation
changed the same again, undo names it and changes nothing.

Examples:
  cleo undo --dry-run
  cleo undo
  cleo undo 12                                the number is that of `cleo log`")]
pub(super) struct Arguments {
    /// Number of the operation
    operation: Option<u64>,

    /// Show what would be changed
    #[arg(long, short = 'n')]
    dry_run: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let undone = undo::undo(&mut face.context()?, arguments.operation, arguments.dry_run)?;
    face.reply(&undone, &undone.warnings, |screen| {
        let operation = &undone.operation.operation;
        let (tone, verb) = match undone.dry_run {
            true => (Tone::Plain, "Would undo"),
            false => (Tone::Good, "Undid"),
        };
        let what = format!(
            " operation {} ({}): {}",
            operation.number, operation.command, undone.operation.summary
        );
        screen.say(tone, verb).line(Tone::Plain, what);
        for change in &undone.changes {
            screen.line(Tone::Dim, format!("  {}", describe(change)));
        }
        if undone.changes.len() < undone.total {
            let all = format!("  {} of {} changes", undone.changes.len(), undone.total);
            screen.line(Tone::Dim, all);
        }
        let redo = undone.undo.map(|number| format!("cleo undo {number}"));
        screen.field("redo", redo.unwrap_or_default());
    })
}
