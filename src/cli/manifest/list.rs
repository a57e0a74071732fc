//! `cleo manifest list`, and how many entries look in every command.

use std::process::ExitCode;

use clap::Args;

use super::show::tone;
use crate::cli::Face;
use crate::cli::screen::{Screen, Tone};
use crate::error::Result;
use crate::id::{self, TaskId};
use crate::manifest::{Entry, Status};
use crate::ops::manifest::{self, Filter, Listed};

/// List the entries of the manifest, newest last
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo manifest list --limit 20
  cleo manifest list --task T3
  cleo manifest list --status blocked --json | jq -r '.result.entries[].needs_followup[]'")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    filters: Filters,
}

// Which entries to list. A doc comment would become that of the commands that take it.
#[derive(Args)]
pub(in crate::cli) struct Filters {
    /// Only entries that are linked to this task
    #[arg(long, value_name = "TASK")]
    task: Option<TaskId>,

    /// Only entries of this status: complete, partial, blocked or archived
    #[arg(long, short, value_name = "STATUS")]
    status: Option<Status>,

    /// Only entries with this topic, letter case ignored
    #[arg(long, value_name = "TOPIC")]
    topic: Option<String>,

    /// Only so many, the newest
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let listed = manifest::list(&mut face.context()?, &arguments.filters.filter())?;
    answer(face, &listed)
}

impl Filters {
    /// Returns the filter for the list.
    pub(in crate::cli) fn filter(self) -> Filter {
        Filter {
            task: self.task,
            status: self.status,
            topic: self.topic,
            limit: self.limit,
        }
    }
}

/// Answers with a list of entries.
pub(in crate::cli) fn answer(face: &mut Face<'_>, listed: &Listed) -> Result<ExitCode> {
    face.reply(listed, &listed.warnings, |screen| table(screen, listed))
}

fn table(screen: &mut Screen, listed: &Listed) {
    if listed.entries.is_empty() {
        screen.line(Tone::Dim, "no entries");
        return;
    }
    let row = |entry: &Entry| {
        vec![
            (Tone::Strong, entry.id.clone()),
            (tone(entry.status), entry.status.to_string()),
            (Tone::Plain, id::list(&entry.linked_tasks)),
            (Tone::Plain, entry.title.clone()),
        ]
    };
    let rows = listed.entries.iter().map(row).collect();
    screen.table(&["ID", "STATUS", "TASKS", "TITLE"], rows);
    if listed.total > listed.entries.len() {
        let (shown, total) = (listed.entries.len(), listed.total);
        screen.line(Tone::Dim, format!("the newest {shown} of {total}"));
    }
}
