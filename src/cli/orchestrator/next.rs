//! `cleo orchestrator next`, also `cleo next`

use std::process::ExitCode;

use clap::Args;

use super::{Scope, problem_warnings};
use crate::cli::Face;
use crate::cli::screen::Tone;
use crate::cli::show::headline;
use crate::error::Result;
use crate::ops::tasks;

/// Show the task to take next, and why this one
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo next
  cleo next --epic T1")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    scope: Scope,
}

pub(in crate::cli) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let next = tasks::next(&mut face.context()?, arguments.scope.epic)?;
    face.reply(&next, &problem_warnings(&next.problems), |screen| {
        let Some(task) = &next.task else {
            screen.line(Tone::Dim, "nothing is ready");
            return;
        };
        headline(screen, task.id, task.status, &task.title);
        screen.say(Tone::Dim, "because: ");
        screen.line(Tone::Plain, next.reason.as_deref().unwrap_or_default());
        screen
            .say(Tone::Dim, "next: ")
            .line(Tone::Accent, format!("cleo spawn {}", task.id));
    })
}
