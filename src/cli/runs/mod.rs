//! `cleo runs …`

mod cancel;
mod list;
mod logs;
mod resume;
mod show;
pub(super) mod words;

use std::process::ExitCode;

use clap::Subcommand;

use super::Face;
use crate::error::Result;

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
