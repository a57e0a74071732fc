//! `cleo orchestrator ready`

use std::process::ExitCode;

use clap::Args;

use super::Scope;
use crate::cli::Face;
use crate::cli::deps::problem_warnings;
use crate::cli::screen::Tone;
use crate::cli::show::headline;
use crate::error::Result;
use crate::ops::tasks;

/// List the tasks that an agent can start now, most urgent first
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo orchestrator ready
  cleo orchestrator ready --epic T1 --limit 100

Tasks come by priority, then by how many tasks wait for them in a row, then by id.")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    scope: Scope,

    /// At most so many tasks
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let (epic, limit) = (arguments.scope.epic, arguments.limit);
    let ready = tasks::ready(&mut face.context()?, epic, Some(limit))?;
    face.reply(&ready, &problem_warnings(&ready.problems), |screen| {
        if ready.total == 0 {
            screen.line(Tone::Dim, "nothing is ready");
            return;
        }
        screen.line(Tone::Dim, "ready:");
        for task in &ready.tasks {
            screen.say(Tone::Plain, "  ");
            headline(screen, task.id, task.status, &task.title);
        }
        let more = ready.total - ready.tasks.len() as u64;
        if more > 0 {
            screen.line(Tone::Dim, format!("and {more} more; --limit shows them"));
        }
    })
}
