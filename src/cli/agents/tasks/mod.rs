//! `cleo agents tasks …`

mod create;
mod fields;
mod list;
mod stats;
mod update;

use std::process::ExitCode;

use clap::Subcommand;

use crate::cli::Face;
use crate::cli::screen::{Screen, Tone};
use crate::error::Result;
use crate::ops::agent_tasks::AgentTask;

#[derive(Subcommand)]
pub(in crate::cli) enum Command {
    List(list::Arguments),
    Create(create::Arguments),
    Update(update::Arguments),
    Stats(stats::Arguments),
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::List(arguments) => face.run("agents.tasks.list", arguments, list::run),
        Command::Create(arguments) => face.run("agents.tasks.create", arguments, create::run),
        Command::Update(arguments) => face.run("agents.tasks.update", arguments, update::run),
        Command::Stats(arguments) => face.run("agents.tasks.stats", arguments, stats::run),
    }
}

fn tone(status: &str) -> Tone {
    match status {
        "doing" | "review" => Tone::Accent,
        "done" => Tone::Good,
        "todo" => Tone::Plain,
        _ => Tone::Dim,
    }
}

/// Writes a task on one line.
fn line(screen: &mut Screen, task: &AgentTask) {
    screen
        .say(Tone::Strong, task.id)
        .say(Tone::Plain, " ")
        .say(tone(task.status), task.status)
        .say(Tone::Plain, format!("  {}", task.title))
        .line(
            Tone::Dim,
            format!("  {}", task.assigned_to.as_deref().unwrap_or_default()),
        );
}
