//! Renders the reply of `cleo orchestrator validate`.

use crate::cli::screen::{Screen, Tone, count};
use crate::ops::proof::{Compliance, TaskReport};

pub(super) fn render(screen: &mut Screen, found: &Compliance) {
    for rule in &found.rules {
        match rule.verdict {
            Some("pass") => screen.say(Tone::Good, "pass    "),
            Some(_) => screen.say(Tone::Bad, "fail    "),
            None => screen.say(Tone::Dim, "advice  "),
        };
        screen.say(Tone::Strong, rule.id).say(Tone::Plain, "  ");
        screen.line(Tone::Plain, rule.rule);
        screen.line(Tone::Dim, format!("          {}", rule.evidence));
    }
    for task in &found.tasks {
        render_task(screen, task);
    }
    let tasks = count(found.total, "completed task", "completed tasks");
    let broken = match found.total - found.compliant {
        0 => "none".to_string(),
        broken => broken.to_string(),
    };
    screen.line(Tone::Dim, format!("{tasks}, {broken} with violations"));
}

fn render_task(screen: &mut Screen, task: &TaskReport) {
    match task.violations.is_empty() {
        true => screen.say(Tone::Warn, "forced  "),
        false => screen.say(Tone::Bad, "fail    "),
    };
    screen
        .say(Tone::Strong, task.task_id)
        .say(Tone::Plain, "  ")
        .line(Tone::Plain, task.skill.as_deref().unwrap_or("not spawned"));
    for found in &task.violations {
        screen.say(Tone::Dim, format!("          {}: ", found.rule));
        screen.line(Tone::Plain, &found.message);
    }
    if let Some(forced) = &task.forced {
        let forced = format!("          completed by force: {forced}");
        screen.line(Tone::Warn, forced);
    }
    for reason in &task.forced_reasons {
        screen.line(Tone::Dim, format!("            {reason}"));
    }
}
