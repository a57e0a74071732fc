//! `cleo orchestrator ready`

use std::process::ExitCode;

use super::{Scope, stuck_warning};
use crate::cli::Face;
use crate::cli::deps::neighbors;
use crate::cli::screen::Tone;
use crate::error::Result;
use crate::ops::tasks;

pub(super) fn run(face: &mut Face<'_>, scope: Scope) -> Result<ExitCode> {
    let ready = tasks::ready(&mut face.context()?, scope.epic)?;
    face.reply(&ready, &stuck_warning(&ready.stuck), |screen| {
        if ready.tasks.is_empty() {
            screen.line(Tone::Dim, "nothing is ready");
        }
        neighbors(screen, "ready", &ready.tasks);
    })
}
