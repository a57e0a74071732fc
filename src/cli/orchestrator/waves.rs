//! `cleo orchestrator waves`

use std::process::ExitCode;

use super::Scope;
use crate::cli::Face;
use crate::cli::deps::neighbors;
use crate::cli::screen::Tone;
use crate::error::Result;
use crate::id;
use crate::ops::tasks;

pub(super) fn run(face: &mut Face<'_>, scope: Scope) -> Result<ExitCode> {
    let waves = tasks::waves(&mut face.context()?, scope.epic)?;
    let mut warnings = Vec::new();
    if !waves.stuck.is_empty() {
        let ids: Vec<_> = waves.stuck.iter().map(|task| task.id).collect();
        warnings.push(format!(
            "no wave for {}: not everything that comes before is here and can be done; see \
             `cleo deps {}`",
            id::list(&ids),
            ids[0]
        ));
    }
    face.reply(&waves, &warnings, |screen| {
        if waves.waves.is_empty() && waves.stuck.is_empty() {
            screen.line(Tone::Dim, "no open tasks");
        }
        for (number, wave) in waves.waves.iter().enumerate() {
            neighbors(screen, &format!("wave {number}"), wave);
        }
        neighbors(screen, "stuck", &waves.stuck);
    })
}
