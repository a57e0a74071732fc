//! `cleo agents trust`

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::screen::Tone;
use crate::error::Result;
use crate::ops::agents::{self, Trusting};
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
