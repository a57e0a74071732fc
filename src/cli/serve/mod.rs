//! `cleo serve`, and the tokens of the server.

pub(super) mod run;
mod token;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::Face;
use crate::error::Result;

#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
On this machine nobody needs a token. Under any other address everybody does: `cleo serve token create`.
The server ends at Ctrl-C or SIGTERM, after what is under way; a second one ends it at once.

Examples:
  cleo serve                                      the address is printed when it answers
  cleo serve --port 0 --json                      any free port; the address as JSON
  cleo serve token create --user ann --scope write --expires 30d
  cleo serve --host 0.0.0.0 --allow-host cleo.example.org
  curl -s 127.0.0.1:4680/api/agents/execute -H 'content-type: application/json' -d '{\"input\":\"Solve 2x + 5 = 15\"}'"
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    serve: run::ServeArguments,
}

#[derive(Subcommand)]
enum Command {
    /// Manage the tokens with which others may call the server
    #[command(subcommand)]
    Token(token::Command),
}

/// Carries out what needs no server, or starts the server.
pub(super) fn dispatch(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    match arguments.command {
        Some(Command::Token(command)) => token::dispatch(face, command),
        None => face.run("serve", arguments.serve, run::run),
    }
}
