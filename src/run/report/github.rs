//! A run for GitHub Actions: annotations, a summary of the job, and outputs of the step.

use std::fmt::Write;

use super::{
    describe_spent, error_code, explain_failure, money, replace_control_characters, time, tokens,
    violations,
};
use crate::markdown::escape_text;
use crate::run::view::RunView;
use crate::run::{Counts, Run, RunStatus, StepState, TaskRun};

/// Most annotations of a kind that GitHub shows for a step.
const SHOWN_MAX: usize = 10;
/// Most that GitHub takes as the summary of a step, in bytes.
pub(crate) const SUMMARY_MAX: usize = 1 << 20;
/// Longest message of an annotation, in characters.
const MESSAGE_MAX: usize = 2_000;

pub(crate) fn annotations(view: &RunView) -> String {
    let mut text = String::new();
    let failed = view.list_counted().filter(|task| task.state.is_undone());
    let is_skipped = |task: &&TaskRun| task.state == StepState::Skipped;
    let skipped = view.list_counted().filter(is_skipped);
    for (kind, tasks) in [
        ("error", Vec::from_iter(failed)),
        ("warning", Vec::from_iter(skipped)),
    ] {
        let shown = match tasks.len() {
            0..=SHOWN_MAX => tasks.len(),
            _ => SHOWN_MAX - 1,
        };
        for task in &tasks[..shown] {
            let what = match task.state {
                StepState::Skipped => "was not begun",
                _ => error_code(task).name(),
            };
            let title = format!("{} {what}: {}", task.planned.task_id, task.planned.title);
            let mut lines = vec![explain_failure(task)];
            lines.extend(violations(task).map(String::from));
            text += &annotation(kind, &title, &lines.join("\n"));
        }
        if shown < tasks.len() {
            let more = tasks.len() - shown;
            let more = format!("{more} more tasks; see the summary of the job");
            text += &annotation(kind, "and others", &more);
        }
    }
    let summary = view.run.steps.unwrap_or_default();
    let run = &view.run.record;
    let told = format!(
        "{} of {} tasks are done ({})",
        summary.done, summary.total, run.status
    );
    text + &annotation("notice", &run.id, &told)
}

pub(crate) fn annotation(kind: &str, title: &str, message: &str) -> String {
    let message: String = replace_control_characters(message)
        .chars()
        .take(MESSAGE_MAX)
        .collect();
    let title: String = replace_control_characters(title)
        .chars()
        .take(200)
        .collect();
    let title = escape_data(&title).replace(':', "%3A").replace(',', "%2C");
    format!("::{kind} title={title}::{}\n", escape_data(&message))
}

fn escape_data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Says how many tasks were not done, and what time, tokens and money a run took.
pub(crate) fn summarize_counts(run: &Run, counts: Counts) -> Vec<String> {
    let parts = [
        (counts.failed > 0).then(|| format!("{} failed", counts.failed)),
        (counts.cancelled > 0).then(|| format!("{} cancelled", counts.cancelled)),
        (counts.skipped > 0).then(|| format!("{} not begun", counts.skipped)),
    ];
    parts
        .into_iter()
        .flatten()
        .chain(describe_spent(run))
        .collect()
}

/// Writes the summary of the job in Markdown, of at most `room` bytes: rows that have no room are
/// counted.
pub(crate) fn summary(view: &RunView, room: usize) -> String {
    let room = room.min(SUMMARY_MAX);
    let (run, counts) = (&view.run.record, view.run.steps.unwrap_or_default());
    let mark = match run.status {
        RunStatus::Completed => "✅",
        RunStatus::Failed => "❌",
        _ => "⚠️",
    };
    let mut parts = vec![format!("{} of {} done", counts.done, counts.total)];
    parts.extend(summarize_counts(run, counts));
    let mut text = format!(
        "## {mark} cleo run: {}\n\n{}\n\n`{}`\n\n",
        escape_cell(&run.input),
        parts.join(" · "),
        run.id
    );
    text += "| Task | State | Outcome | Skill | Runner | Time | Tokens | Cost | Why |\n\
             |---|---|---|---|---|---|---|---|---|\n";
    let rows: Vec<String> = view.list_counted().map(row).collect();
    let mut shown = 0;
    for row in &rows {
        // The line that says what is left out needs room too.
        if text.len() + row.len() + 100 > room {
            break;
        }
        text += row;
        shown += 1;
    }
    if shown < rows.len() {
        let _ = write!(
            text,
            "\n{} more tasks: `cleo runs show {}`\n",
            rows.len() - shown,
            run.id
        );
    }
    if text.len() > room {
        String::new()
    } else {
        text
    }
}

fn row(task: &TaskRun) -> String {
    let dash = || "–".to_string();
    let begun = (task.attempts > 0).then(|| time(task.duration_ms));
    let is_open =
        task.state != StepState::Done && (task.reason.is_some() || task.outcome.is_some());
    let cells = [
        format!(
            "{} {}",
            task.planned.task_id,
            escape_cell(&task.planned.title)
        ),
        task.state.to_string(),
        task.outcome
            .map_or_else(dash, |outcome| outcome.to_string()),
        task.setup.skill.as_deref().map_or_else(dash, escape_cell),
        task.setup.runner.as_deref().map_or_else(dash, escape_cell),
        begun.unwrap_or_else(dash),
        task.spent.usage.and_then(tokens).unwrap_or_else(dash),
        task.spent.cost.map_or_else(dash, money),
        if is_open {
            escape_cell(&explain_failure(task))
        } else {
            String::new()
        },
    ];
    format!("| {} |\n", cells.join(" | "))
}

/// Writes text into a cell of a table: on one line, short, and as nothing but text.
fn escape_cell(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let short: String = replace_control_characters(&words.join(" "))
        .chars()
        .take(300)
        .collect();
    escape_text(&short)
}

pub(crate) fn outputs(view: &RunView) -> String {
    let failed = view.list_counted().filter(|task| task.state.is_undone());
    let failed = failed.map(|task| task.planned.task_id.to_string());
    let failed: Vec<String> = failed.collect();
    let ok = view.run.record.status == RunStatus::Completed;
    let id: String = replace_control_characters(&view.run.record.id).replace('\n', " ");
    format!("run_id={id}\nok={ok}\nfailed={}\n", failed.join(","))
}
