//! `cleo orchestrator waves`

use std::process::ExitCode;

use super::{Scope, stuck_warning};
use crate::cli::Face;
use crate::cli::deps::neighbors;
use crate::cli::screen::Tone;
use crate::error::Result;
use crate::ops::tasks;

pub(super) fn run(face: &mut Face<'_>, scope: Scope) -> Result<ExitCode> {
    let waves = tasks::waves(&mut face.context()?, scope.epic)?;
    face.reply(&waves, &stuck_warning(&waves.stuck), |screen| {
        if waves.waves.is_empty() && waves.stuck.is_empty() {
            screen.line(Tone::Dim, "no open tasks");
        }
        for (number, wave) in waves.waves.iter().enumerate() {
            neighbors(screen, &format!("wave {number}"), wave);
        }
        neighbors(screen, "stuck", &waves.stuck);
    })
}
