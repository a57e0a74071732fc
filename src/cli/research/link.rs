//! `cleo research link`

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::screen::Tone;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::research;

/// Link a task and an entry of the manifest
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo research link T3 auth-2026-01-26")]
pub(in crate::cli) struct Arguments {
    /// The task
    task: TaskId,

    /// Id of the entry
    id: String,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let linked = research::link(&mut face.context()?, arguments.task, &arguments.id)?;
    face.reply(&linked, &[], |screen| {
        let done = if linked.created {
            "linked "
        } else {
            "linked before "
        };
        screen
            .say(Tone::Good, done)
            .line(Tone::Plain, format!("{} and {}", linked.task, linked.entry));
    })
}
