//! `cleo archive`, `unarchive` and `delete`

use std::process::ExitCode;

use clap::{ArgGroup, Args};

use super::Face;
use super::arguments::past;
use super::screen::{Screen, Tone, count};
use crate::error::Result;
use crate::id::{self, TaskId};
use crate::ops::tasks::{self, Archival, Selection};

/// How many tasks are named on a screen.
const NAMED: usize = 20;
/// What says which tasks go.
const WHICH: [&str; 4] = ["tasks", "done_before", "older_than", "epic"];

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo archive T3 T4
  cleo archive --older-than 30d --dry-run
  cleo archive --done-before 2026-01-01 --epic T1
  cleo list --archived
  cleo unarchive T3")]
#[command(group = ArgGroup::new("which").required(true).multiple(true).args(WHICH))]
pub(super) struct ArchiveArguments {
    /// The tasks, each with everything below it
    #[arg(value_name = "TASK")]
    tasks: Vec<TaskId>,

    /// All that were done or cancelled before this date, with everything below them
    #[arg(long, value_name = "DATE")]
    done_before: Option<String>,

    /// All that were done or cancelled longer ago, such as 12h, 30d or 2w
    #[arg(long, value_name = "AGE", conflicts_with = "done_before")]
    older_than: Option<String>,

    /// Only this task and what is below it; alone, all of it
    #[arg(long, value_name = "TASK", conflicts_with = "tasks")]
    epic: Option<TaskId>,

    /// Show what would be archived
    #[arg(long, short = 'n')]
    dry_run: bool,
}

pub(super) fn archive(face: &mut Face<'_>, arguments: ArchiveArguments) -> Result<ExitCode> {
    let dry_run = arguments.dry_run;
    let mut context = face.context()?;
    let now = context.surroundings.clock.now();
    let moment = arguments.done_before.or(arguments.older_than);
    let closed_before = moment.map(|text| past(&text, now)).transpose()?;
    let alone = arguments.epic.filter(|_| closed_before.is_none());
    let selection = Selection {
        tasks: arguments.tasks.into_iter().chain(alone).collect(),
        closed_before,
        epic: arguments.epic,
    };
    let archived = tasks::archive(&mut context, &selection, dry_run)?;
    face.reply(&archived, &[], |screen| {
        show_moved(screen, ["Archived", "Would archive"], &archived)
    })
}

fn show_moved(screen: &mut Screen, [done, would]: [&str; 2], moved: &Archival) {
    if moved.tasks.is_empty() {
        screen.line(Tone::Dim, "nothing to do");
        return;
    }
    let (tone, verb) = match moved.dry_run {
        true => (Tone::Plain, would),
        false => (Tone::Good, done),
    };
    let named = &moved.tasks[..moved.total.min(NAMED)];
    let more = match moved.total - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let what = count(moved.total, "task", "tasks");
    screen
        .say(tone, verb)
        .line(Tone::Plain, format!(" {what}: {}{more}", id::list(named)));
}

#[derive(Args)]
#[command(after_help = "Examples:\n  cleo unarchive T3\n  cleo list --archived")]
pub(super) struct UnarchiveArguments {
    /// The tasks, each with everything below it
    #[arg(required = true, value_name = "TASK")]
    tasks: Vec<TaskId>,

    /// Show what would be taken out
    #[arg(long, short = 'n')]
    dry_run: bool,
}

pub(super) fn unarchive(face: &mut Face<'_>, arguments: UnarchiveArguments) -> Result<ExitCode> {
    let moved = tasks::unarchive(&mut face.context()?, &arguments.tasks, arguments.dry_run)?;
    face.reply(&moved, &[], |screen| {
        show_moved(screen, ["Took out", "Would take out"], &moved)
    })
}

#[derive(Args)]
#[command(after_help = "Examples:\n  cleo delete T3 --dry-run\n  cleo delete T1 --cascade")]
pub(super) struct DeleteArguments {
    /// The task
    task: TaskId,

    /// Delete what is below it too
    #[arg(long)]
    cascade: bool,

    /// Delete it although others depend on it, who no longer do, or somebody else holds it
    #[arg(long)]
    force: bool,

    /// Show what would be deleted
    #[arg(long, short = 'n')]
    dry_run: bool,
}

pub(super) fn delete(face: &mut Face<'_>, arguments: DeleteArguments) -> Result<ExitCode> {
    let DeleteArguments {
        task,
        cascade,
        force,
        dry_run,
    } = arguments;
    let deleted = tasks::delete(&mut face.context()?, task, cascade, force, dry_run)?;
    face.reply(&deleted, &[], |screen| {
        let (tone, verb) = if dry_run {
            (Tone::Plain, "Would delete")
        } else {
            (Tone::Good, "Deleted")
        };
        screen
            .say(tone, verb)
            .line(Tone::Plain, format!(" {}", id::list(&deleted.deleted)));
        screen.field("released", id::list(&deleted.released));
    })
}
