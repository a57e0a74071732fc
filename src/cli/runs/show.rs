//! `cleo runs show`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::{how, status_tone};
use crate::cli::Face;
use crate::cli::run::tasks;
use crate::cli::screen::{Cell, Screen, Tone};
use crate::error::Result;
use crate::ops::runs::{self, Shown};
use crate::run::Step;

/// Show a run with its steps, its messages and everything that happened
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo runs show exec_1769418000000_1
  cleo runs show run_1769418000000_1 --html report.html
  cleo runs show exec_1769418000000_1 --jq '.result.events[] | [.at, .kind]'")]
pub(in crate::cli) struct Arguments {
    /// Its id
    run: String,

    /// Also write it as one page that needs nothing else: graph, timeline, evidence, routing
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let surroundings = face.surroundings()?;
    let shown = match &arguments.html {
        None => runs::show(&surroundings, &arguments.run, None)?,
        Some(file) => {
            let shown = runs::written::page(&surroundings, &arguments.run, file)?;
            face.output.note(&format!("wrote {}", file.display()));
            shown
        }
    };
    face.reply(&shown, &[], |screen| render(screen, &shown))
}

fn render(screen: &mut Screen, shown: &Shown) {
    let run = &shown.run;
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    let routed = match run.routing_reason.as_str() {
        "" => String::new(),
        reason => format!("{}: {reason}", run.routed_by),
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
        .field("answered by", how(run))
        .field("user", &run.user)
        .field("conversation", text(&run.conversation))
        .field("started", &run.started_at)
        .field("ended", text(&run.completed_at))
        .field("failed", text(&run.error));
    screen.line(Tone::Plain, "");
    if !shown.tasks.is_empty() {
        tasks(screen, &shown.tasks);
        return;
    }
    if !shown.steps.is_empty() {
        screen.table(
            &["", "AGENT", "ACTION", "STEP"],
            shown.steps.iter().map(row).collect(),
        );
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

fn row(step: &Step) -> Vec<Cell> {
    vec![
        (Tone::Dim, format!("{} %", step.progress)),
        (Tone::Plain, step.agent.clone()),
        (Tone::Accent, step.action.to_string()),
        (Tone::Plain, step.content.clone()),
    ]
}
