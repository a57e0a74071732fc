//! `cleo session note`

use std::process::ExitCode;

use clap::Args;

use super::{SessionOption, kept_reply};
use crate::cli::Face;
use crate::error::Result;
use crate::ops::sessions;

/// Add a note to a session
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo session note 'chose rotation over blacklists'")]
pub(in crate::cli) struct Arguments {
    /// The note
    text: String,

    #[command(flatten)]
    which: SessionOption,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let session = arguments.which.session;
    let kept = sessions::note(&mut face.context()?, session, arguments.text)?;
    kept_reply(face, "Noted in", &kept)
}
