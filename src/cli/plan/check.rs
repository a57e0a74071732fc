//! `cleo plan check`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::make::named;
use crate::cli::Face;
use crate::cli::screen::{Tone, count};
use crate::error::Result;
use crate::ops::plans;

/// Say whether a plan can be carried out, and everything that keeps it from that (exit 4 or 6)
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo plan check plan.yaml
  cleo plan 'Compare three caches' --json | cleo plan check -

Checked are: fields and their bounds, ids, dependencies, circles, and whether an active agent offers
the capability and the intent of each step. When only agents are missing, the exit code is 4.")]
pub(in crate::cli) struct Arguments {
    /// JSON or YAML file of the plan; - reads standard input
    file: PathBuf,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let what = named(&arguments.file);
    let checked = plans::check(&face.surroundings()?, &arguments.file)?;
    let error = checked.error(&what);
    face.outcome(&checked, error, &checked.warnings, |screen| {
        if checked.faults.is_empty() {
            let steps = count(checked.plan.steps.len(), "step", "steps");
            let waves = count(checked.waves.len(), "wave", "waves");
            let line = format!("{what}: {steps} in {waves}");
            screen.say(Tone::Good, "pass ").line(Tone::Plain, line);
            return;
        }
        screen.say(Tone::Bad, "fail ").line(Tone::Plain, &what);
        for fault in &checked.faults {
            screen
                .say(Tone::Dim, format!("  {}: ", fault.place))
                .line(Tone::Plain, &fault.message);
        }
    })
}
