//! `cleo research …`

mod inject;
mod link;
mod links;
mod list;
mod show;

#[cfg(test)]
pub(super) use inject::Injected;

use std::process::ExitCode;

use clap::Subcommand;

use super::Face;
use crate::error::Result;

#[derive(Subcommand)]
pub(super) enum Command {
    List(list::Arguments),
    Show(show::Arguments),
    Link(link::Arguments),
    Links(links::Arguments),
    Inject(inject::Arguments),
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::List(arguments) => face.run("research.list", arguments, list::run),
        Command::Show(arguments) => face.run("research.show", arguments, show::run),
        Command::Link(arguments) => face.run("research.link", arguments, link::run),
        Command::Links(arguments) => face.run("research.links", arguments, links::run),
        Command::Inject(arguments) => face.run("research.inject", arguments, inject::run),
    }
}
