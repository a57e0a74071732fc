//! `cleo skills …`

mod dispatch;
mod export;
mod list;
mod show;
mod validate;

#[cfg(test)]
pub(super) use validate::Verdicts;

use std::process::ExitCode;

use clap::Subcommand;

use super::Face;
use crate::error::Result;

#[derive(Subcommand)]
pub(super) enum Command {
    List(list::Arguments),
    Show(show::Arguments),
    Validate(validate::Arguments),
    Dispatch(dispatch::Arguments),
    Export(export::Arguments),
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::List(arguments) => face.run("skills.list", arguments, list::run),
        Command::Show(arguments) => face.run("skills.show", arguments, show::run),
        Command::Validate(arguments) => face.run("skills.validate", arguments, validate::run),
        Command::Dispatch(arguments) => face.run("skills.dispatch", arguments, dispatch::run),
        Command::Export(arguments) => face.run("skills.export", arguments, export::run),
    }
}
