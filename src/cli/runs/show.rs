//! `cleo runs show`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::live::{describe_answer, status_tone};
use crate::cli::run::table::{state_tone, tasks};
use crate::cli::screen::{Screen, Tone, accent, dim, plain};
use crate::coordinator::suggest_continuation;
use crate::error::Result;
use crate::ops::Surroundings;
use crate::ops::work::runs;
use crate::run::RunStatus;
use crate::run::TaskRun;
use crate::run::report::{describe_spent, violations, why};
use crate::run::view::RunView;

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo runs show exec_1769418000000_1
  cleo runs show run_1769418000000_1 --html report.html
  cleo runs show exec_1769418000000_1 --jq '.result.events[] | [.at, .kind]'")]
pub(in crate::cli) struct Arguments {
    /// Id of the run
    run: String,

    /// Also write a self-contained HTML page with graph, timeline, evidence and routing
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let mut context = face.context()?;
    let shown = match &arguments.html {
        None => runs::show(&mut context, &arguments.run)?,
        Some(file) => {
            let shown = runs::export::page(&mut context, &arguments.run, file)?;
            face.output.note(&format!("wrote {}", file.display()));
            shown
        }
    };
    face.reply(&shown, &[], |screen| {
        render(screen, &context.surroundings, &shown);
    })
}

fn render(screen: &mut Screen, surroundings: &Surroundings, shown: &RunView) {
    let run = &shown.run.record;
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    let routed = match run.routing_reason.as_str() {
        "" => String::new(),
        reason => format!("{}: {reason}", run.routed_by),
    };
    // A run over tasks has no answer.
    let (answered, took) = match shown.tasks.is_empty() {
        true => (describe_answer(run), String::new()),
        false => (String::new(), describe_spent(run).join(", ")),
    };
    screen.say(Tone::Strong, &run.id).say(Tone::Plain, " ");
    screen
        .say(status_tone(run.status), run.status)
        .line(Tone::Plain, format!("  {}", run.kind));
    screen
        .field("agent", text(&run.agent))
        .field("asked for", text(&run.requested_agent))
        .field(
            "about",
            if shown.tasks.is_empty() {
                ""
            } else {
                &run.input
            },
        )
        .field("routed by", routed)
        .field("answered by", answered)
        .field("took", took)
        .field("user", &run.user)
        .field("conversation", text(&run.conversation))
        .field("started", &run.started_at)
        .field("ended", text(&run.completed_at))
        .field("failed", text(&run.error));
    screen.line(Tone::Plain, "");
    if !shown.tasks.is_empty() {
        tasks(screen, &shown.tasks);
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
            reason(screen, task);
        }
    }
    let tasks = shown.tasks.iter().filter(|task| task.is_done());
    for task in tasks.filter(|task| !task.warnings.is_empty()) {
        screen.line(Tone::Plain, "");
        screen.line(
            Tone::Strong,
            format!("{} {}", task.planned.task_id, task.state),
        );
        for warning in &task.warnings {
            screen.field("warning", warning);
        }
    }
    let run = &shown.run.record;
    if run.is_over() && run.status != RunStatus::Completed {
        screen.line(Tone::Plain, "");
        screen.field("resume with", suggest_continuation(surroundings, shown));
    }
}

fn reason(screen: &mut Screen, task: &TaskRun) {
    screen.line(Tone::Plain, "");
    let (id, state) = (task.planned.task_id, task.state);
    screen
        .say(Tone::Strong, format!("{id} "))
        .say(state_tone(state), state);
    match (&task.reason, task.outcome) {
        (None, Some(outcome)) => screen.line(Tone::Plain, format!("  {outcome}")),
        (None, None) => screen.line(Tone::Plain, ""),
        (Some(_), _) => screen.line(Tone::Plain, format!("  {}", why(task))),
    };
    for violation in violations(task) {
        screen.field("violation", violation);
    }
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    screen
        .field("branch", text(&task.branch))
        .field("worktree", text(&task.worktree));
}
