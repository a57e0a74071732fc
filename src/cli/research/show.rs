//! `cleo research show`

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::manifest::show::render;
use crate::cli::screen::Tone;
use crate::error::Result;
use crate::ops::research;

/// Show what was found, and the tasks that it belongs to
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo research show auth-2026-01-26")]
pub(in crate::cli) struct Arguments {
    /// Id of the entry
    id: String,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let shown = research::show(&mut face.context()?, &arguments.id)?;
    face.reply(&shown, &shown.warnings, |screen| {
        render(screen, &shown.entry);
        if !shown.tasks.is_empty() {
            screen.line(Tone::Plain, "").line(Tone::Strong, "Tasks");
        }
        for task in &shown.tasks {
            let title = task.title.as_deref().unwrap_or("no such task");
            screen
                .say(Tone::Strong, format!("  {}", task.id))
                .line(Tone::Plain, format!("  {title}"));
        }
    })
}
