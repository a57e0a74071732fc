//! `cleo verify …`

mod gate;
pub(super) mod standing;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::Face;
use super::screen::{Screen, Tone};
use crate::error::{Error, Result};
use crate::file::read_input;
use crate::id::TaskId;
use crate::ops::verify::{self, MessageSent, Output, Verdict, Violation};
use crate::protocol::block::named_task;

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
    Prompt(PromptArguments),
    Message(MessageArguments),
    Manifest(ManifestArguments),
    Output(OutputArguments),
}

pub(super) fn dispatch(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let Some(command) = arguments.command else {
        return face.run("verify", arguments.gate, gate::run);
    };
    match command {
        Command::Prompt(arguments) => face.run("verify.prompt", arguments, prompt),
        Command::Message(arguments) => face.run("verify.message", arguments, message),
        Command::Manifest(arguments) => face.run("verify.manifest", arguments, manifest),
        Command::Output(arguments) => face.run("verify.output", arguments, output),
    }
}

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

/// Largest prompt that is read, in bytes.
const PROMPT_MAX: u64 = 16 << 20;

/// Check that a prompt carries the subagent protocol (exit 60)
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo verify prompt prompt.md
  cleo verify prompt prompt.md --task T3
  cleo spawn T3 | jq -r .result.prompt | cleo verify prompt - --strict")]
pub(super) struct PromptArguments {
    /// File of the prompt; - reads standard input
    file: PathBuf,

    /// Task that the prompt is for: its id must stand in the block; else the one that the prompt names
    #[arg(long, value_name = "TASK")]
    task: Option<TaskId>,

    /// Also demand that the protocol is word for word a known version
    #[arg(long)]
    strict: bool,
}

fn prompt(face: &mut Face<'_>, arguments: PromptArguments) -> Result<ExitCode> {
    let shown = arguments.file.to_string_lossy().into_owned();
    let bytes = read_input(&arguments.file, PROMPT_MAX)?;
    let text = String::from_utf8_lossy(&bytes);
    let surroundings = face.surroundings()?;
    let verdict = verify::prompt(&surroundings, &text, arguments.task, arguments.strict)?;
    let task = arguments.task.or_else(|| named_task(&text));
    let is_of_other = verdict.violations.iter().any(|found| found.rule == "TASK");
    let named = task.map(|id| format!(" {id}")).unwrap_or_default();
    let (action, command) = match is_of_other {
        true => (
            "print its own prompt",
            format!("cleo spawn{named} --format text"),
        ),
        false => (
            "print the block to append it",
            format!("cleo research inject{named} --format text"),
        ),
    };
    answer(
        face,
        &format!("prompt {shown}"),
        &verdict,
        &verdict,
        |error| error.or(action, command),
    )
}

/// Check that an agent's last message is one of the allowed sentences (exit 61)
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo verify message 'Research complete. See MANIFEST.jsonl for summary.'

The message must be the sentence alone, to the letter, with no blank or line end around it.")]
pub(super) struct MessageArguments {
    #[command(flatten)]
    sent: MessageSent,
}

fn message(face: &mut Face<'_>, arguments: MessageArguments) -> Result<ExitCode> {
    let result = verify::message(&arguments.sent.message);
    answer(face, "message", &result, &result.verdict, |error| {
        let nearest = result.nearest.as_deref().unwrap_or_default();
        error.did_you_mean(nearest)
    })
}

/// Check the manifest (exit 6), or one entry of it (exit 62 when it is missing)
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo verify manifest
  cleo verify manifest auth-2026-01-26")]
pub(super) struct ManifestArguments {
    /// Id of the entry; all lines are checked without one
    id: Option<String>,
}

fn manifest(face: &mut Face<'_>, arguments: ManifestArguments) -> Result<ExitCode> {
    let mut context = face.context()?;
    let (what, mut result) = match &arguments.id {
        Some(id) => (format!("entry {id}"), verify::entry(&mut context, id)?),
        None => ("manifest".to_string(), verify::manifest(&mut context)?),
    };
    let error = result.error.take();
    face.verdict(&result, error, |screen| {
        render(screen, &what, &result.verdict.violations)
    })
}

/// Check the manifest entry and the output file of a task (exit 62, 63)
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo verify output T3")]
pub(in crate::cli) struct OutputArguments {
    #[command(flatten)]
    output: Output,
}

fn output(face: &mut Face<'_>, arguments: OutputArguments) -> Result<ExitCode> {
    let Output { task: id, epoch } = arguments.output;
    let result = verify::output(&mut face.context()?, id, epoch)?;
    let place = result.worktree.as_ref().map(|place| format!(" in {place}"));
    answer(
        face,
        &format!("output of {id}{}", place.unwrap_or_default()),
        &result,
        &result.verdict,
        |error| {
            error.fix(format!("cleo spawn {id} --format text")).or(
                "see what the manifest holds for it",
                format!("cleo manifest list --task {id}"),
            )
        },
    )
}
