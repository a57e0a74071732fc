//! `cleo agents remove`

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::screen::{Tone, count};
use crate::error::Result;
use crate::ops::agents::{self, Terms};

/// Remove an agent; a built-in one that was changed becomes as it was built
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo agents remove lore-keeper")]
pub(in crate::cli) struct Arguments {
    /// Its id
    agent: String,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let removed = agents::remove(&face.surroundings()?, &arguments.agent, &Terms::default())?;
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
