//! `cleo session resume`

use std::process::ExitCode;

use clap::Args;

use super::kept_reply;
use crate::cli::Face;
use crate::error::Result;
use crate::ops::sessions;
use crate::session::SessionId;

/// Open an ended session again, with you in the lead
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo session resume S1")]
pub(in crate::cli) struct Arguments {
    /// The session
    session: SessionId,

    /// Open it although somebody else's session is about the same tasks by now
    #[arg(long)]
    force: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let kept = sessions::resume(&mut face.context()?, arguments.session, arguments.force)?;
    kept_reply(face, "Resumed", &kept)
}
