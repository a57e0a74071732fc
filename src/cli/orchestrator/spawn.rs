//! `cleo spawn`, also as `cleo orchestrator spawn`

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::cli::Face;
use crate::cli::arguments::Format;
use crate::cli::screen::{Screen, Tone, accent, count, dim, plain};
use crate::config::SPAWN_STRICT;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::Notes;
use crate::ops::spawn::{Batch, Options, Selection, Spawned, spawn, spawn_many};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo spawn T3 --format text > prompt.md
  cleo spawn T3 | jq -r .result.prompt | claude -p
  cleo spawn T3 --template research-agent
  cleo spawn T3 --dry-run --strict
  cleo spawn T3 T5 T8 | jq -r '.result.spawns[] | .taskId + \" \" + .outputFile'
  cleo spawn --epic T1 --wave --format ndjson

If some of several tasks fail, the reply has the prompts of the others and names the failed tasks
(exit 81). With --format ndjson, each prompt is printed on its own line as soon as it is recorded;
the last line is the summary.")]
pub(in crate::cli) struct Arguments {
    /// One or more tasks
    #[arg(required_unless_present = "epic", value_name = "TASK")]
    tasks: Vec<TaskId>,

    /// Prepare the ready tasks of this epic, or the wave named by --wave
    #[arg(long, value_name = "TASK", conflicts_with = "tasks")]
    epic: Option<TaskId>,

    /// Number of the wave in `orchestrator waves` [default: the ready tasks]
    #[arg(long, value_name = "NUMBER", num_args = 0..=1, requires = "epic")]
    wave: Option<Option<usize>>,

    /// Maximum number of tasks of the wave, most urgent first
    #[arg(long, value_name = "NUMBER", requires = "epic")]
    limit: Option<usize>,

    #[command(flatten)]
    options: Options,
}

pub(in crate::cli) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let mut options = arguments.options;
    options.strict |= face.settings.is_on(SPAWN_STRICT);
    let selection = match (arguments.epic, arguments.tasks.as_slice()) {
        (None, [task]) => {
            return one(
                face,
                Options {
                    task: *task,
                    ..options
                },
            );
        }
        (None, _) => Selection::Tasks(arguments.tasks),
        (Some(epic), _) => Selection::Wave {
            epic,
            number: arguments.wave.flatten(),
            limit: arguments.limit,
        },
    };
    match face.output.format() {
        Format::Ndjson => stream(face, selection, &options),
        _ => collect(face, selection, &options),
    }
}

fn one(face: &mut Face<'_>, options: Options) -> Result<ExitCode> {
    let mut context = face.context()?;
    let spawned = spawn(&mut context, options)?;
    face.output.note(&summary(&spawned));
    face.answer(&spawned, context.notes, prompt)
}

/// Returns a summary for standard error, because standard output has only the prompt.
fn summary(spawned: &Spawned) -> String {
    format!(
        "{} → {} ({}), about {} tokens, output {}, entry {}",
        spawned.task_id,
        spawned.skill,
        spawned.receipt.chosen.reason,
        spawned.prepared.token_estimate.total,
        spawned.output_file,
        spawned.manifest_id
    )
}

/// Prints the prompt byte for byte, except on a terminal, which it must not control.
fn prompt(screen: &mut Screen, spawned: &Spawned) {
    if std::io::stdout().is_terminal() {
        screen.verbatim(&spawned.prepared.prompt);
    } else {
        screen.raw(&spawned.prepared.prompt);
    }
    if !spawned.prepared.prompt.ends_with('\n') {
        screen.line(Tone::Plain, "");
    }
}

/// The answer in one document.
#[derive(Serialize, schemars::JsonSchema)]
pub(in crate::cli) struct Document {
    spawns: Vec<Spawned>,
    #[serde(flatten)]
    batch: Batch,
}

fn collect(face: &mut Face<'_>, selection: Selection, options: &Options) -> Result<ExitCode> {
    let mut context = face.context()?;
    let mut spawns = Vec::new();
    let batch = spawn_many(&mut context, selection, options, &mut |spawned| {
        spawns.push(spawned);
        true
    })?;
    note_nothing(face, &batch);
    face.answer(&Document { spawns, batch }, context.notes, show_batch)
}

fn stream(face: &mut Face<'_>, selection: Selection, options: &Options) -> Result<ExitCode> {
    let mut context = face.context()?;
    let mut lines = face.output.stream();
    let mut take = |spawned| {
        lines.send(face.name, &Ok(spawned));
        lines.is_open()
    };
    let batch = spawn_many(&mut context, selection, options, &mut take)?;
    note_nothing(face, &batch);
    let Notes {
        warnings, failure, ..
    } = context.notes;
    let error = face.with_fix(failure);
    lines.finish(face.name, &batch, error.as_ref(), &warnings);
    Ok(face.output.end(lines))
}

fn note_nothing(face: &Face<'_>, batch: &Batch) {
    if batch.total == 0 && batch.failed.is_empty() {
        face.output.note("nothing is ready in this wave");
    }
}

/// Lists the prepared tasks; their prompts are too long for a terminal.
fn show_batch(screen: &mut Screen, document: &Document) {
    let rows = document.spawns.iter().map(|spawned| {
        [
            accent(spawned.task_id),
            plain(&spawned.skill),
            dim(spawned.prepared.token_estimate.total),
            plain(&spawned.output_file),
        ]
    });
    if document.batch.total > 0 {
        screen.rows(&["TASK", "SKILL", "TOKENS", "OUTPUT"], rows);
    }
    for failed in &document.batch.failed {
        screen
            .say(Tone::Bad, format!("{} ", failed.task_id))
            .line(Tone::Plain, failed.error.display_message());
    }
    screen.line(Tone::Dim, count(document.batch.total, "prompt", "prompts"));
}
