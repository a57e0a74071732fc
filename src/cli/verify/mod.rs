//! `cleo verify …`

mod gate;
mod manifest;
mod message;
mod output;
mod prompt;
pub(super) mod standing;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::Face;
use super::screen::{Screen, Tone};
use crate::error::{Error, Result};
use crate::ops::verify::{Verdict, Violation};

#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  cleo verify T3                                     the gates and criteria of a task
  cleo verify T3 --gate testsPassed --run 'cargo test'
  cleo verify T3 --gate qaPassed --commit HEAD --url https://ci.example/runs/7 --note 'read it all'
  cleo verify T3 --run-all                           run the commands of its criteria
  cleo verify T3 --refresh                           run again what is stale
  cleo verify T3 --accept 2 --note 'shown to the customer'
  cleo verify output T3
  cleo verify message 'Task complete. See MANIFEST.jsonl for summary.'

Evidence holds for the files that the task is about: those that it declares with --file (src/auth
for all below a folder, src/**/*.rs, {ts,tsx}, [a-z]), else all that git tracks or does not ignore.
When one of them changes, it is stale, and `complete` asks for it again."
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    gate: gate::GateArguments,
}

#[derive(Subcommand)]
enum Command {
    Prompt(prompt::Arguments),
    Message(message::Arguments),
    Manifest(manifest::Arguments),
    Output(output::Arguments),
}

pub(super) fn dispatch(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let Some(command) = arguments.command else {
        return face.run("verify", arguments.gate, gate::run);
    };
    match command {
        Command::Prompt(arguments) => face.run("verify.prompt", arguments, prompt::run),
        Command::Message(arguments) => face.run("verify.message", arguments, message::run),
        Command::Manifest(arguments) => face.run("verify.manifest", arguments, manifest::run),
        Command::Output(arguments) => face.run("verify.output", arguments, output::run),
    }
}

/// Answers with a verdict; one that failed ends with its error.
fn answer<T: serde::Serialize>(
    face: &mut Face<'_>,
    what: &str,
    result: &T,
    verdict: &Verdict,
    with_fix: impl FnOnce(Error) -> Error,
) -> Result<ExitCode> {
    let error = verdict.error(what).map(with_fix);
    face.outcome(result, error, &verdict.warnings, |screen| {
        render(screen, what, &verdict.violations)
    })
}

fn render(screen: &mut Screen, what: &str, violations: &[Violation]) {
    if violations.is_empty() {
        screen.say(Tone::Good, "pass ").line(Tone::Plain, what);
        return;
    }
    screen.say(Tone::Bad, "fail ").line(Tone::Plain, what);
    for found in violations {
        screen
            .say(Tone::Dim, format!("  {}: ", found.rule))
            .line(Tone::Plain, &found.message);
    }
}
