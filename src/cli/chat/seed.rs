//! `cleo chat seed`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::screen::{Tone, count};
use crate::error::Result;
use crate::ops::chat;

/// Load clients, designs, components, security groups, questions, answers and media from a JSON file,
/// all or nothing; what has the same id is replaced
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo chat seed examples/chat/seed.json
  cleo chat seed - < seed.json")]
pub(in crate::cli) struct Arguments {
    /// The file; `-` reads standard input
    file: PathBuf,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let seeded = chat::seed(&face.surroundings()?, &arguments.file)?;
    face.reply(&seeded, &[], |screen| {
        let counts = [
            count(seeded.clients, "client", "clients"),
            count(seeded.designs, "design", "designs"),
            count(seeded.components, "component", "components"),
            count(seeded.security_groups, "security group", "security groups"),
            count(seeded.questions, "question", "questions"),
            count(seeded.answers, "answer", "answers"),
            count(seeded.media, "file", "files"),
        ];
        screen
            .say(Tone::Good, "Loaded ")
            .line(Tone::Plain, counts.join(", "));
    })
}
