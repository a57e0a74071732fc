//! `cleo conversations create`

use std::process::ExitCode;

use clap::Args;

use super::headline;
use crate::cli::Face;
use crate::cli::screen::Tone;
use crate::error::Result;
use crate::ops::conversations;

/// Begin a conversation; `cleo agents execute --conversation` adds to it
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo conversations create --agent toby-technical --title 'Wars of Azeroth'
  cleo conversations create                              each message is routed on its own")]
pub(in crate::cli) struct Arguments {
    /// The agent to talk to; without one, each message is routed
    #[arg(long = "agent", value_name = "ID")]
    requested_agent: Option<String>,

    /// What it is about, at most 200 characters
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let (agent, title) = (
        arguments.requested_agent.as_deref(),
        arguments.title.as_deref(),
    );
    let kept = conversations::create(&face.surroundings()?, agent, title)?;
    face.reply(&kept, &[], |screen| {
        screen.say(Tone::Good, "Began ");
        headline(screen, &kept.conversation);
    })
}
