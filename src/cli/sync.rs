//! `cleo sync`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::Value;

use super::Face;
use super::screen::{Screen, Tone, count};
use crate::error::Result;
use crate::id::{self, TaskId};
use crate::ops::transfer::{self, Changes, Synced};
use crate::transfer::merge::Side;

/// Most ids of one kind that stand on a line.
const SHOWN: usize = 5;

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo sync tasks.jsonl --dry-run             see what would change on either side
  cleo sync tasks.jsonl && git add tasks.jsonl

Fields that one side changed are taken over. Where both changed the same field, the later change
counts and both values are listed. Notes are never lost. A task that was deleted on one side and
changed on the other stays. Of two new tasks with the same id, the one from the file gets a new id,
and references to it follow. A dependency from the file that would close a circle is not taken, and
is listed. A changed line names the versions that it comes from (`history`), so that both lines may
stay where git finds a conflict, and a line that git has set back to an older version changes
nothing. Nor does a line that cleo wrote bring back one of the last 1,000 tasks that were deleted:
`cleo undo` does, or `cleo import` of the line. What `--dry-run` suggests about an error only tries,
too, unless it changes or makes files first: that merges.")]
pub(super) struct Arguments {
    /// File of JSON lines, as `cleo export` writes it; made when it is not there
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Report what would change, and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let synced = transfer::sync(&mut face.context()?, &arguments.file, arguments.dry_run)?;
    let mut warnings = Vec::new();
    if !synced.conflicts.is_empty() {
        let conflicts = count(synced.conflicts.len(), "conflict", "conflicts");
        warnings.push(format!(
            "{conflicts}; both values of each are in the answer"
        ));
    }
    if !synced.ahead.is_empty() {
        let ids = id::list(&synced.ahead);
        warnings.push(format!(
            "{ids}: the time of the last change lies ahead of the clock and counts as now"
        ));
    }
    face.reply(&synced, &warnings, |screen| render(screen, &synced))
}

fn render(screen: &mut Screen, synced: &Synced) {
    let tasks = format!(
        "{} with {}",
        count(synced.total, "task", "tasks"),
        synced.file
    );
    match synced.dry_run {
        true => screen.say(Tone::Dim, "would merge "),
        false => screen.say(Tone::Good, "merged "),
    };
    screen.line(Tone::Plain, tasks);
    screen
        .field("here", changes(&synced.here))
        .field("in the file", changes(&synced.in_file));
    if synced.without_created > 0 {
        let text = format!("{} without a time of creation", synced.without_created);
        screen.field("created now", text);
    }
    for each in &synced.renumbered {
        let side = match each.side {
            Side::Here => "here",
            Side::File => "in the file",
        };
        screen
            .say(Tone::Warn, format!("  {} {side} ", each.from))
            .line(
                Tone::Plain,
                format!("is {} now: another task has its id", each.to),
            );
    }
    for conflict in &synced.conflicts {
        let taken = match conflict.taken {
            Side::Here => "here",
            Side::File => "the file",
        };
        let why = conflict.why.map_or(String::new(), |why| format!(": {why}"));
        screen
            .say(
                Tone::Warn,
                format!("  {} {}: ", conflict.id, conflict.field),
            )
            .line(Tone::Plain, format!("taken from {taken}{why}"));
        screen
            .field("here", short(&conflict.here))
            .field("in the file", short(&conflict.file));
    }
}

fn changes(changes: &Changes) -> String {
    let ids = &changes.ids;
    let kinds = [
        ("added", &ids.added),
        ("changed", &ids.changed),
        ("deleted", &ids.deleted),
    ];
    let kinds = kinds.map(|(word, ids)| format!("{} {word}{}", ids.len(), named(ids)));
    kinds.join(", ")
}

/// Names tasks behind their number.
fn named(ids: &[TaskId]) -> String {
    let first = id::list(&ids[..ids.len().min(SHOWN)]);
    match ids.len() {
        0 => String::new(),
        1..=SHOWN => format!(" ({first})"),
        all => format!(" ({first} and {} more)", all - SHOWN),
    }
}

/// Writes a value on a line; a text without its quotes.
fn short(value: &Value) -> String {
    let text = match value {
        Value::Null => "nothing".to_string(),
        Value::String(text) => text.clone(),
        Value::Object(task) if task.contains_key("title") => {
            task["title"].as_str().unwrap_or_default().to_string()
        }
        other => other.to_string(),
    };
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
