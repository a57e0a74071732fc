//! How `cleo orchestrator validate` answers.

use crate::cli::screen::{Screen, Tone, count};
use crate::id;
use crate::ops::compliance::{Compliance, TaskReport, Unspawned};

pub(super) fn render(screen: &mut Screen, found: &Compliance) {
    for rule in &found.rules {
        verdict(screen, rule.verdict);
        screen.say(Tone::Strong, rule.id).say(Tone::Plain, "  ");
        screen.line(Tone::Plain, rule.rule);
        screen.line(Tone::Dim, format!("          {}", rule.evidence));
    }
    for task in &found.tasks {
        task_lines(screen, task);
    }
    unspawned_line(screen, &found.unspawned);
    let tasks = count(found.total, "finished task", "finished tasks");
    let broken = found.total - found.compliant;
    let with = if broken == 0 {
        "none"
    } else {
        &broken.to_string()
    };
    screen.line(Tone::Dim, format!("{tasks}, {with} with a rule broken"));
}

fn verdict(screen: &mut Screen, verdict: Option<&str>) {
    match verdict {
        Some("pass") => screen.say(Tone::Good, "pass    "),
        Some(_) => screen.say(Tone::Bad, "fail    "),
        None => screen.say(Tone::Dim, "advice  "),
    };
}

fn task_lines(screen: &mut Screen, task: &TaskReport) {
    verdict(screen, task.verdict);
    screen
        .say(Tone::Strong, task.task_id)
        .say(Tone::Plain, "  ");
    match &task.skill {
        Some(skill) => screen.line(Tone::Plain, skill),
        None => screen.line(Tone::Dim, "not spawned: no protocol to check"),
    };
    for found in &task.violations {
        screen.say(Tone::Dim, format!("          {}: ", found.rule));
        screen.line(Tone::Plain, &found.message);
    }
    if let Some(forced) = &task.forced {
        screen.line(
            Tone::Warn,
            format!("          completed by force: {forced}"),
        );
    }
    for reason in &task.forced_reasons {
        screen.line(Tone::Dim, format!("            {reason}"));
    }
    for gate in &task.forced_gates {
        screen.line(Tone::Warn, format!("          passed by force: {gate}"));
    }
}

/// Tells of tasks of which there is nothing else to tell, however many they are.
fn unspawned_line(screen: &mut Screen, unspawned: &Unspawned) {
    let Unspawned { total, first } = unspawned;
    if *total == 0 {
        return;
    }
    let more = match total - first.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    verdict(screen, None);
    let ids = id::list(first);
    let text = format!("{total} not spawned: no protocol to check ({ids}{more})");
    screen.line(Tone::Dim, text);
}
