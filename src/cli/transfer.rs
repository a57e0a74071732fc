//! `cleo import` and `cleo export`

use std::io::{IsTerminal, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use super::Face;
use super::screen::{Screen, Tone, count};
use crate::error::Result;
use crate::ops::transfer::{self, Request};
use crate::transfer::Format;
use crate::transfer::report::{Renamed, Report};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo import .beads/issues.jsonl --dry-run   show what would be imported
  cleo import .taskmaster/tasks/tasks.json
  cleo import backlog/                        a folder of Backlog.md
  task export | cleo import - --open-only
  cleo import todo.json --drop-faults         skip what cannot be imported

The format is detected from the content. An id such as T12 is kept if it is free; other tasks get
the next id and are found by their old one: cleo find OLD-ID. Importing the same file again
updates changed tasks; fields that the file does not have stay unchanged. Control characters are
removed from texts, which is reported. If the file has errors, nothing is imported.

An export of cleo can be imported into any copy of the workspace: tasks are matched by their
`uid`. The later change wins, notes of both copies are kept, tasks that stay unchanged here are
reported, and nothing is deleted. No import reopens a task that is done or claimed.")]
pub(super) struct ImportArguments {
    /// File or folder; - reads standard input
    #[arg(value_name = "FILE|FOLDER")]
    file: PathBuf,

    #[command(flatten)]
    request: Request,
}

pub(super) fn import(face: &mut Face<'_>, arguments: ImportArguments) -> Result<ExitCode> {
    let mut context = face.context()?;
    let report = transfer::import(&mut context, &arguments.file, &arguments.request)?;
    let refused = context.notes.failure.is_some();
    face.answer(&report, context.notes, |screen, report| {
        render(screen, report, refused);
    })
}

fn render(screen: &mut Screen, report: &Report, refused: bool) {
    let what = format!(
        "{} from {}",
        count(report.read, "task", "tasks"),
        report.format.word()
    );
    match (refused, report.dry_run) {
        (true, _) => screen.say(Tone::Bad, "refused "),
        (false, true) => screen.say(Tone::Dim, "would import "),
        (false, false) => screen.say(Tone::Good, "imported "),
    };
    screen.line(Tone::Plain, what);
    if !refused {
        let numbers = [
            ("added", report.added),
            ("updated", report.updated),
            ("unchanged", report.unchanged),
            ("newer here", report.newer_here.total),
        ];
        screen.field("tasks", list_counts(numbers));
    }
    screen.field("left out", describe_left_out(report));
    let counts = report.by_status.iter();
    screen.field(
        "status",
        list_counts(counts.map(|(word, count)| (&**word, *count))),
    );
    let parts = json!(report);
    for (name, key) in [
        ("phases", "phases"),
        ("dependencies", "edges"),
        ("parents", "parents"),
    ] {
        let part = parts[key].as_object().into_iter().flatten();
        let counts = part.map(|(key, part)| (split_name(key), count_items(part)));
        screen.field(name, list_counts(counts));
    }
    let extra = report.extra_fields.iter();
    screen.field(
        "kept in extra",
        list_counts(extra.map(|(name, count)| (&**name, *count))),
    );
    for fault in &report.faults.shown {
        screen.line(Tone::Bad, format!("  {fault}"));
    }
    for one in &report.replaced.shown {
        let text = format!("  {} updated: {}", one.id, one.fields.join(", "));
        screen.line(Tone::Dim, text);
    }
    for one in &report.kept.shown {
        let (fields, reason) = (one.fields.join(", "), one.reason.unwrap_or_default());
        let text = format!("  {} keeps its {fields}: {reason}", one.id);
        screen.line(Tone::Warn, text);
    }
    if report.format == Format::Cleo {
        for Renamed { from, to } in &report.renamed.shown {
            let why = "its id is or was in use here, or is too large";
            screen.line(Tone::Dim, format!("  {from} is {to} here: {why}"));
        }
    } else if report.renamed.total > 0 {
        let what = "could not be kept; cleo find finds tasks by them";
        screen.field("ids", format!("{} {what}", report.renamed.total));
    }
    for (key, part) in parts.as_object().into_iter().flatten() {
        if !["faults", "kept", "leftOut", "renamed", "replaced"].contains(&key.as_str()) {
            render_samples(screen, key, part);
        }
    }
}

fn count_items(part: &Value) -> usize {
    let number = part.as_u64().or(part["total"].as_u64());
    let length = part.as_array().map(Vec::len);
    number.map_or(length.unwrap_or(0), |number| number as usize)
}

/// Splits the name of a field into its words: `on deleted` for `onDeleted`.
fn split_name(name: &str) -> String {
    let letter = |letter: char| match letter.is_uppercase() {
        true => format!(" {}", letter.to_ascii_lowercase()),
        false => letter.to_string(),
    };
    name.chars().map(letter).collect()
}

/// Writes a line for each item that a part of the report shows, and how many more there are.
fn render_samples(screen: &mut Screen, name: &str, part: &Value) {
    let Some(shown) = part["shown"].as_array() else {
        let parts = part.as_object().into_iter().flatten();
        return parts.for_each(|(name, part)| render_samples(screen, name, part));
    };
    for item in shown {
        let fields = item.as_object().into_iter().flatten();
        let (ids, others): (Vec<_>, Vec<_>) = fields.partition(|(key, _)| *key == "id");
        let texts = ids.into_iter().chain(others).map(|(_, text)| text);
        let texts = texts.filter(|it| !it.is_null());
        let texts = texts.chain(item.as_str().map(|_| item)).map(describe_value);
        let text = texts.collect::<Vec<_>>().join("  ");
        screen.pair(Tone::Dim, format!("  {}  ", split_name(name)), text);
    }
    let hidden = count_items(part) - shown.len();
    if hidden > 0 {
        screen.line(Tone::Dim, format!("  and {hidden} more"));
    }
}

fn describe_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items
            .iter()
            .map(describe_value)
            .collect::<Vec<_>>()
            .join(", "),
        value => value.to_string(),
    }
}

/// Writes numbers with their names; zeros are left out.
fn list_counts<N: std::fmt::Display>(counts: impl IntoIterator<Item = (N, usize)>) -> String {
    let there = counts.into_iter().filter(|(_, count)| *count > 0);
    let parts = there.map(|(name, count)| format!("{count} {name}"));
    parts.collect::<Vec<_>>().join(", ")
}

fn describe_left_out(report: &Report) -> String {
    let mut reasons: std::collections::BTreeMap<&str, usize> = Default::default();
    for left in &report.left_out.shown {
        *reasons.entry(&left.reason).or_insert(0) += 1;
    }
    let more = report.left_out.total - report.left_out.shown.len();
    list_counts(reasons.into_iter().chain([("more", more)]))
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo export --output tasks.jsonl            one task per line, sorted by id, for git
  cleo export --format text | head            print the lines

The same tasks always give the same bytes, and a changed task changes one line. `cleo import`
reads the file, also in another copy of the workspace. --output overwrites an earlier export of
this workspace, and any other file only with --overwrite.")]
pub(super) struct ExportArguments {
    /// File to write [default: put the lines into the answer]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Overwrite the file, whatever it is
    #[arg(long, requires = "output")]
    overwrite: bool,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo backup                                 into .cleo/cleo.db-TIME
  cleo backup /mnt/safe/cleo.db

The copy is whole, also while agents work, and also of a database on a server. To go back to it,
stop everything that uses the workspace and put the copy in the place of .cleo/cleo.db, with
cleo.db-wal, cleo.db-shm and cleo.db-last moved away.
Numbers and epochs that were given since the copy are then given again.
Skills, settings, outputs and the manifest are files of the project, which git keeps.")]
pub(super) struct BackupArguments {
    /// New file to write [default: .cleo/cleo.db-TIME]
    file: Option<PathBuf>,
}

pub(super) fn backup(face: &mut Face<'_>, arguments: BackupArguments) -> Result<ExitCode> {
    let work = |context: &mut _| transfer::backup(context, arguments.file.as_deref());
    face.inside("backup", work, |screen, copied| {
        let size = format!("  {} bytes", copied.bytes);
        screen
            .say(Tone::Good, "copied to ")
            .say(Tone::Plain, &copied.file);
        screen.line(Tone::Dim, size);
    })
}

pub(super) fn export(face: &mut Face<'_>, arguments: ExportArguments) -> Result<ExitCode> {
    let ExportArguments { output, overwrite } = arguments;
    let work = |context: &mut _| transfer::export(context, output.as_deref(), overwrite);
    face.inside("export", work, |screen, exported| match &exported.text {
        // A pipe gets the exact bytes. Only a terminal could obey escape sequences in them.
        Some(text) if !stdout().is_terminal() => drop(screen.raw(text)),
        Some(text) => drop(screen.verbatim(text)),
        None => {
            let file = exported.file.as_deref().unwrap_or_default();
            let tasks = count(exported.total, "task", "tasks");
            screen.line(Tone::Good, format!("{tasks} written to {file}"));
        }
    })
}
