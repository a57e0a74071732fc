//! `cleo spawn`, also as `cleo orchestrator spawn`.

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::screen::{Screen, Tone};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::spawn::{Options, Spawned, spawn};

/// Prepare the prompt for a task: the right skill, every token, the protocol
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo spawn T3 --format text > prompt.md
  cleo spawn T3 | jq -r .result.prompt | claude -p
  cleo orchestrator spawn T3 --template research-agent
  cleo spawn T3 --dry-run --strict")]
pub(super) struct Arguments {
    /// The task
    task: TaskId,

    /// Use this skill, in any letter case, with or without ct-
    #[arg(long, short, value_name = "SKILL")]
    template: Option<String>,

    /// Refuse unresolved tokens and protocols that are no known version
    #[arg(long)]
    strict: bool,

    /// Add the protocol block when the prompt lacks it
    #[arg(long)]
    force_inject: bool,

    /// Date in the prompt and in the names, instead of today
    #[arg(long, value_name = "DATE")]
    date: Option<String>,

    /// Record nothing
    #[arg(long, short = 'n')]
    dry_run: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let options = Options {
        template: arguments.template,
        strict: arguments.strict,
        force_inject: arguments.force_inject,
        date: arguments.date,
        dry_run: arguments.dry_run,
    };
    let spawned = spawn(&mut face.context()?, arguments.task, &options)?;
    face.output.note(&summary(&spawned));
    face.reply(&spawned, &spawned.warnings, |screen| {
        prompt(screen, &spawned)
    })
}

/// Says on standard error what the prompt is, as standard output holds only the prompt.
fn summary(spawned: &Spawned) -> String {
    format!(
        "{} → {} ({}), about {} tokens, output {}, entry {}",
        spawned.task_id,
        spawned.skill,
        spawned.receipt.reason,
        spawned.token_estimate.total,
        spawned.output_file,
        spawned.manifest_id
    )
}

/// The prompt goes out byte for byte, except to a terminal, which it must not steer.
fn prompt(screen: &mut Screen, spawned: &Spawned) {
    screen.verbatim(&spawned.prompt);
    if !spawned.prompt.ends_with('\n') {
        screen.line(Tone::Plain, "");
    }
}
