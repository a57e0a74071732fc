//! `cleo verify …`

mod gate;
pub(super) mod hook;
pub(super) mod standing;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::screen::{Screen, Tone};
use crate::error::Result;
use crate::file::read_input;
use crate::ops::api;
use crate::ops::proof::{self, MessageSent, Output, PromptSent, Report, WhichEntry};

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

Evidence is bound to the files of the task: those declared with --file (src/auth for all files
below a folder, src/**/*.rs, {ts,tsx}, [a-z]), else all files that git does not ignore. When one
of them changes, the evidence is stale, and `complete` requires it again."
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    gate: gate::GateArguments,
}

commands! {
    (face, it)
    /// Check that a prompt carries the subagent protocol (exit 60)
    Prompt(PromptArguments) => face.anywhere(
        "verify.prompt",
        |around, notes| {
            let bytes = read_input(&it.file, PROMPT_MAX)?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            proof::prompt(around, notes, PromptSent { text, ..it.sent })
        },
        |screen, verdict| render(screen, &format!("prompt {}", it.file.display()), verdict),
    );
    /// Check that an agent's final message is one of the allowed sentences (exit 61)
    #[command(after_help = "\
Examples:
  cleo verify message 'Research complete. See MANIFEST.jsonl for summary.'

The message must match the sentence exactly, without spaces or line breaks around it.")]
    Message(MessageSent) => face.call(&api::VERIFY_MESSAGE, it, |screen, found| {
        render(screen, "message", &found.report);
    });
    /// Check the manifest (exit 6), or one entry of it (exit 62 when it is missing)
    #[command(after_help = "\
Examples:
  cleo verify manifest
  cleo verify manifest auth-2026-01-26")]
    Manifest(WhichEntry) => {
        let entry = it.entry.as_ref().map(|id| format!("entry {id}"));
        let what = entry.unwrap_or_else(|| "manifest".to_string());
        face.call(&api::VERIFY_MANIFEST, it, |screen, found| {
            render(screen, &what, &found.report);
        })
    };
    /// Check the manifest entry and the output file of a task (exit 62, 63)
    #[command(after_help = "Examples:\n  cleo verify output T3")]
    Output(Output) => face.call(&api::VERIFY_OUTPUT, it, |screen, found| {
        let place = found.worktree.as_ref().map(|place| format!(" in {place}"));
        let what = format!("output of {}{}", found.task_id, place.unwrap_or_default());
        render(screen, &what, &found.report);
    });
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo verify prompt prompt.md
  cleo verify prompt prompt.md --task T3
  cleo spawn T3 | jq -r .result.prompt | cleo verify prompt - --strict")]
pub(super) struct PromptArguments {
    /// Prompt file; - reads standard input
    file: PathBuf,

    #[command(flatten)]
    sent: PromptSent,
}

/// Largest prompt that is read, in bytes.
const PROMPT_MAX: u64 = 16 << 20;

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    match arguments.command {
        Some(command) => dispatch(face, command),
        None => face.run("verify", arguments.gate, gate::run),
    }
}

fn render(screen: &mut Screen, what: &str, report: &Report) {
    screen.verdict(["fail", "pass"][usize::from(report.has_passed())], 5, what);
    for found in &report.violations {
        screen.pair(Tone::Dim, format!("  {}: ", found.rule), &found.message);
    }
}
