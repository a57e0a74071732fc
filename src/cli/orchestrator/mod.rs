//! `cleo orchestrator …`

pub(super) mod brief;
mod compliance;
mod context;
mod next;
mod ready;
mod start;
mod status;
mod validate;
mod waves;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::{Face, spawn};
use crate::error::Result;
use crate::id::{self, TaskId};
use crate::ops::tasks::Neighbor;

/// How many stuck tasks a warning names.
const STUCK_SHOWN: usize = 10;

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
    /// List the tasks that an agent can start now, most urgent first
    Ready(Scope),
    /// Show the task to take next
    Next(Scope),
    /// Show the open tasks in waves that can be worked on side by side
    Waves(Scope),
    /// Check the rules ORC-001 to ORC-005, and every finished task against its protocols
    Validate(Scope),
    Compliance(compliance::Arguments),
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
        Command::Start(scope) => face.run("orchestrator.start", scope, start::run),
        Command::Status(scope) => face.run("orchestrator.status", scope, status::run),
        Command::Context(arguments) => face.run("orchestrator.context", arguments, context::run),
        Command::Brief(arguments) => face.run("orchestrator.brief", arguments, brief::run),
        Command::Ready(scope) => face.run("orchestrator.ready", scope, ready::run),
        Command::Next(scope) => face.run("orchestrator.next", scope, next::run),
        Command::Waves(scope) => face.run("orchestrator.waves", scope, waves::run),
        Command::Validate(scope) => face.run("orchestrator.validate", scope, validate::run),
        Command::Compliance(arguments) => {
            face.run("orchestrator.compliance", arguments, compliance::run)
        }
    }
}

/// Warns of tasks that no wave will ever reach.
fn stuck_warning(stuck: &[Neighbor]) -> Vec<String> {
    let Some(first) = stuck.first() else {
        return Vec::new();
    };
    let ids: Vec<_> = stuck.iter().take(STUCK_SHOWN).map(|task| task.id).collect();
    let more = match stuck.len().saturating_sub(STUCK_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    vec![format!(
        "no wave for {}{more}: not everything that comes before is here and can be done; see \
         `cleo deps {}`",
        id::list(&ids),
        first.id
    )]
}
