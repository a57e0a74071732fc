//! `cleo orchestrator next`, also `cleo next`

use std::process::ExitCode;

use clap::Args;

use super::Scope;
use crate::cli::Face;
use crate::cli::deps::problem_warnings;
use crate::cli::screen::Tone;
use crate::cli::show::headline;
use crate::error::Result;
use crate::ops::tasks;

/// Show the task to take next, and why this one
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo next
  cleo next --epic T1

A task whose files may be the same as those of a task under way is passed over.")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    scope: Scope,
}

pub(in crate::cli) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let next = tasks::next(&mut face.context()?, arguments.scope.epic)?;
    face.reply(&next, &problem_warnings(&next.problems), |screen| {
        let Some(task) = &next.task else {
            let reason = next.reason.as_deref();
            let why = reason.map(|reason| format!("nothing to take: {reason}"));
            screen.line(Tone::Dim, why.as_deref().unwrap_or("nothing is ready"));
            return;
        };
        headline(screen, task.id, task.status, &task.title);
        screen.say(Tone::Dim, "because: ");
        screen.line(Tone::Plain, next.reason.as_deref().unwrap_or_default());
        for conflict in &next.conflicts {
            screen.say(Tone::Dim, "passed over: ");
            screen.line(Tone::Plain, tasks::told(conflict));
        }
        screen
            .say(Tone::Dim, "next: ")
            .line(Tone::Accent, format!("cleo spawn {}", task.id));
    })
}
