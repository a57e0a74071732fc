//! `cleo phase …`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::face::Later;
use super::screen::{Screen, plain, status, strong};
use crate::error::Result;
use crate::ops::api;
use crate::ops::operation::Nothing;
use crate::ops::phases::{Moved, Phases};
use crate::phase::{CompletePhase, Counts, StartPhase};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo phase               the same as cleo phase list
  cleo phase set build
  cleo phase complete

A phase is created by the first task that names it: cleo add TITLE --phase build.")]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

commands! {
    (face, it)
    /// List phases in order, with the number of tasks by status
    #[command(after_help = "Examples:\n  cleo phase list")]
    List(Nothing) => face.call(&api::PHASES, it, render_list);
    /// Set the current phase of the project
    #[command(after_help = "Examples:\n  cleo phase set build")]
    Set(StartPhase) => face.call(&api::SET_PHASE, it, render("Set"));
    /// Start a phase; the current one must be completed
    #[command(after_help = "Examples:\n  cleo phase start build")]
    Start(StartPhase) => face.call(&api::START_PHASE, it, render("Started"));
    /// Complete a phase whose tasks are all done or cancelled
    #[command(after_help = "Examples:\n  cleo phase complete\n  cleo phase complete build --force")]
    Complete(CompletePhase) => face.call(&api::COMPLETE_PHASE, it, render("Completed"));
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let command = arguments.command;
    dispatch(face, command.unwrap_or(Command::List(Later(Nothing {}))))
}

fn render_list(screen: &mut Screen, listed: &Phases) {
    let rows = listed.phases.iter().map(|counted| {
        let phase = &counted.phase;
        [
            strong(&phase.slug),
            status(phase.status),
            plain(&phase.name),
            plain(counts_text(&counted.counts)),
        ]
    });
    screen.list("no phases", &["PHASE", "STATUS", "NAME", "TASKS"], rows);
}

fn render(verb: &str) -> impl FnOnce(&mut Screen, &Moved) {
    move |screen, moved| {
        let phase = &moved.phase.phase;
        screen
            .outcome(verb, moved.changed)
            .headline(&phase.slug, phase.status, &phase.name)
            .field("tasks", counts_text(&moved.phase.counts));
    }
}

pub(super) fn counts_text(counts: &Counts) -> String {
    let parts = counts.iter();
    let parts: Vec<String> = parts
        .map(|(status, count)| format!("{count} {status}"))
        .collect();
    parts.join(", ")
}
