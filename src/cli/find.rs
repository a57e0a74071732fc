//! `cleo find`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::list::{ArchiveOptions, table};
use crate::error::Result;
use crate::ops::tasks;

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo find token refresh
  cleo find 'refresh\\w+ token' --regex")]
pub(super) struct Arguments {
    /// Words, whole or as beginnings; each must occur
    #[arg(required = true)]
    words: Vec<String>,

    /// Take the words as one regular expression, case ignored
    #[arg(long)]
    regex: bool,

    /// At most so many tasks
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,

    #[command(flatten)]
    archive: ArchiveOptions,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let words = arguments.words.join(" ");
    let archived = arguments.archive.shown();
    let mut context = face.context()?;
    let listed = if arguments.regex {
        tasks::find_regex(&mut context, &words, archived, arguments.limit)?
    } else {
        tasks::find(&mut context, &words, archived, arguments.limit)?
    };
    face.reply(&listed, &[], |screen| table(screen, &listed))
}
