//! `cleo agents untrust`

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::screen::Tone;
use crate::error::Result;
use crate::ops::agents;

/// Take the trust in a worker back: it is listed, and neither run nor called
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo agents untrust summarizer")]
pub(in crate::cli) struct Arguments {
    /// Its id
    agent: String,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let trusting = agents::untrust(&face.surroundings()?, &arguments.agent)?;
    face.reply(&trusting, &[], |screen| {
        screen
            .say(Tone::Warn, "untrusted ")
            .line(Tone::Plain, &trusting.agent.id);
    })
}
