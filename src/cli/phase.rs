//! `cleo phase …`

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::Face;
use super::screen::{Screen, Tone};
use crate::error::Result;
use crate::ops::api;
use crate::ops::operation::Nothing;
use crate::ops::phases::{Counted, Moved, Phases};
use crate::phase::{CompletePhase, Counts, PhaseStatus, StartPhase};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo phase               the same as cleo phase list
  cleo phase set build
  cleo phase complete

A phase exists once a task names it: cleo add TITLE --phase build.")]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// List phases in their order, with the number of tasks by status
    #[command(after_help = "Examples:\n  cleo phase list")]
    List,
    /// Make a phase the one that the project is in, whatever phase it was in before
    #[command(after_help = "Examples:\n  cleo phase set build")]
    Set(StartPhase),
    /// Begin a phase; the one that the project is in must be completed first
    #[command(after_help = "Examples:\n  cleo phase start build")]
    Start(StartPhase),
    /// Complete a phase whose tasks are done or cancelled
    #[command(after_help = "Examples:\n  cleo phase complete\n  cleo phase complete build --force")]
    Complete(CompletePhase),
}

pub(super) fn dispatch(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    match arguments.command.unwrap_or(Command::List) {
        Command::List => face.call(&api::PHASES, Nothing {}, render_list),
        Command::Set(request) => face.call(&api::SET_PHASE, request, render("Set")),
        Command::Start(request) => face.call(&api::START_PHASE, request, render("Started")),
        Command::Complete(request) => face.call(&api::COMPLETE_PHASE, request, render("Completed")),
    }
}

fn render_list(screen: &mut Screen, listed: &Phases) {
    if listed.phases.is_empty() {
        screen.line(Tone::Dim, "no phases");
        return;
    }
    let row = |counted: &Counted| {
        let phase = &counted.phase;
        vec![
            (Tone::Strong, phase.slug.clone()),
            (phase_tone(phase.status), phase.status.to_string()),
            (Tone::Plain, phase.name.clone()),
            (Tone::Plain, counts_text(&counted.counts)),
        ]
    };
    let rows = listed.phases.iter().map(row).collect();
    screen.table(&["PHASE", "STATUS", "NAME", "TASKS"], rows);
}

fn render(verb: &str) -> impl FnOnce(&mut Screen, &Moved) {
    move |screen, moved| {
        let phase = &moved.phase.phase;
        screen
            .outcome(verb, moved.changed)
            .say(Tone::Strong, format!("{} ", phase.slug))
            .say(phase_tone(phase.status), phase.status)
            .line(Tone::Plain, format!("  {}", phase.name))
            .field("tasks", counts_text(&moved.phase.counts));
    }
}

fn phase_tone(status: PhaseStatus) -> Tone {
    match status {
        PhaseStatus::Pending => Tone::Plain,
        PhaseStatus::Active => Tone::Accent,
        PhaseStatus::Completed => Tone::Good,
    }
}

pub(super) fn counts_text(counts: &Counts) -> String {
    let parts = counts.iter();
    let parts: Vec<String> = parts
        .map(|(status, count)| format!("{count} {status}"))
        .collect();
    parts.join(", ")
}
