//! `cleo agents show`

use std::process::ExitCode;

use clap::Args;

use super::agent_text;
use crate::cli::Face;
use crate::error::Result;
use crate::ops::agents;

/// Show an agent with everything that is set of it
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo agents show toby-technical")]
pub(in crate::cli) struct Arguments {
    /// Its id
    agent: String,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let shown = agents::show(&face.surroundings()?, &arguments.agent, None)?;
    face.reply(&shown, &shown.warnings, |screen| {
        agent_text(screen, &shown);
    })
}
