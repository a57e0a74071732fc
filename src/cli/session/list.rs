//! `cleo session list`

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::screen::{Cell, Tone};
use crate::error::Result;
use crate::ops::sessions;
use crate::session::{Session, SessionStatus};

/// List sessions
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo session list\n  cleo session list --status open")]
pub(in crate::cli) struct Arguments {
    /// Only sessions with this status: open or ended
    #[arg(long, short, value_name = "STATUS")]
    status: Option<SessionStatus>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let listed = sessions::list(&mut face.context()?, arguments.status)?;
    face.reply(&listed, &[], |screen| {
        if listed.sessions.is_empty() {
            screen.line(Tone::Dim, "no sessions");
            return;
        }
        let head = ["ID", "STATUS", "SCOPE", "LED BY", "STARTED", "NAME"];
        screen.table(&head, listed.sessions.iter().map(row).collect());
    })
}

fn row(session: &Session) -> Vec<Cell> {
    let scope = session.scope.map(|id| id.to_string());
    vec![
        (Tone::Strong, session.id.to_string()),
        (Tone::Plain, session.status.to_string()),
        (
            Tone::Plain,
            scope.unwrap_or_else(|| "everything".to_string()),
        ),
        (Tone::Plain, session.holder.clone()),
        (Tone::Dim, session.started_at.clone()),
        (Tone::Plain, session.name.clone()),
    ]
}
