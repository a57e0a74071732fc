//! `cleo session end`

use std::process::ExitCode;

use clap::Args;

use super::kept_reply;
use crate::cli::Face;
use crate::error::Result;
use crate::ops::sessions;
use crate::session::SessionId;

/// End a session
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo session end --note 'T4 waits for the certificate'
  cleo session end S1")]
pub(in crate::cli) struct Arguments {
    /// The session; yours unless told (or CLEO_SESSION)
    session: Option<SessionId>,

    /// What whoever resumes it should know
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,

    /// End it although somebody else leads it, or who leads it holds tasks of its scope
    #[arg(long)]
    force: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let Arguments {
        session,
        note,
        force,
    } = arguments;
    let kept = sessions::end(&mut face.context()?, session, note, force)?;
    kept_reply(face, "Ended", &kept)
}
