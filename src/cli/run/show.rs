//! `cleo runs show`, and runs as tables: what one would do, and what became of it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::live::describe_answer;
use crate::cli::screen::{Cell, Screen, Tone, accent, dim, plain, status};
use crate::coordinator::{Rehearsal, Rehearsed, Report, suggest_continuation};
use crate::error::{Code, Error, Result};
use crate::id;
use crate::ops::Surroundings;
use crate::ops::runs::list;
use crate::ops::work::runs;
use crate::run::coordination::CoordinatorState;
use crate::run::report::github::summarize_counts;
use crate::run::report::{describe_spent, explain_failure, money, time, tokens, violations};
use crate::run::view::RunView;
use crate::run::{RunStatus, TaskRun};
use crate::store::records::RunFilter;

pub(in crate::cli) fn render(screen: &mut Screen, report: &Report) {
    task_table(screen, &report.tasks);
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

pub(super) fn render_order(screen: &mut Screen, rehearsed: &Rehearsed) {
    let head = ["WAVE", "TASK", "SKILL", "RUNNER", "AFTER", "TITLE"];
    let row = |one: &Rehearsal| -> Vec<Cell> {
        let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_string());
        let wave = one.wave.map(|wave| wave.to_string());
        let runner = match (&one.runner, &one.model) {
            (Some(runner), Some(model)) => format!("{runner}:{model}"),
            (runner, _) => text(runner),
        };
        let mut after = id::list(&one.task.needs);
        if !one.shares_files.is_empty() {
            after += &format!(" (files: {})", id::list(&one.shares_files));
        }
        vec![
            (Tone::Dim, text(&wave)),
            (Tone::Strong, one.task.task_id.to_string()),
            (Tone::Accent, text(&one.skill)),
            (Tone::Plain, runner),
            (Tone::Dim, after),
            (Tone::Plain, one.task.title.clone()),
        ]
    };
    screen.rows(&head, rehearsed.tasks.iter().map(row));
    for one in &rehearsed.tasks {
        if let Some(earlier) = &one.earlier_work {
            screen.line(Tone::Warn, format!("{}: {earlier}", one.task.task_id));
        }
    }
}

fn task_table(screen: &mut Screen, tasks: &[TaskRun]) {
    let head = [
        "TASK", "STATE", "OUTCOME", "ATTEMPTS", "TIME", "TOKENS", "COST", "TITLE",
    ];
    let tasks = tasks.iter().filter(|task| task.is_counted());
    screen.rows(&head, tasks.map(task_row));
}

fn task_row(task: &TaskRun) -> Vec<Cell> {
    let begun = task.attempts > 0;
    let some = |text: Option<String>| (Tone::Dim, text.unwrap_or_else(|| "-".to_string()));
    vec![
        (Tone::Strong, task.planned.task_id.to_string()),
        status(task.state),
        some(task.outcome.map(|outcome| outcome.to_string())),
        some(begun.then(|| task.attempts.to_string())),
        some(begun.then(|| time(task.duration_ms))),
        some(task.spent.usage.and_then(tokens)),
        some(task.spent.cost.map(money)),
        (Tone::Plain, task.planned.title.clone()),
    ]
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo runs show
  cleo runs show exec_1769418000000_1
  cleo runs show run_1769418000000_1 --html report.html
  cleo runs show exec_1769418000000_1 --jq '.result.events[] | [.at, .kind]'")]
pub(in crate::cli) struct Arguments {
    /// Id of the run [default: the newest]
    run: Option<String>,

    /// Also write a self-contained HTML page with graph, tasks, evidence and routing
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let run = match arguments.run {
        Some(run) => run,
        None => find_newest(&face.surroundings()?)?,
    };
    let mut context = face.context()?;
    let shown = match &arguments.html {
        None => runs::show(&mut context, &run)?,
        Some(file) => {
            let shown = runs::export::page(&mut context, &run, file)?;
            face.output.note(&format!("wrote {}", file.display()));
            shown
        }
    };
    face.reply(&shown, &[], |screen| {
        render_run(screen, &context.surroundings, &shown);
    })
}

fn find_newest(surroundings: &Surroundings) -> Result<String> {
    let newest = RunFilter {
        limit: 1,
        ..RunFilter::default()
    };
    let found = list(surroundings, &newest)?.runs.into_iter().next();
    let none = || Error::new(Code::RunNotFound, "there are no runs yet");
    Ok(found.ok_or_else(none)?.id)
}

fn render_run(screen: &mut Screen, surroundings: &Surroundings, shown: &RunView) {
    let run = &shown.run.record;
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    let routed = match run.routing_reason.as_str() {
        "" => String::new(),
        reason => format!("{}: {reason}", run.routed_by),
    };
    let coordinator = shown.run.coordinator.filter(|_| !run.is_over());
    let coordinator = coordinator.map_or("", CoordinatorState::word);
    // A run over tasks has no answer.
    let (tasks, answered, took) = match shown.tasks.is_empty() {
        true => ("", describe_answer(run), String::new()),
        false => (&*run.input, String::new(), describe_spent(run).join(", ")),
    };
    screen
        .headline(&run.id, run.status, run.kind)
        .field("coordinator", coordinator)
        .field("agent", text(&run.agent))
        .field("asked for", text(&run.requested_agent))
        .field("tasks", tasks)
        .field("routed by", routed)
        .field("answered by", answered)
        .field("took", took)
        .field("user", &run.user)
        .field("conversation", text(&run.conversation))
        .time("started", &run.started_at)
        .time("ended", &run.completed_at)
        .field("failed", text(&run.error));
    screen.line(Tone::Plain, "");
    if !shown.tasks.is_empty() {
        task_table(screen, &shown.tasks);
        show_unfinished(screen, surroundings, shown);
        return;
    }
    if !shown.steps.is_empty() {
        let rows = shown.steps.iter().map(|step| {
            [
                dim(format!("{} %", step.progress)),
                plain(&step.agent),
                accent(step.action),
                plain(&step.content),
            ]
        });
        screen.rows(&["", "AGENT", "ACTION", "STEP"], rows);
    }
    for message in &shown.messages {
        let word = |name: &str| message.metadata.get(name).and_then(|word| word.as_str());
        let sender = word("sender").unwrap_or(message.speaker.word());
        let heading = match word("stepId") {
            Some(step) => format!("{sender} ({step})"),
            None => sender.to_string(),
        };
        screen.section(&heading, &message.content);
    }
}

fn show_unfinished(screen: &mut Screen, surroundings: &Surroundings, shown: &RunView) {
    let tasks = shown.tasks.iter().filter(|task| !task.planned.is_epic);
    for task in tasks.filter(|task| !task.is_done()) {
        let is_told = task.reason.is_some() || task.outcome.is_some();
        if is_told || !task.violations.is_empty() {
            render_reason(screen, task);
        }
    }
    let tasks = shown.tasks.iter().filter(|task| task.is_done());
    for task in tasks.filter(|task| !task.warnings.is_empty()) {
        screen.line(Tone::Plain, "");
        screen.headline(task.planned.task_id, task.state, "");
        for warning in &task.warnings {
            screen.field("warning", warning);
        }
    }
    let run = &shown.run.record;
    let is_done = matches!(run.status, RunStatus::Completed | RunStatus::Unanswered);
    if run.is_over() && !is_done {
        screen.line(Tone::Plain, "");
        screen.field("resume with", suggest_continuation(surroundings, shown));
    }
}

fn render_reason(screen: &mut Screen, task: &TaskRun) {
    screen.line(Tone::Plain, "");
    let reason = match (&task.reason, task.outcome) {
        (None, outcome) => outcome.map_or(String::new(), |outcome| outcome.to_string()),
        (Some(_), _) => explain_failure(task),
    };
    screen.headline(task.planned.task_id, task.state, reason);
    for violation in violations(task) {
        screen.field("violation", violation);
    }
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    screen
        .field("branch", text(&task.branch))
        .field("worktree", text(&task.worktree));
}
