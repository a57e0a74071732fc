//! `cleo manifest …`

mod append;
mod compact;
mod correcting;
mod joining;
pub(super) mod list;
mod options;
pub(super) mod show;
mod validate;

use std::process::ExitCode;

use clap::Subcommand;

use super::Face;
use crate::error::Result;

#[derive(Subcommand)]
pub(super) enum Command {
    Append(Box<append::Arguments>),
    List(list::Arguments),
    Show(show::Arguments),
    Validate(validate::Arguments),
    Compact(compact::Arguments),
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::Append(arguments) => face.run("manifest.append", *arguments, append::run),
        Command::List(arguments) => face.run("manifest.list", arguments, list::run),
        Command::Show(arguments) => face.run("manifest.show", arguments, show::run),
        Command::Compact(arguments) => face.run("manifest.compact", arguments, compact::run),
        Command::Validate(arguments) => face.run("manifest.validate", arguments, validate::run),
    }
}
