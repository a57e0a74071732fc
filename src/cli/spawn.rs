//! `cleo spawn`, also as `cleo orchestrator spawn`.

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::screen::{Screen, Tone};
use crate::config::SPAWN_STRICT;
use crate::error::{Error, Result, quote};
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
    let kept = kept_options(face, &arguments);
    let options = Options {
        template: arguments.template,
        strict: arguments.strict || face.settings.is_on(SPAWN_STRICT),
        force_inject: arguments.force_inject,
        date: arguments.date,
        dry_run: arguments.dry_run,
    };
    let spawned = spawn(&mut face.context()?, arguments.task, &options)
        .map_err(|error| keep_options(error, &kept))?;
    face.output.note(&summary(&spawned));
    face.reply(&spawned, &spawned.warnings, |screen| {
        prompt(screen, &spawned)
    })
}

/// Writes down what the caller asked for besides, so that a fix can say it again.
fn kept_options(face: &Face<'_>, arguments: &Arguments) -> String {
    let folders = face.globals.skills_dir.iter();
    let folders =
        folders.map(|folder| format!(" --skills-dir {}", quote(&folder.to_string_lossy())));
    let date = arguments.date.iter();
    let date = date.map(|date| format!(" --date {}", quote(date)));
    folders.chain(date).collect()
}

fn keep_options(mut error: Error, kept: &str) -> Error {
    let fix = error.fix.as_mut();
    if let Some(fix) = fix.filter(|fix| fix.starts_with("cleo orchestrator spawn ")) {
        fix.push_str(kept);
    }
    error
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
    if std::io::stdout().is_terminal() {
        screen.verbatim(&spawned.prompt);
    } else {
        screen.raw(&spawned.prompt);
    }
    if !spawned.prompt.ends_with('\n') {
        screen.line(Tone::Plain, "");
    }
}
