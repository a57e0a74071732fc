//! `cleo ready` and `next` (also below `orchestrator`), `cleo orchestrator waves` and `analyze`

use super::deps::render_tasks;
use super::render_conflicts;
use crate::cli::screen::{Screen, Tone, count, plain, status, strong};
use crate::id;
use crate::ops::tasks::{self, Analysis, Next, Ready, Waves};
use crate::store::ReadyTask;

pub(in crate::cli) const READY: &str = "\
Examples:
  cleo ready
  cleo ready --epic T1 --limit 100

Tasks are sorted by priority, then by the longest chain of tasks that depend on them, then by id.";

pub(in crate::cli) fn render_ready(screen: &mut Screen, ready: &Ready) {
    if ready.total == 0 {
        screen.line(Tone::Dim, ready.reason.as_deref().unwrap_or_default());
        return;
    }
    let row = |ReadyTask { task, .. }: &ReadyTask| {
        [strong(task.id), status(task.priority), plain(&task.title)]
    };
    screen.list(
        "",
        &["ID", "PRIORITY", "TITLE"],
        ready.tasks.iter().map(row),
    );
    let more = ready.total - ready.tasks.len() as u64;
    if more > 0 {
        screen.line(
            Tone::Dim,
            format!("and {more} more; raise --limit to see them"),
        );
    }
    for delivered in &ready.delivered {
        screen.line(Tone::Warn, delivered.describe());
    }
}

pub(in crate::cli) const NEXT: &str = "\
Examples:
  cleo next
  cleo next --epic T1 --agent ana

Tasks that share files with a task in progress are skipped.";

pub(in crate::cli) fn render_next(screen: &mut Screen, next: &Next) {
    let Some(ReadyTask { task, .. }) = &next.task else {
        let reason = next.reason.as_deref().unwrap_or_default();
        let lead = if next.total == 0 {
            ""
        } else {
            "nothing to work on: "
        };
        screen.line(Tone::Dim, format!("{lead}{reason}"));
        if let Some(command) = &next.command {
            screen.say(Tone::Dim, "next: ").line(Tone::Accent, command);
        }
        return;
    };
    screen.headline(task.id, "ready", &task.title);
    screen.say(Tone::Dim, "because: ");
    screen.line(Tone::Plain, next.reason.as_deref().unwrap_or_default());
    for conflict in &next.conflicts {
        screen.pair(Tone::Dim, "skipped: ", tasks::describe_conflict(conflict));
    }
    let command = next.command.as_deref().unwrap_or_default();
    screen.say(Tone::Dim, "next: ").line(Tone::Accent, command);
}

pub(super) const WAVES: &str = "\
Examples:
  cleo orchestrator waves --epic T1
  cleo orchestrator waves --epic T1 --limit 1

Tasks that may change the same files (`cleo add … --file 'src/auth/**'`) are not in the same wave:
the less urgent one is a wave later, and the reply names the files.";

pub(super) fn render_waves(screen: &mut Screen, waves: &Waves) {
    if waves.total == 0 && waves.stuck.is_empty() {
        screen.line(Tone::Dim, "no open tasks for agents");
    }
    if waves.total == 0 && !waves.stuck.is_empty() {
        screen.line(Tone::Dim, "no wave: all open tasks are stuck");
    }
    for (number, wave) in waves.waves.iter().enumerate() {
        render_tasks(screen, &format!("wave {number}"), wave);
    }
    let more = waves.total - waves.waves.len();
    if more > 0 {
        let more = match waves.waves.is_empty() {
            true => format!("{more} waves are hidden; raise --limit to see them"),
            false => format!("and {more} more; raise --limit to see them"),
        };
        screen.line(Tone::Dim, more);
    }
    render_conflicts(screen, &waves.conflicts);
    render_tasks(screen, "stuck", &waves.stuck);
    for outside in &waves.outside {
        let (task, needs) = (outside.task, id::list(&outside.waits_for));
        screen.line(Tone::Dim, format!("{task} waits for {needs}, outside"));
    }
}

/// Most widths of waves that are shown.
const WIDTHS_SHOWN: usize = 30;

pub(super) const ANALYZE: &str = "\
Examples:
  cleo orchestrator analyze
  cleo orchestrator analyze --epic T1 --limit 5";

pub(super) fn render_analysis(screen: &mut Screen, analysis: &Analysis) {
    let totals = &analysis.totals;
    let by_status = totals.by_status.iter().filter(|(_, n_tasks)| **n_tasks > 0);
    let by_status: Vec<String> = by_status.map(|(word, n)| format!("{n} {word}")).collect();
    let all = count(totals.tasks, "task", "tasks");
    screen.line(Tone::Strong, format!("{all}: {}", by_status.join(", ")));
    let (work, ready, stuck) = (totals.work, totals.ready, totals.stuck);
    screen.field(
        "open work",
        format!("{work}, {ready} ready and {stuck} stuck"),
    );
    screen.field("waves", describe_widths(analysis));
    let path = &analysis.critical_path;
    let hours = path.hours.map(|hours| format!(", {hours} hours"));
    let length = count(path.total, "task", "tasks");
    screen.field(
        "critical path",
        format!("{length}{}", hours.unwrap_or_default()),
    );
    render_tasks(screen, "critical path", &path.tasks);
    render_bottlenecks(screen, analysis);
    render_conflicts(screen, &analysis.conflicts);
}

fn describe_widths(analysis: &Analysis) -> String {
    let waves = &analysis.waves;
    let widths = waves.widths.iter().take(WIDTHS_SHOWN);
    let mut widths: Vec<String> = widths.map(usize::to_string).collect();
    if waves.total > WIDTHS_SHOWN {
        widths.push("…".to_string());
    }
    match waves.total {
        0 => "0".to_string(),
        1 if widths == ["1"] => "1, of 1 task".to_string(),
        total => format!("{total}, of {} tasks", widths.join(" → ")),
    }
}

fn render_bottlenecks(screen: &mut Screen, analysis: &Analysis) {
    if analysis.bottlenecks.is_empty() {
        return;
    }
    screen.line(Tone::Dim, "bottlenecks:");
    for one in &analysis.bottlenecks {
        let waits = count(one.unblocks_in_all, "task waits", "tasks wait");
        let waits = format!(" {waits}, {} can start at once  ", one.unblocks);
        screen.say(Tone::Plain, "  ").say(Tone::Strong, one.task.id);
        screen.pair(Tone::Dim, waits, &one.task.title);
    }
}
