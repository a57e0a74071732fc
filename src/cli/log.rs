//! `cleo log`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::screen::{Cell, Screen, Tone, accent, dim, format_time, strong};
use crate::error::Result;
use crate::ops::api;
use crate::ops::log::{self, Entry, Logged, Shown, describe};
use crate::ops::undo::Undone;
use crate::runner::signals;
use crate::store::OperationFilter;
use crate::store::log::CHANGED;

/// Changes of one operation that are shown by default.
const CHANGES: u32 = 1_000;

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo log
  cleo log --task T3 --since 2d
  cleo log --operation 12                     show all changed fields
  cleo undo 12                                undo it
  cleo log --follow                           print new changes as they happen
  cleo log --follow --after 57                also those after cursor 57
  cleo log --json | jq -r '.result.operations[] | [.number, .summary] | @tsv'")]
pub(super) struct Arguments {
    #[command(flatten)]
    query: OperationFilter,

    /// Show one operation with all its changes
    #[arg(long, short, value_name = "OPERATION", conflicts_with_all = ["task", "since", "before"])]
    operation: Option<u64>,

    /// Print changes as they happen, one per line with its cursor, until interrupted
    #[arg(long, short, conflicts_with_all = ["since", "before", "operation", "limit"])]
    follow: bool,

    /// With --follow: start after the change with this cursor; 0 starts at the first
    #[arg(long, value_name = "CURSOR", requires = "follow")]
    after: Option<u64>,
}

fn follow(face: &mut Face<'_>, arguments: &Arguments) -> Result<ExitCode> {
    let mut context = face.context()?;
    // It only reads, so signals may end it anywhere.
    signals::end_at_once()?;
    let mut stream = face.output.stream();
    log::follow(
        &mut context,
        arguments.after,
        arguments.query.task,
        &mut |change| match change {
            Some(change) => {
                stream.row(change, |screen| {
                    screen
                        .say(Tone::Strong, format!("{:>6}  ", change.cursor))
                        .say(Tone::Dim, format_time(&change.at) + "  ")
                        .say(Tone::Accent, &change.by)
                        .say(Tone::Dim, format!("  {}  ", change.command))
                        .line(Tone::Plain, log::describe(&change.change));
                });
                stream.is_open()
            }
            None => stream.has_reader(),
        },
    )?;
    Ok(face.output.end(stream))
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    if arguments.follow {
        return follow(face, &arguments);
    }
    if let Some(number) = arguments.operation {
        let limit = arguments.query.limit.unwrap_or(CHANGES);
        let work = |context: &mut _| log::operation(context, number, limit);
        return face.inside("log", work, render_one);
    }
    face.call(&api::LOG, arguments.query, render)
}

fn render(screen: &mut Screen, logged: &Logged) {
    let head = ["OP", "WHEN", "BY", "COMMAND", "WHAT"];
    if logged.total == 0 || !logged.operations.is_empty() {
        screen.list("no operations", &head, logged.operations.iter().map(row));
    }
    screen.cut_at(logged.operations.len(), logged.total, "operations");
}

fn row(entry: &Entry) -> [Cell; 5] {
    let operation = &entry.operation;
    let tone = match operation.undone_by {
        Some(_) => Tone::Dim,
        None => Tone::Plain,
    };
    [
        strong(operation.number),
        dim(format_time(&operation.at)),
        accent(&operation.by),
        (tone, operation.command.clone()),
        (tone, format!("{}{}", entry.summary, describe_undo(entry))),
    ]
}

fn describe_undo(entry: &Entry) -> String {
    let told = |what: &str, number: Option<u64>| {
        let told = number.map(|number| format!(" ({what} {number})"));
        told.unwrap_or_default()
    };
    let operation = &entry.operation;
    told("undoes", operation.undoes) + &told("undone by", operation.undone_by)
}

fn render_one(screen: &mut Screen, shown: &Shown) {
    let operation = &shown.operation.operation;
    screen
        .say(Tone::Strong, format!("operation {}", operation.number))
        .line(Tone::Dim, describe_undo(&shown.operation));
    screen
        .field("command", &operation.command)
        .field("by", &operation.by)
        .time("at", &operation.at);
    for recorded in &shown.changes {
        let change = &recorded.change;
        let fields = change.detail.as_object().filter(|_| change.kind == CHANGED);
        match (fields, change.task) {
            (Some(fields), Some(task)) => {
                screen.line(Tone::Plain, format!("changed {task}"));
                for (name, step) in fields {
                    screen.field(name, log::describe_transition(step));
                }
            }
            _ => {
                screen.line(Tone::Plain, log::describe(change));
            }
        }
    }
    screen.cut_at(shown.changes.len(), shown.total, "changes");
}

pub(super) fn render_undo(screen: &mut Screen, undone: &Undone) {
    let operation = &undone.operation.operation;
    let (tone, verb) = match undone.dry_run {
        true => (Tone::Plain, "Would undo"),
        false => (Tone::Good, "Undid"),
    };
    let what = format!(
        " operation {} ({}): {}",
        operation.number, operation.command, undone.operation.summary
    );
    screen.pair(tone, verb, what);
    for change in &undone.changes {
        screen.line(Tone::Dim, format!("  {}", describe(change)));
    }
    screen.cut_at(undone.changes.len(), undone.total as u64, "changes");
    let redo = undone.undo.map(|number| format!("cleo undo {number}"));
    screen.field("redo", redo.unwrap_or_default());
}
