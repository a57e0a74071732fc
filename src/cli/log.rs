//! `cleo log`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::arguments::past;
use super::output::Stream;
use super::screen::{Cell, Screen, Tone};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::log::{self, Entry, Listener, Logged, Shown, describe};
use crate::ops::undo;
use crate::runner::signals;
use crate::store::log::CHANGED;
use crate::store::{OperationFilter, Recorded};

/// Changes of one operation that are shown unless told otherwise.
const CHANGES: u32 = 1_000;
/// Operations that are shown unless told otherwise.
const OPERATIONS: u32 = 20;

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo log
  cleo log --task T3 --since 2d
  cleo log --operation 12                     what it changed, field by field
  cleo undo 12                                undo it
  cleo log --follow                           each change from now on, one a line
  cleo log --follow --after 57                each change after the one with cursor 57
  cleo log --json | jq -r '.result.operations[] | [.number, .summary] | @tsv'")]
pub(super) struct Arguments {
    /// Only operations that changed this task, also one that is deleted
    #[arg(long, short, value_name = "TASK")]
    task: Option<TaskId>,

    /// Only operations since then: a date, a time or an age such as 90m, 12h, 2d or 1w
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,

    /// Only operations before this one
    #[arg(long, value_name = "OPERATION")]
    before: Option<u64>,

    /// One operation, with all that it changed
    #[arg(long, short, value_name = "OPERATION", conflicts_with_all = ["task", "since", "before"])]
    operation: Option<u64>,

    /// At most so many operations (20), or changes of one operation (1000)
    #[arg(long, value_name = "N")]
    limit: Option<u32>,

    /// Show each change as it is made, one a line with its cursor, until interrupted
    #[arg(long, short, conflicts_with_all = ["since", "before", "operation", "limit"])]
    follow: bool,

    /// With --follow: begin after the change with this cursor; 0 is the beginning
    #[arg(long, value_name = "CURSOR", requires = "follow")]
    after: Option<u64>,
}

impl Listener for Stream<'_> {
    fn tell(&mut self, recorded: &Recorded) -> bool {
        self.row(recorded, |screen| {
            screen
                .say(Tone::Strong, format!("{:>6}  ", recorded.cursor))
                .say(Tone::Dim, when(&recorded.at) + "  ")
                .say(Tone::Accent, &recorded.by)
                .say(Tone::Dim, format!("  {}  ", recorded.command))
                .line(Tone::Plain, log::describe(&recorded.change));
        })
    }

    fn listens(&mut self) -> bool {
        self.has_reader()
    }
}

fn follow(face: &mut Face<'_>, arguments: &Arguments) -> Result<ExitCode> {
    let mut context = face.context()?;
    // It only reads, so it may end anywhere.
    signals::end_at_once()?;
    let mut stream = face.output.stream();
    log::follow(&mut context, arguments.after, arguments.task, &mut stream)?;
    Ok(face.output.end(stream))
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    if arguments.follow {
        return follow(face, &arguments);
    }
    let mut context = face.context()?;
    if let Some(number) = arguments.operation {
        let shown = log::operation(&mut context, number, arguments.limit.unwrap_or(CHANGES))?;
        return face.reply(&shown, &[], |screen| render_one(screen, &shown));
    }
    let now = context.surroundings.clock.now();
    let since = arguments.since.map(|text| past(&text, now)).transpose()?;
    let filter = OperationFilter {
        task: arguments.task,
        since,
        before: arguments.before,
        limit: Some(arguments.limit.unwrap_or(OPERATIONS)),
        ..OperationFilter::default()
    };
    let logged = log::log(&mut context, &filter)?;
    face.reply(&logged, &[], |screen| render(screen, &logged))
}

fn render(screen: &mut Screen, logged: &Logged) {
    if logged.total == 0 {
        screen.line(Tone::Dim, "nothing was done");
        return;
    }
    if !logged.operations.is_empty() {
        let head = ["OP", "WHEN", "BY", "COMMAND", "WHAT"];
        screen.table(&head, logged.operations.iter().map(row).collect());
    }
    let shown = logged.operations.len() as u64;
    if shown < logged.total {
        let all = format!("{shown} of {} operations", logged.total);
        screen.line(Tone::Dim, all);
    }
}

fn row(entry: &Entry) -> Vec<Cell> {
    let operation = &entry.operation;
    let tone = match operation.undone_by {
        Some(_) => Tone::Dim,
        None => Tone::Plain,
    };
    vec![
        (Tone::Strong, operation.number.to_string()),
        (Tone::Dim, when(&operation.at)),
        (Tone::Accent, operation.by.clone()),
        (tone, operation.command.clone()),
        (tone, format!("{}{}", entry.summary, standing(entry))),
    ]
}

fn standing(entry: &Entry) -> String {
    let told = |what: &str, number: Option<u64>| {
        let told = number.map(|number| format!(" ({what} {number})"));
        told.unwrap_or_default()
    };
    let operation = &entry.operation;
    told("undoes", operation.undoes) + &told("undone by", operation.undone_by)
}

/// Shows a time to the second, as in `2026-01-26 09:00:12`.
fn when(at: &str) -> String {
    at.get(..19).unwrap_or(at).replace('T', " ")
}

fn render_one(screen: &mut Screen, shown: &Shown) {
    let operation = &shown.operation.operation;
    screen
        .say(Tone::Strong, format!("operation {}", operation.number))
        .line(Tone::Dim, standing(&shown.operation));
    screen
        .field("command", &operation.command)
        .field("by", &operation.by)
        .field("at", &operation.at);
    for recorded in &shown.changes {
        let change = &recorded.change;
        let fields = change.detail.as_object().filter(|_| change.kind == CHANGED);
        match (fields, change.task) {
            (Some(fields), Some(task)) => {
                screen.line(Tone::Plain, format!("changed {task}"));
                for (name, step) in fields {
                    screen.field(name, log::transition(step));
                }
            }
            _ => {
                screen.line(Tone::Plain, log::describe(change));
            }
        }
    }
    let count = shown.changes.len() as u64;
    if count < shown.total {
        screen.line(Tone::Dim, format!("{count} of {} changes", shown.total));
    }
}

#[derive(Args)]
#[command(after_help = "\
Without a number: your own latest operation (that of CLEO_AGENT) that is neither an undo nor undone.
Name anybody else's by its number.
Only tasks and their links are undone, never claims, sessions, phases and runs. If a later operation
changed the same again, undo names it and changes nothing.

Examples:
  cleo undo --dry-run
  cleo undo
  cleo undo 12                                the number is that of `cleo log`")]
pub(super) struct UndoArguments {
    /// Number of the operation
    operation: Option<u64>,

    /// Show what would be changed
    #[arg(long, short = 'n')]
    dry_run: bool,
}

pub(super) fn undo(face: &mut Face<'_>, arguments: UndoArguments) -> Result<ExitCode> {
    let undone = undo::undo(&mut face.context()?, arguments.operation, arguments.dry_run)?;
    face.reply(&undone, &undone.warnings, |screen| {
        let operation = &undone.operation.operation;
        let (tone, verb) = match undone.dry_run {
            true => (Tone::Plain, "Would undo"),
            false => (Tone::Good, "Undid"),
        };
        let what = format!(
            " operation {} ({}): {}",
            operation.number, operation.command, undone.operation.summary
        );
        screen.say(tone, verb).line(Tone::Plain, what);
        for change in &undone.changes {
            screen.line(Tone::Dim, format!("  {}", describe(change)));
        }
        if undone.changes.len() < undone.total {
            let all = format!("  {} of {} changes", undone.changes.len(), undone.total);
            screen.line(Tone::Dim, all);
        }
        let redo = undone.undo.map(|number| format!("cleo undo {number}"));
        screen.field("redo", redo.unwrap_or_default());
    })
}
