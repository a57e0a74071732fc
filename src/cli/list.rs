//! `cleo list` and `cleo find`

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::Face;
use super::screen::{Cell, Screen, Tone, branches};
use super::show::{priority_tone, status_tone};
use crate::config::LIST_LIMIT;
use crate::error::Result;
use crate::ops::tasks::{self, TreeRow};
use crate::ops::{Context, api};
use crate::store::{Archived, Filter, Page};
use crate::task::Task;

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo list --status pending,active
  cleo list --label research --priority high
  cleo list --parent T1 --tree
  cleo list --json | jq -r '.result.tasks[] | [.id, .title] | @tsv'")]
pub(super) struct Arguments {
    #[command(flatten)]
    list: Filter,

    /// Show tasks as a tree
    #[arg(long, conflicts_with_all = ["limit", "offset"])]
    tree: bool,

    #[command(flatten)]
    archive: ArchiveOptions,
}

// Options for archived tasks. A doc comment here would become the help of the command.
#[derive(Args)]
pub(super) struct ArchiveOptions {
    /// Only archived tasks
    #[arg(long)]
    archived: bool,

    /// Include archived tasks
    #[arg(long, conflicts_with = "archived")]
    all: bool,
}

impl ArchiveOptions {
    pub(super) fn archive_filter(&self) -> Archived {
        match (self.archived, self.all) {
            (true, _) => Archived::Only,
            (_, true) => Archived::Shown,
            _ => Archived::Hidden,
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Tree {
    tasks: Vec<TreeRow>,
    total: usize,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let mut list = arguments.list;
    list.archived = arguments.archive.archive_filter();
    if arguments.tree {
        let root = list.parent.take();
        let work = |context: &mut Context| {
            let tasks = tasks::tree(context, root, &list)?;
            Ok(Tree {
                total: tasks.len(),
                tasks,
            })
        };
        return face.inside("list", work, |screen, result| {
            if result.tasks.is_empty() {
                screen.line(Tone::Dim, "no tasks");
            }
            let depths = result.tasks.iter().map(|row| row.depth);
            for (row, branch) in result.tasks.iter().zip(branches(depths)) {
                screen.say(Tone::Dim, branch);
                super::show::task_line(screen, &row.task);
            }
        });
    }
    let usual = face.settings.number(LIST_LIMIT);
    let usual = usual.and_then(|limit| u32::try_from(limit).ok());
    list.limit = list.limit.or(usual);
    face.call(&api::LIST, list, table)
}

fn table(screen: &mut Screen, listed: &Page) {
    if listed.total == 0 || !listed.tasks.is_empty() {
        let head = ["ID", "STATUS", "PRIORITY", "TYPE", "TITLE"];
        screen.list("no tasks", &head, listed.tasks.iter().map(row));
    }
    screen.cut_at(listed.tasks.len(), listed.total, "tasks");
}

fn row(task: &Task) -> Vec<Cell> {
    vec![
        (Tone::Strong, task.id.to_string()),
        (status_tone(task.status), task.status.to_string()),
        (priority_tone(task.priority), task.priority.to_string()),
        (Tone::Dim, task.kind.to_string()),
        (Tone::Plain, task.title.clone()),
    ]
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo find token refresh
  cleo find 'refresh\\w+ token' --regex")]
pub(super) struct FindArguments {
    /// Words or beginnings of words; all must occur
    #[arg(required = true)]
    words: Vec<String>,

    /// Treat the words as one regular expression, ignoring case
    #[arg(long)]
    regex: bool,

    /// Maximum number of tasks
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,

    #[command(flatten)]
    archive: ArchiveOptions,
}

pub(super) fn find(face: &mut Face<'_>, arguments: FindArguments) -> Result<ExitCode> {
    let words = arguments.words.join(" ");
    let archived = arguments.archive.archive_filter();
    let mut context = face.context()?;
    let listed = if arguments.regex {
        tasks::find_regex(&mut context, &words, archived, arguments.limit)?
    } else {
        tasks::find(&mut context, &words, archived, arguments.limit)?
    };
    face.reply(&listed, &[], |screen| table(screen, &listed))
}
