//! `cleo phase …`

mod add;
mod complete;
mod list;
mod set;
mod show;
mod start;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::Face;
use super::screen::{Screen, Tone};
use crate::error::Result;
use crate::ops::phases::{Counted, Kept};
use crate::phase::{Counts, PhaseStatus};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo phase                               the same as cleo phase list
  cleo phase add build --name 'Build it'
  cleo phase set build
  cleo phase complete

A phase also comes into being when a task names it: cleo add TITLE --phase build.")]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    List(list::Arguments),
    Show(show::Arguments),
    Add(add::Arguments),
    Set(set::Arguments),
    Start(start::Arguments),
    Complete(complete::Arguments),
}

pub(super) fn dispatch(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    match arguments.command {
        None => face.run("phase.list", list::Arguments {}, list::run),
        Some(Command::List(arguments)) => face.run("phase.list", arguments, list::run),
        Some(Command::Show(arguments)) => face.run("phase.show", arguments, show::run),
        Some(Command::Add(arguments)) => face.run("phase.add", arguments, add::run),
        Some(Command::Set(arguments)) => face.run("phase.set", arguments, set::run),
        Some(Command::Start(arguments)) => face.run("phase.start", arguments, start::run),
        Some(Command::Complete(arguments)) => face.run("phase.complete", arguments, complete::run),
    }
}

fn kept_reply(face: &mut Face<'_>, verb: &str, kept: &Kept) -> Result<ExitCode> {
    face.reply(kept, &kept.warnings, |screen| {
        let (tone, word) = match kept.changed {
            true => (Tone::Good, verb),
            false => (Tone::Dim, "Unchanged"),
        };
        screen.say(tone, word).say(Tone::Plain, " ");
        phase_line(screen, &kept.phase);
    })
}

fn phase_line(screen: &mut Screen, counted: &Counted) {
    let phase = &counted.phase;
    screen.say(Tone::Strong, &phase.slug).say(Tone::Plain, " ");
    screen
        .say(phase_tone(phase.status), phase.status)
        .line(Tone::Plain, format!("  {}", phase.name));
    screen.field("tasks", counts_text(&counted.counts));
}

fn phase_tone(status: PhaseStatus) -> Tone {
    match status {
        PhaseStatus::Pending => Tone::Plain,
        PhaseStatus::Active => Tone::Accent,
        PhaseStatus::Completed => Tone::Good,
    }
}

/// Writes counts as `2 pending, 1 done`; none gives an empty text.
pub(super) fn counts_text(counts: &Counts) -> String {
    let parts = counts
        .iter()
        .map(|(status, count)| format!("{count} {status}"));
    parts.collect::<Vec<_>>().join(", ")
}
