//! `cleo conversations archive`

use std::process::ExitCode;

use clap::Args;

use super::headline;
use crate::cli::Face;
use crate::cli::screen::Tone;
use crate::error::Result;
use crate::ops::conversations;

/// End a conversation; what was said stays readable
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo conversations archive conv_1769418000000_1")]
pub(in crate::cli) struct Arguments {
    /// Its id
    conversation: String,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let id = &arguments.conversation;
    let kept = conversations::archive(&face.surroundings()?, id, None)?;
    face.reply(&kept, &[], |screen| {
        screen.say(Tone::Good, "Archived ");
        headline(screen, &kept.conversation);
    })
}
