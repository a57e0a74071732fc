//! `cleo manifest compact`

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::screen::{Screen, Tone, count};
use crate::error::Result;
use crate::ops::manifest::{self, Compaction};

/// Move torn, foreign and repeated lines out of the manifest, into a file beside it
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo manifest compact --dry-run
  cleo manifest compact

Entries stay, archived ones too, and so do entries with faults that their author can mend. What
is moved stands in MANIFEST.rejected.jsonl with the reason. Agents that append with cleo wait.
A program that has the file open already, as with `cat >> MANIFEST.jsonl`, writes on to the old
one: that is taken over until nothing has come for a quarter of a second, two seconds at most. One
that writes later than that is not waited for, and what it writes then is lost.")]
pub(in crate::cli) struct Arguments {
    /// Only say what would be moved
    #[arg(long, short = 'n')]
    dry_run: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let done = manifest::compact(&face.context()?, arguments.dry_run)?;
    face.reply(&done, &[], |screen| render(screen, &done))
}

fn render(screen: &mut Screen, done: &Compaction) {
    let would = if done.dry_run { "would move" } else { "moved" };
    for fault in &done.rejected {
        screen
            .say(Tone::Dim, format!("  {would} "))
            .line(Tone::Plain, fault);
    }
    let kept = count(done.kept, "line stays", "lines stay");
    let moved = match done.total {
        0 => String::new(),
        n => format!(", {would} {n} to {}", done.file),
    };
    screen.line(Tone::Plain, format!("{kept}{moved}"));
}
