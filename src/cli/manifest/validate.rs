//! `cleo manifest validate`

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::screen::{Screen, Tone, count};
use crate::error::Result;
use crate::ops::manifest::{self, Validated};

/// Check every line of the manifest (exit 6)
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo manifest validate
  cleo manifest validate --json | jq -r '.result.faults[] | \"\\(.line) \\(.code) \\(.message)\"'

An empty or missing manifest is valid. A faulty line never hides the entries around it.")]
pub(in crate::cli) struct Arguments {}

pub(super) fn run(face: &mut Face<'_>, _: Arguments) -> Result<ExitCode> {
    let mut found = manifest::validate(&mut face.context()?)?;
    let error = found.error.take();
    face.verdict(&found, error, |screen| render(screen, &found))
}

fn render(screen: &mut Screen, found: &Validated) {
    let entries = count(found.entries, "entry", "entries");
    if found.valid {
        screen.say(Tone::Good, "valid ").line(Tone::Plain, entries);
        return;
    }
    let faults = count(found.faults.len(), "fault", "faults");
    screen
        .say(Tone::Bad, "faulty ")
        .line(Tone::Plain, format!("{entries}, {faults}"));
    for fault in &found.faults {
        screen
            .say(
                Tone::Dim,
                format!("  line {} {}: ", fault.line, fault.code.name()),
            )
            .line(Tone::Plain, &fault.message);
    }
}
