//! `cleo session show`

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::{notes, session_fields};
use crate::cli::Face;
use crate::error::Result;
use crate::ops::sessions;
use crate::session::{Session, SessionId};

/// Show a session with its notes
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo session show\n  cleo session show S1")]
pub(in crate::cli) struct Arguments {
    /// The session; yours unless told (or CLEO_SESSION)
    session: Option<SessionId>,
}

#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(in crate::cli) struct Shown {
    session: Session,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let session = sessions::show(&mut face.context()?, arguments.session)?;
    let shown = Shown { session };
    face.reply(&shown, &[], |screen| {
        session_fields(screen, &shown.session);
        let focus = shown.session.focus.map(|id| id.to_string());
        screen.field("focus", focus.unwrap_or_default());
        notes(screen, &shown.session);
    })
}
