//! `cleo list` and `cleo find`

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::Face;
use super::screen::{Cell, Screen, Tone};
use super::show::{priority_tone, status_tone};
use crate::clock;
use crate::config::LIST_LIMIT;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::tasks::{self, Listed, TreeRow};
use crate::store::{Archived, Filter};
use crate::task::{Priority, Status, Task, TaskType};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo list --status pending,active
  cleo list --label research --priority high
  cleo list --parent T1 --tree
  cleo list --json | jq -r '.result.tasks[] | [.id, .title] | @tsv'")]
pub(super) struct Arguments {
    /// Only tasks with one of these statuses
    #[arg(long, short, value_name = "STATUS", value_delimiter = ',')]
    status: Vec<Status>,

    /// Only tasks with all of these labels
    #[arg(long, short, value_name = "LABEL", value_delimiter = ',')]
    label: Vec<String>,

    /// Only tasks of one of these types
    #[arg(long = "type", short = 't', value_name = "TYPE", value_delimiter = ',')]
    kind: Vec<TaskType>,

    /// Only children of this task; with --tree, all below it
    #[arg(long, value_name = "TASK")]
    parent: Option<TaskId>,

    /// Only tasks with one of these priorities
    #[arg(long, short, value_name = "PRIORITY", value_delimiter = ',')]
    priority: Vec<Priority>,

    /// Only tasks in this phase
    #[arg(long, value_name = "SLUG")]
    phase: Option<String>,

    /// Only tasks assigned to this agent
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,

    /// Only tasks of this feature
    #[arg(long, value_name = "NAME")]
    feature: Option<String>,

    /// Only tasks that are due before this date or time
    #[arg(long, value_name = "DATE", value_parser = parse_due)]
    due_before: Option<String>,

    /// Only tasks that are due at this date or time, or later
    #[arg(long, value_name = "DATE", value_parser = parse_due)]
    due_after: Option<String>,

    /// Only tasks that somebody has claimed
    #[arg(long)]
    claimed: bool,

    /// Only tasks that this one has claimed
    #[arg(long, value_name = "NAME")]
    holder: Option<String>,

    /// At most so many tasks
    #[arg(long, value_name = "N")]
    limit: Option<u32>,

    /// Leave out the first so many
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    offset: u32,

    /// In the order of the tree, with each task's depth
    #[arg(long, conflicts_with_all = ["limit", "offset"])]
    tree: bool,

    #[command(flatten)]
    archive: ArchiveOptions,
}

// Whether to show what `cleo archive` has put away. A doc comment here would become the help of
// the command.
#[derive(Args)]
pub(super) struct ArchiveOptions {
    /// Only tasks that are archived
    #[arg(long)]
    archived: bool,

    /// Tasks that are archived too
    #[arg(long, conflicts_with = "archived")]
    all: bool,
}

impl ArchiveOptions {
    pub(super) fn shown(&self) -> Archived {
        match (self.archived, self.all) {
            (true, _) => Archived::Only,
            (_, true) => Archived::Shown,
            _ => Archived::Hidden,
        }
    }
}

/// Reads a date or time; a bare date is its midnight.
pub(super) fn parse_due(text: &str) -> std::result::Result<String, String> {
    clock::parse_moment(text)
        .ok_or_else(|| format!("`{text}` is no date like 2026-12-31 or RFC 3339 time"))
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Tree {
    tasks: Vec<TreeRow>,
    total: usize,
}

pub(super) fn run(face: &mut Face<'_>, mut arguments: Arguments) -> Result<ExitCode> {
    let mut context = face.context()?;
    if arguments.tree {
        let root = arguments.parent;
        let filter = Filter {
            parent: None,
            ..arguments.into_filter()
        };
        let tasks = tasks::tree(&mut context, root, &filter)?;
        let result = Tree {
            total: tasks.len(),
            tasks,
        };
        return face.reply(&result, &[], |screen| {
            if result.tasks.is_empty() {
                screen.line(Tone::Dim, "no tasks");
            }
            for (row, branch) in result.tasks.iter().zip(branches(&result.tasks)) {
                screen.say(Tone::Dim, branch);
                super::show::task_line(screen, &row.task);
            }
        });
    }
    let usual = face.settings.number(LIST_LIMIT);
    arguments.limit = arguments
        .limit
        .or(usual.and_then(|limit| u32::try_from(limit).ok()));
    let listed = tasks::list(&mut context, &arguments.into_filter())?;
    face.reply(&listed, &[], |screen| table(screen, &listed))
}

fn table(screen: &mut Screen, listed: &Listed) {
    if listed.total == 0 {
        screen.line(Tone::Dim, "no tasks");
        return;
    }
    if !listed.tasks.is_empty() {
        let head = ["ID", "STATUS", "PRIORITY", "TYPE", "TITLE"];
        screen.table(&head, listed.tasks.iter().map(row).collect());
    }
    let shown = listed.tasks.len() as u64;
    if shown < listed.total {
        let noun = if listed.total == 1 { "task" } else { "tasks" };
        screen.line(Tone::Dim, format!("{shown} of {} {noun}", listed.total));
    }
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

/// Draws what stands before each row: the lines that lead from a task to its parts.
fn branches(rows: &[TreeRow]) -> Vec<String> {
    // From the last row on it is known on which levels more parts of the same task follow.
    let mut goes_on: Vec<bool> = Vec::new();
    let drawn = rows.iter().rev().map(|row| {
        goes_on.resize(row.depth + 1, false);
        let piece = |level: usize| match (level == row.depth, goes_on[level]) {
            (true, true) => "├ ",
            (true, false) => "└ ",
            (false, true) => "│ ",
            (false, false) => "  ",
        };
        let branch: String = (1..=row.depth).map(piece).collect();
        goes_on[row.depth] = true;
        branch
    });
    let mut drawn: Vec<String> = drawn.collect();
    drawn.reverse();
    drawn
}

impl Arguments {
    fn into_filter(self) -> Filter {
        Filter {
            statuses: self.status,
            labels: self.label,
            kinds: self.kind,
            parent: self.parent,
            priorities: self.priority,
            phase: self.phase,
            agent: self.agent,
            assigned: false,
            feature: self.feature,
            due_before: self.due_before,
            due_after: self.due_after,
            claimed: self.claimed,
            holder: self.holder,
            archived: self.archive.shown(),
            closed_before: None,
            limit: self.limit,
            offset: self.offset,
        }
    }
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo find token refresh
  cleo find 'refresh\\w+ token' --regex")]
pub(super) struct FindArguments {
    /// Words, whole or as beginnings; each must occur
    #[arg(required = true)]
    words: Vec<String>,

    /// Take the words as one regular expression, case ignored
    #[arg(long)]
    regex: bool,

    /// At most so many tasks
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,

    #[command(flatten)]
    archive: ArchiveOptions,
}

pub(super) fn find(face: &mut Face<'_>, arguments: FindArguments) -> Result<ExitCode> {
    let words = arguments.words.join(" ");
    let archived = arguments.archive.shown();
    let mut context = face.context()?;
    let listed = if arguments.regex {
        tasks::find_regex(&mut context, &words, archived, arguments.limit)?
    } else {
        tasks::find(&mut context, &words, archived, arguments.limit)?
    };
    face.reply(&listed, &[], |screen| table(screen, &listed))
}
