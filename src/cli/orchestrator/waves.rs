//! `cleo orchestrator waves`

use std::process::ExitCode;

use clap::Args;

use super::{Scope, conflicts};
use crate::cli::Face;
use crate::cli::deps::{neighbors, problem_warnings};
use crate::cli::screen::{Screen, Tone};
use crate::error::Result;
use crate::id;
use crate::ops::tasks::{self, Waves};

/// Show the open tasks in waves that can be worked on side by side
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo orchestrator waves --epic T1
  cleo orchestrator waves --epic T1 --limit 1

Tasks whose files may be the same (`cleo add … --file 'src/auth/**'`) do not stand in one wave: the
less urgent one comes a wave later, and the answer says because of which files.")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    scope: Scope,

    /// At most so many waves
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let (epic, limit) = (arguments.scope.epic, arguments.limit);
    let waves = tasks::waves(&mut face.context()?, epic, limit)?;
    let warnings = problem_warnings(&waves.problems);
    face.reply(&waves, &warnings, |screen| show(screen, &waves))
}

fn show(screen: &mut Screen, waves: &Waves) {
    if waves.total == 0 && waves.stuck.is_empty() {
        screen.line(Tone::Dim, "no open tasks for agents");
    }
    if waves.total == 0 && !waves.stuck.is_empty() {
        screen.line(Tone::Dim, "no wave: all open tasks are stuck");
    }
    for (number, wave) in waves.waves.iter().enumerate() {
        neighbors(screen, &format!("wave {number}"), wave);
    }
    let more = waves.total - waves.waves.len();
    if more > 0 {
        let more = match waves.waves.is_empty() {
            true => format!("all {more} waves were left out; --limit shows them"),
            false => format!("and {more} more; --limit shows them"),
        };
        screen.line(Tone::Dim, more);
    }
    conflicts(screen, &waves.conflicts);
    neighbors(screen, "stuck", &waves.stuck);
    for outside in &waves.outside {
        let (task, needs) = (outside.task, id::list(&outside.waits_for));
        screen.line(Tone::Dim, format!("{task} waits for {needs}, outside"));
    }
}
