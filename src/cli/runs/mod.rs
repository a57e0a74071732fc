//! `cleo runs …`

mod cancel;
mod list;
mod logs;
mod resume;
mod show;

use std::process::ExitCode;

use clap::Subcommand;

use super::Face;
use super::run::{money, time, tokens};
use super::screen::Tone;
use crate::error::Result;
use crate::run::{Run, RunStatus};

#[derive(Subcommand)]
pub(super) enum Command {
    List(list::Arguments),
    Show(show::Arguments),
    Logs(logs::Arguments),
    Resume(resume::Arguments),
    Cancel(cancel::Arguments),
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::List(arguments) => face.run("runs.list", arguments, list::run),
        Command::Logs(arguments) => face.run("runs.logs", arguments, logs::run),
        Command::Resume(arguments) => face.run("runs.resume", arguments, resume::run),
        Command::Cancel(arguments) => face.run("runs.cancel", arguments, cancel::run),
        Command::Show(arguments) => face.run("runs.show", arguments, show::run),
    }
}

pub(super) fn status_tone(status: RunStatus) -> Tone {
    match status {
        RunStatus::Completed => Tone::Good,
        RunStatus::Failed => Tone::Bad,
        RunStatus::Running => Tone::Accent,
        RunStatus::Pending => Tone::Plain,
        RunStatus::Interrupted => Tone::Warn,
        RunStatus::Cancelled => Tone::Dim,
    }
}

/// Says what a run over tasks took, as far as it is known.
fn spent(run: &Run) -> String {
    let used = run.usage.and_then(tokens);
    let parts = [
        run.execution_time_ms.map(time),
        used.map(|used| format!("{used} tokens")),
        run.cost.map(money),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Says what answered, and what that took, as far as it is known.
pub(super) fn how(run: &Run) -> String {
    let time = run.execution_time_ms.map(|time| format!("{time} ms"));
    let tokens = run.usage.and_then(|usage| usage.total_tokens);
    let parts = [
        run.answered_by.map(|by| by.to_string()),
        run.model.clone(),
        time,
        tokens.map(|tokens| format!("{tokens} tokens")),
        run.cost.map(money),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
