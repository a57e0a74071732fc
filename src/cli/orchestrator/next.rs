//! `cleo orchestrator next`

use std::process::ExitCode;

use super::{Scope, stuck_warning};
use crate::cli::Face;
use crate::cli::screen::Tone;
use crate::cli::show::headline;
use crate::error::Result;
use crate::ops::tasks;

pub(super) fn run(face: &mut Face<'_>, scope: Scope) -> Result<ExitCode> {
    let next = tasks::next(&mut face.context()?, scope.epic)?;
    face.reply(&next, &stuck_warning(&next.stuck), |screen| {
        match &next.task {
            Some(task) => {
                headline(screen, task.id, task.status, &task.title);
                screen
                    .say(Tone::Dim, "next: ")
                    .line(Tone::Accent, format!("cleo spawn {}", task.id));
            }
            None => {
                screen.line(Tone::Dim, "nothing is ready");
            }
        }
    })
}
