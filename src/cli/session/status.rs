//! `cleo session status`

use std::process::ExitCode;

use clap::Args;

use super::{SessionOption, notes, session_fields};
use crate::cli::Face;
use crate::cli::phase::counts_text;
use crate::cli::screen::Screen;
use crate::error::Result;
use crate::id;
use crate::ops::sessions::{self, Standing};

/// Show how the work of a session stands: its tasks, its focus, what is claimed and what is next
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo session status")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    which: SessionOption,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let standing = sessions::status(&mut face.context()?, arguments.which.session)?;
    face.reply(&standing, &[], |screen| render(screen, &standing))
}

fn render(screen: &mut Screen, standing: &Standing) {
    session_fields(screen, &standing.session);
    let claimed: Vec<_> = standing.claims.iter().map(|claim| claim.task).collect();
    let focus = standing.focus.as_ref();
    screen
        .field("tasks", counts_text(&standing.counts))
        .field(
            "focus",
            focus
                .map(|task| format!("{} {}", task.id, task.title))
                .unwrap_or_default(),
        )
        .field("claimed", id::list(&claimed))
        .field(
            "next",
            standing.next.map(|id| id.to_string()).unwrap_or_default(),
        );
    notes(screen, &standing.session);
}
