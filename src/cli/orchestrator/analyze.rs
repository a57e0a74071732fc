//! `cleo orchestrator analyze`

use std::process::ExitCode;

use clap::Args;

use super::{Scope, conflicts};
use crate::cli::Face;
use crate::cli::deps::{neighbors, problem_warnings};
use crate::cli::screen::{Screen, Tone, count};
use crate::error::Result;
use crate::ops::tasks::{self, Analysis};

/// Most widths of waves that are shown.
const WIDTHS_SHOWN: usize = 30;

/// Show how a graph is doing: what is left, the critical path, bottlenecks, problems
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo orchestrator analyze
  cleo orchestrator analyze --epic T1 --limit 5")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    scope: Scope,

    /// At most so many bottlenecks and file conflicts
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: u32,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let (epic, limit) = (arguments.scope.epic, arguments.limit);
    let analysis = tasks::analyze(&mut face.context()?, epic, limit)?;
    let warnings = problem_warnings(&analysis.problems);
    face.reply(&analysis, &warnings, |screen| show(screen, &analysis))
}

fn show(screen: &mut Screen, analysis: &Analysis) {
    let totals = &analysis.totals;
    let by_status = totals.by_status.iter().filter(|(_, n_tasks)| **n_tasks > 0);
    let by_status: Vec<String> = by_status.map(|(word, n)| format!("{n} {word}")).collect();
    let all = count(totals.tasks, "task", "tasks");
    screen.line(Tone::Strong, format!("{all}: {}", by_status.join(", ")));
    let (work, ready, stuck) = (totals.work, totals.ready, totals.stuck);
    screen.field(
        "open work",
        format!("{work}, of it {ready} ready and {stuck} stuck"),
    );
    screen.field("waves", widths(analysis));
    let path = &analysis.critical_path;
    let hours = path.hours.map(|hours| format!(", {hours} hours"));
    let length = count(path.total, "task", "tasks");
    screen.field(
        "critical path",
        format!("{length}{}", hours.unwrap_or_default()),
    );
    neighbors(screen, "critical path", &path.tasks);
    bottlenecks(screen, analysis);
    conflicts(screen, &analysis.conflicts);
}

fn widths(analysis: &Analysis) -> String {
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

fn bottlenecks(screen: &mut Screen, analysis: &Analysis) {
    if analysis.bottlenecks.is_empty() {
        return;
    }
    screen.line(Tone::Dim, "most waited for:");
    for one in &analysis.bottlenecks {
        let waits = count(one.unblocks_in_all, "task waits", "tasks wait");
        let waits = format!(" {waits}, {} can start at once  ", one.unblocks);
        screen.say(Tone::Plain, "  ").say(Tone::Strong, one.task.id);
        screen
            .say(Tone::Dim, waits)
            .line(Tone::Plain, &one.task.title);
    }
}
