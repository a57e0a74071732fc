//! `cleo orchestrator status`

use std::process::ExitCode;

use super::Scope;
use super::start::{active, few, state};
use crate::cli::Face;
use crate::cli::deps::stuck_warnings;
use crate::cli::screen::{Screen, Tone};
use crate::error::Result;
use crate::ops::orchestrator::{self, Overall};

pub(super) fn run(face: &mut Face<'_>, scope: Scope) -> Result<ExitCode> {
    let mut context = face.context()?;
    let overall = orchestrator::status(&mut context, scope.epic)?;
    let stuck = stuck_warnings(&mut context, scope.epic)?;
    face.reply(&overall, &stuck, |screen| render(screen, &overall))
}

fn render(screen: &mut Screen, overall: &Overall) {
    state(screen, &overall.state, overall.percent);
    few(screen, "epics", &overall.epics, |screen, one| {
        screen
            .say(Tone::Strong, one.epic.id)
            .say(Tone::Plain, format!("  {}", one.epic.title))
            .line(Tone::Dim, format!("  {} of {} done", one.done, one.total));
    });
    active(screen, &overall.active);
    if !overall.entries.is_empty() {
        screen.line(Tone::Dim, "last entries:");
    }
    for entry in &overall.entries {
        screen
            .say(Tone::Plain, format!("  {}  ", entry.id))
            .line(Tone::Dim, format!("{} {}", entry.status, entry.title));
    }
}
