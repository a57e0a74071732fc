//! `cleo deps`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::screen::{Screen, Tone};
use super::show::headline;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::tasks::{self, Neighbor};

#[derive(Args)]
#[command(after_help = "Examples:\n  cleo deps T3")]
pub(super) struct Arguments {
    /// The task
    task: TaskId,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let result = tasks::deps(&mut face.context()?, arguments.task)?;
    face.reply(&result, &[], |screen| {
        let state = if result.ready {
            (Tone::Good, "ready")
        } else {
            (Tone::Dim, "not ready")
        };
        screen
            .say(Tone::Strong, result.task)
            .say(Tone::Plain, " is ")
            .line(state.0, state.1);
        neighbors(screen, "depends on", &result.depends);
        neighbors(screen, "unblocks", &result.dependents);
    })
}

/// Shows tasks below a heading.
pub(super) fn neighbors(screen: &mut Screen, heading: &str, tasks: &[Neighbor]) {
    if tasks.is_empty() {
        return;
    }
    screen.line(Tone::Dim, format!("{heading}:"));
    for task in tasks {
        screen.say(Tone::Plain, "  ");
        headline(screen, task.id, task.status, &task.title);
    }
}
