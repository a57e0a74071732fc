//! `cleo orchestrator …`

mod analyze;
pub(super) mod brief;
mod context;
pub(super) mod next;
mod ready;
mod start;
mod status;
mod validate;
mod waves;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::screen::{Screen, Tone};
use super::{Face, spawn};
use crate::error::Result;
use crate::id::TaskId;
use crate::task::graph::Conflict;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Show all that an orchestrating agent needs to begin, in under 1,000 tokens
    Start(Scope),
    /// Show how far everything is, who works on what, and what came last
    Status(Scope),
    Context(context::Arguments),
    Brief(brief::Arguments),
    /// Prepare the prompt for a task, or for many: the right skill, every token, the protocol
    Spawn(spawn::Arguments),
    Ready(ready::Arguments),
    Next(next::Arguments),
    Waves(waves::Arguments),
    Analyze(analyze::Arguments),
    /// Check the rules ORC-001 to ORC-005, and every finished task against its protocols
    Validate(Scope),
}

// Which part of the graph. A doc comment would become that of the commands that take it.
#[derive(Args)]
pub(super) struct Scope {
    /// Only what is below this task, to any depth
    #[arg(long, value_name = "TASK")]
    epic: Option<TaskId>,
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::Spawn(arguments) => face.run("orchestrator.spawn", arguments, spawn::run),
        Command::Start(scope) => face.run("orchestrator.start", scope, start::run),
        Command::Status(scope) => face.run("orchestrator.status", scope, status::run),
        Command::Context(arguments) => face.run("orchestrator.context", arguments, context::run),
        Command::Brief(arguments) => face.run("orchestrator.brief", arguments, brief::run),
        Command::Ready(arguments) => face.run("orchestrator.ready", arguments, ready::run),
        Command::Next(arguments) => face.run("orchestrator.next", arguments, next::run),
        Command::Waves(arguments) => face.run("orchestrator.waves", arguments, waves::run),
        Command::Analyze(arguments) => face.run("orchestrator.analyze", arguments, analyze::run),
        Command::Validate(scope) => face.run("orchestrator.validate", scope, validate::run),
    }
}

/// Shows why tasks come a wave later.
fn conflicts(screen: &mut Screen, conflicts: &[Conflict]) {
    if !conflicts.is_empty() {
        screen.line(Tone::Dim, "a wave later because of the same files:");
    }
    for conflict in conflicts {
        let files = conflict.files.join(", ");
        screen
            .say(Tone::Plain, "  ")
            .say(Tone::Strong, conflict.task);
        screen.line(
            Tone::Plain,
            format!(" after {}  {files}", conflict.conflicts_with),
        );
    }
}
