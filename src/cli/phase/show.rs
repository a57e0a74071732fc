//! `cleo phase show`

use std::process::ExitCode;

use clap::Args;

use super::phase_line;
use crate::cli::Face;
use crate::cli::show::task_line;
use crate::error::Result;
use crate::ops::phases;

/// Show a phase with its tasks
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo phase show\n  cleo phase show build")]
pub(in crate::cli) struct Arguments {
    /// The phase; the one that the project is in unless told
    phase: Option<String>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let shown = phases::show(&mut face.context()?, arguments.phase.as_deref())?;
    face.reply(&shown, &[], |screen| {
        phase_line(screen, &shown.phase);
        let phase = &shown.phase.phase;
        screen
            .field("started", phase.started_at.as_deref().unwrap_or_default())
            .field(
                "completed",
                phase.completed_at.as_deref().unwrap_or_default(),
            );
        for task in &shown.tasks {
            task_line(screen, task);
        }
        screen.section("Description", &phase.description);
    })
}
