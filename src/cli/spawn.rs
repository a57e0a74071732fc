//! `cleo spawn`, also as `cleo orchestrator spawn`

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::Face;
use super::arguments::Format;
use super::screen::{Cell, Screen, Tone, count};
use crate::config::SPAWN_STRICT;
use crate::error::{Error, Result, quote};
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::spawn::{Batch, Options, Selection, Spawned, select, spawn, spawn_batch};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo spawn T3 --format text > prompt.md
  cleo spawn T3 | jq -r .result.prompt | claude -p
  cleo orchestrator spawn T3 --template research-agent
  cleo spawn T3 --dry-run --strict
  cleo orchestrator spawn T3 T5 T8 | jq -r '.result.spawns[] | .taskId + \" \" + .outputFile'
  cleo orchestrator spawn --epic T1 --wave --format ndjson

With several tasks, or a wave, one that fails does not lose the others: the answer holds the
prompts that were prepared and names the tasks without one (exit 81). With --format ndjson each
prompt is on a line of its own as soon as it is kept, and the last line sums up.")]
pub(super) struct Arguments {
    /// The task, or several
    #[arg(required_unless_present = "epic", value_name = "TASK")]
    tasks: Vec<TaskId>,

    /// Prepare a wave of this epic: what is ready now, unless --wave names a later one
    #[arg(long, value_name = "TASK", conflicts_with = "tasks")]
    epic: Option<TaskId>,

    /// Number of the wave as `orchestrator waves` shows it; what is ready now when left out
    #[arg(long, value_name = "NUMBER", num_args = 0..=1, requires = "epic")]
    wave: Option<Option<usize>>,

    /// At most so many tasks of the wave, the most urgent first
    #[arg(long, value_name = "NUMBER", requires = "epic")]
    limit: Option<usize>,

    #[command(flatten)]
    options: Options,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let mut options = arguments.options;
    let kept = kept_options(face, &options);
    options.strict |= face.settings.is_on(SPAWN_STRICT);
    let selection = match (arguments.epic, arguments.tasks.as_slice()) {
        (None, [task]) => return one(face, *task, &options, &kept),
        (None, _) => Selection::Tasks(arguments.tasks),
        (Some(epic), _) => Selection::Wave {
            epic,
            number: arguments.wave.flatten(),
            limit: arguments.limit,
        },
    };
    spawn_many(face, selection, &options, &kept)
}

fn one(face: &mut Face<'_>, task: TaskId, options: &Options, kept: &str) -> Result<ExitCode> {
    let spawned = spawn(&mut face.context()?, task, options);
    let spawned = spawned.map_err(|error| with_kept(error, kept))?;
    face.output.note(&summary(&spawned));
    face.reply(&spawned, &spawned.warnings, |screen| {
        prompt(screen, &spawned)
    })
}

/// Writes down what the caller asked for besides, so that a fix can say it again.
fn kept_options(face: &Face<'_>, options: &Options) -> String {
    let folders = face.globals.skills_dir.iter();
    let folders =
        folders.map(|folder| format!(" --skills-dir {}", quote(&folder.to_string_lossy())));
    let date = options.date.iter();
    let date = date.map(|date| format!(" --date {}", quote(date)));
    let dry_run = options.dry_run.then(|| " --dry-run".to_string());
    folders.chain(date).chain(dry_run).collect()
}

fn keep_options(error: &mut Error, kept: &str) {
    let others = error.alternatives.iter_mut();
    let others = others.map(|other| &mut other.command);
    for command in error.fix.iter_mut().chain(others) {
        if command.starts_with("cleo orchestrator spawn ") {
            command.push_str(kept);
        }
    }
}

fn with_kept(mut error: Error, kept: &str) -> Error {
    keep_options(&mut error, kept);
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

/// The answer in one document.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(super) struct Document {
    spawns: Vec<Spawned>,
    #[serde(flatten)]
    batch: Batch,
}

pub(super) fn spawn_many(
    face: &mut Face<'_>,
    selection: Selection,
    options: &Options,
    kept: &str,
) -> Result<ExitCode> {
    let mut context = face.context()?;
    let (ids, left_out) = select(&mut context, selection)?;
    if ids.is_empty() {
        face.output.note(match left_out.is_empty() {
            true => "nothing is ready in this wave",
            false => "all that is ready in this wave touches files of tasks under way",
        });
    }
    let work = |context: &mut Context, take: &mut dyn FnMut(Spawned) -> bool| {
        let batch = spawn_batch(context, &ids, options, take);
        let mut batch = batch.map_err(|error| with_kept(error, kept))?;
        for failed in &mut batch.failed {
            keep_options(&mut failed.error, kept);
        }
        batch.warnings.splice(0..0, left_out.iter().cloned());
        let error = batch.error(options, kept);
        Ok((batch, error))
    };
    if face.output.format() == Format::Ndjson {
        return stream(face, |take| work(&mut context, take));
    }
    let mut spawns = Vec::new();
    let (batch, error) = work(&mut context, &mut |spawned| {
        spawns.push(spawned);
        true
    })?;
    let document = Document { spawns, batch };
    let warnings = &document.batch.warnings;
    face.outcome(&document, error, warnings, |screen| {
        show_batch(screen, &document)
    })
}

type Done = (Batch, Option<Error>);

fn stream(
    face: &mut Face<'_>,
    work: impl FnOnce(&mut dyn FnMut(Spawned) -> bool) -> Result<Done>,
) -> Result<ExitCode> {
    let name = face.name;
    let mut lines = face.output.stream();
    let (batch, error) = work(&mut |spawned| lines.send(name, &Ok(spawned)))?;
    let error = face.with_fix(error);
    lines.finish(name, &batch, error.as_ref(), &batch.warnings);
    Ok(face.output.end(lines))
}

/// People see what was prepared; the prompts are too long to be read one behind the other.
fn show_batch(screen: &mut Screen, document: &Document) {
    let row = |spawned: &Spawned| -> Vec<Cell> {
        vec![
            (Tone::Accent, spawned.task_id.to_string()),
            (Tone::Plain, spawned.skill.clone()),
            (Tone::Dim, spawned.token_estimate.total.to_string()),
            (Tone::Plain, spawned.output_file.clone()),
        ]
    };
    if !document.spawns.is_empty() {
        let head = ["TASK", "SKILL", "TOKENS", "OUTPUT"];
        screen.table(&head, document.spawns.iter().map(row).collect());
    }
    for failed in &document.batch.failed {
        screen
            .say(Tone::Bad, format!("{} ", failed.task_id))
            .line(Tone::Plain, failed.error.shown());
    }
    screen.line(Tone::Dim, count(document.batch.total, "prompt", "prompts"));
}
