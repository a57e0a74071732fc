//! `cleo agents trust`

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::screen::{Tone, count};
use crate::error::Result;
use crate::ops::agents::{self, AgentId, Cleanup, Trusting};
use crate::ops::trust::does;

/// Trust a worker as it is now: from then on messages and plans run its program or call its address
#[derive(Args)]
#[command(after_help = "\
A worker may have come with a repository: from a file in .cleo/agents, or with the store of agents. So
nothing of it is run or called before you say so, on this machine, for this folder, and for exactly
this command, address and time limit; when they change, you are asked again. What the command itself
starts is not looked at. Workers that you register by command are trusted at once.

Examples:
  cleo agents show summarizer        see what would be run or called
  cleo agents trust summarizer
  cleo agents untrust summarizer")]
pub(in crate::cli) struct Arguments {
    /// Its id
    agent: String,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let trusting = agents::trust(&face.surroundings()?, &arguments.agent)?;
    face.reply(&trusting, &[], |screen| {
        let Trusting { agent, .. } = &trusting;
        let may = format!("{} may {}", agent.id, does(agent));
        screen.say(Tone::Good, "trusted ").line(Tone::Plain, may);
    })
}

/// Take the trust in a worker back: it is listed, and neither run nor called
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo agents untrust summarizer")]
pub(in crate::cli) struct UntrustArguments {
    /// Its id
    agent: String,
}

pub(super) fn untrust(face: &mut Face<'_>, arguments: UntrustArguments) -> Result<ExitCode> {
    let trusting = agents::untrust(&face.surroundings()?, &arguments.agent)?;
    face.reply(&trusting, &[], |screen| {
        screen
            .say(Tone::Warn, "untrusted ")
            .line(Tone::Plain, &trusting.agent.id);
    })
}

/// Remove an agent; a built-in one that was changed becomes as it was built
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo agents remove lore-keeper")]
pub(in crate::cli) struct RemoveArguments {
    /// Its id
    agent: String,
}

pub(super) fn remove(face: &mut Face<'_>, arguments: RemoveArguments) -> Result<ExitCode> {
    let removed = agents::remove(
        &face.surroundings()?,
        AgentId {
            id: arguments.agent,
        },
    )?;
    face.reply(&removed, &[], |screen| {
        let word = if removed.restored {
            "Restored"
        } else {
            "Removed"
        };
        screen.say(Tone::Good, word).say(Tone::Plain, " ");
        screen.line(Tone::Strong, &removed.agent.id);
        if !removed.unassigned.is_empty() {
            let tasks = count(removed.unassigned.len(), "task is", "tasks are");
            screen.line(Tone::Plain, format!("{tasks} assigned to nobody now"));
        }
    })
}

/// Remove the agents that were registered for the moment; others are never touched
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo agents cleanup
  cleo agents cleanup --expired                       only those whose id is older than 30 minutes
  cleo agents cleanup --expired --now 1756443000000")]
pub(in crate::cli) struct CleanupArguments {
    #[command(flatten)]
    cleanup: Cleanup,
}

pub(super) fn cleanup(face: &mut Face<'_>, arguments: CleanupArguments) -> Result<ExitCode> {
    let cleaned = agents::cleanup(&face.surroundings()?, arguments.cleanup)?;
    face.reply(&cleaned, &[], |screen| {
        let gone = count(cleaned.count.removed, "agent", "agents");
        let left = count(cleaned.count.after, "agent remains", "agents remain");
        screen
            .say(Tone::Good, "Removed ")
            .line(Tone::Plain, format!("{gone}; {left}"));
        for id in &cleaned.cleaned_up {
            screen.line(Tone::Dim, format!("  {id}"));
        }
    })
}
