//! `cleo orchestrator start`

use std::process::ExitCode;

use super::Scope;
use crate::cli::Face;
use crate::cli::screen::{Screen, Tone};
use crate::error::Result;
use crate::ops::orchestrator::{self, Active, Few, Line, Start};

pub(super) fn run(face: &mut Face<'_>, scope: Scope) -> Result<ExitCode> {
    let limit = orchestrator::limit(face.settings);
    let start = orchestrator::start(&mut face.context()?, scope.epic, limit)?;
    face.reply(&start, &[], |screen| render(screen, &start))
}

fn render(screen: &mut Screen, start: &Start) {
    if let Some(epic) = &start.epic {
        screen
            .say(Tone::Strong, epic.id)
            .line(Tone::Plain, format!(" {}", epic.title));
    }
    state(screen, &start.state, start.percent);
    lines(screen, "ready", &start.ready);
    active(screen, &start.active);
    few(screen, "to follow", &start.followups, |screen, one| {
        screen.line(
            Tone::Plain,
            format!("{}: {}", one.entry, one.needs.join(", ")),
        );
    });
    few(
        screen,
        "expired claims",
        &start.expired_claims,
        |screen, one| {
            let holder = one.holder.as_deref().unwrap_or_default();
            screen.line(
                Tone::Plain,
                format!("{} of {holder}, {}", one.task, one.expires),
            );
        },
    );
    for problem in &start.problems {
        screen
            .say(Tone::Warn, "problem: ")
            .line(Tone::Plain, problem);
    }
    screen
        .say(Tone::Strong, start.recommended.action)
        .line(
            Tone::Plain,
            format!(", because {}", start.recommended.reason),
        )
        .say(Tone::Dim, "next: ")
        .line(Tone::Accent, &start.recommended.command);
}

/// Shows how many tasks stand where.
pub(super) fn state(screen: &mut Screen, counts: &crate::store::Counts, percent: usize) {
    let counts: Vec<String> = counts
        .iter()
        .map(|(status, n)| format!("{n} {status}"))
        .collect();
    let counts = if counts.is_empty() {
        "no tasks".to_string()
    } else {
        counts.join(", ")
    };
    screen.line(Tone::Plain, format!("{counts}; {percent} percent done"));
}

fn lines(screen: &mut Screen, heading: &str, tasks: &Few<Line>) {
    few(screen, heading, tasks, |screen, task| {
        screen
            .say(Tone::Strong, task.id)
            .line(Tone::Plain, format!("  {}", task.title));
    });
}

/// Shows the tasks that somebody works on.
pub(super) fn active(screen: &mut Screen, tasks: &Few<Active>) {
    few(screen, "active", tasks, |screen, task| {
        screen
            .say(Tone::Strong, task.line.id)
            .say(Tone::Plain, format!("  {}", task.line.title));
        let holder = task.holder.iter().map(|name| format!("  held by {name}"));
        let entry = task.entry.iter().map(|status| format!("  entry {status}"));
        screen.line(Tone::Dim, holder.chain(entry).collect::<String>());
    });
}

/// Shows the first of a list below a heading, and how many more there are.
pub(super) fn few<T>(
    screen: &mut Screen,
    heading: &str,
    list: &Few<T>,
    row: impl Fn(&mut Screen, &T),
) {
    if list.total == 0 {
        return;
    }
    screen.line(Tone::Dim, format!("{heading}:"));
    for one in &list.shown {
        screen.say(Tone::Plain, "  ");
        row(screen, one);
    }
    if list.total > list.shown.len() {
        let more = list.total - list.shown.len();
        screen.line(Tone::Dim, format!("  and {more} more"));
    }
}
