//! `cleo orchestrator …`

mod next;
mod ready;
mod waves;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::{Face, spawn};
use crate::error::Result;
use crate::id::TaskId;

/// Manage the work of agents on a graph of tasks
#[derive(Subcommand)]
pub(super) enum Command {
    Spawn(spawn::Arguments),
    /// List the tasks that an agent can start now, most urgent first
    Ready(Scope),
    /// Show the task to take next
    Next(Scope),
    /// Show the open tasks in waves that can be worked on side by side
    Waves(Scope),
}

/// Which part of the graph.
#[derive(Args)]
pub(super) struct Scope {
    /// Only what is below this task, to any depth
    #[arg(long, value_name = "TASK")]
    epic: Option<TaskId>,
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::Spawn(arguments) => face.run("orchestrator.spawn", arguments, spawn::run),
        Command::Ready(scope) => face.run("orchestrator.ready", scope, ready::run),
        Command::Next(scope) => face.run("orchestrator.next", scope, next::run),
        Command::Waves(scope) => face.run("orchestrator.waves", scope, waves::run),
    }
}
