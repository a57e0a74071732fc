//! Runs as tables: what one would do, and what became of it.

use crate::cli::screen::{Cell, Screen, Tone};
use crate::coordinator::{Rehearsal, Rehearsed, Report};
use crate::id;
use crate::run::Outcome;
use crate::run::report::github::summarize_counts;
use crate::run::report::{money, time, tokens};
use crate::run::{StepState, TaskRun};

pub(in crate::cli) fn render(screen: &mut Screen, report: &Report) {
    tasks(screen, &report.tasks);
    let (run, summary) = (&report.run, report.summary);
    screen.line(Tone::Plain, "");
    let all = format!("{} of {} done", summary.done, summary.total);
    let tone = match summary.done == summary.total {
        true => Tone::Good,
        false => Tone::Warn,
    };
    let mut parts = summarize_counts(run, summary);
    parts.push(run.id.clone());
    screen
        .say(tone, all)
        .line(Tone::Dim, format!("  {}", parts.join("  ")));
}

pub(super) fn order(screen: &mut Screen, rehearsed: &Rehearsed) {
    let head = ["WAVE", "TASK", "SKILL", "RUNNER", "AFTER", "TITLE"];
    let row = |one: &Rehearsal| -> Vec<Cell> {
        let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_string());
        let wave = one.wave.map(|wave| wave.to_string());
        let runner = match (&one.runner, &one.model) {
            (Some(runner), Some(model)) => format!("{runner}:{model}"),
            (runner, _) => text(runner),
        };
        vec![
            (Tone::Dim, text(&wave)),
            (Tone::Strong, one.task.task_id.to_string()),
            (Tone::Accent, text(&one.skill)),
            (Tone::Plain, runner),
            (Tone::Dim, id::list(&one.task.needs)),
            (Tone::Plain, one.task.title.clone()),
        ]
    };
    screen.rows(&head, rehearsed.tasks.iter().map(row));
}

pub(in crate::cli) fn tasks(screen: &mut Screen, tasks: &[TaskRun]) {
    let head = [
        "TASK", "STATE", "OUTCOME", "TRIES", "TIME", "TOKENS", "COST", "TITLE",
    ];
    let tasks = tasks.iter().filter(|task| task.is_counted());
    screen.rows(&head, tasks.map(row));
}

pub(in crate::cli) fn state_tone(state: StepState) -> Tone {
    match state {
        StepState::Done => Tone::Good,
        StepState::Failed | StepState::Cancelled => Tone::Bad,
        StepState::Running | StepState::Verifying => Tone::Accent,
        StepState::Waiting | StepState::Skipped => Tone::Dim,
    }
}

fn row(task: &TaskRun) -> Vec<Cell> {
    let begun = task.attempts > 0;
    let some = |text: Option<String>| (Tone::Dim, text.unwrap_or_else(|| "-".to_string()));
    vec![
        (Tone::Strong, task.planned.task_id.to_string()),
        (state_tone(task.state), task.state.to_string()),
        some(task.outcome.map(|outcome: Outcome| outcome.to_string())),
        some(begun.then(|| task.attempts.to_string())),
        some(begun.then(|| time(task.duration_ms))),
        some(task.spent.usage.and_then(tokens)),
        some(task.spent.cost.map(money)),
        (Tone::Plain, task.planned.title.clone()),
    ]
}
