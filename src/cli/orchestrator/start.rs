//! How `cleo orchestrator start` and `status` answer.

use crate::cli::screen::{Screen, Tone};
use crate::ops::orchestrator::{Active, Few, Overall, Overview, Standing, Start};

pub(super) fn render(screen: &mut Screen, start: &Start) {
    let Overview {
        standing,
        recommended,
        ready,
        followups,
    } = &start.overview;
    if let Some(epic) = &standing.epic {
        screen
            .say(Tone::Strong, epic.id)
            .line(Tone::Plain, format!(" {}", epic.title));
    }
    state(screen, standing);
    few(screen, "ready", ready, |screen, task| {
        screen
            .say(Tone::Strong, task.id)
            .line(Tone::Plain, format!("  {}", task.title));
    });
    active(screen, &standing.active);
    few(screen, "to follow", followups, |screen, one| {
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
        .say(Tone::Strong, recommended.action)
        .line(Tone::Plain, format!(", because {}", recommended.reason))
        .say(Tone::Dim, "next: ")
        .line(Tone::Accent, &recommended.command);
}

fn state(screen: &mut Screen, standing: &Standing) {
    let percent = standing.percent;
    let counts: Vec<String> = standing
        .state
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

fn active(screen: &mut Screen, tasks: &Few<Active>) {
    few(screen, "active", tasks, |screen, task| {
        screen
            .say(Tone::Strong, task.task.id)
            .say(Tone::Plain, format!("  {}", task.task.title));
        let holder = task.holder.iter().map(|name| format!("  held by {name}"));
        let entry = task.entry.iter().map(|status| format!("  entry {status}"));
        screen.line(Tone::Dim, holder.chain(entry).collect::<String>());
    });
}

fn few<T>(screen: &mut Screen, heading: &str, list: &Few<T>, row: impl Fn(&mut Screen, &T)) {
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

pub(super) fn render_overall(screen: &mut Screen, overall: &Overall) {
    state(screen, &overall.standing);
    few(screen, "epics", &overall.epics, |screen, one| {
        screen
            .say(Tone::Strong, one.epic.id)
            .say(Tone::Plain, format!("  {}", one.epic.title))
            .line(Tone::Dim, format!("  {} of {} done", one.done, one.total));
    });
    active(screen, &overall.standing.active);
    if !overall.entries.is_empty() {
        screen.line(Tone::Dim, "last entries:");
    }
    for entry in &overall.entries {
        screen
            .say(Tone::Plain, format!("  {}  ", entry.id))
            .line(Tone::Dim, format!("{} {}", entry.status, entry.title));
    }
}
