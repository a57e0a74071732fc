//! `cleo agents tasks list`

use std::process::ExitCode;

use clap::Args;

use super::tone;
use crate::cli::Face;
use crate::cli::list::parse_due;
use crate::cli::screen::{Cell, Tone};
use crate::error::Result;
use crate::ops::agent_tasks::{self, AgentTask};
use crate::store::Filter;

/// List tasks in the words of agents: todo, doing, review, done, paused, cancelled
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo agents tasks list --agent toby-technical --status todo,doing
  cleo agents tasks list --due-before 2026-12-31 --priority urgent")]
pub(in crate::cli) struct Arguments {
    /// Only tasks assigned to this agent
    #[arg(long, value_name = "ID")]
    agent: Option<String>,

    /// Only tasks with one of these statuses
    #[arg(long, short, value_name = "STATUS", value_delimiter = ',')]
    status: Vec<String>,

    /// Only tasks with one of these priorities: low, medium, high or urgent
    #[arg(long, short, value_name = "PRIORITY", value_delimiter = ',')]
    priority: Vec<String>,

    /// Only tasks of this feature
    #[arg(long, value_name = "NAME")]
    feature: Option<String>,

    /// Only tasks that are due before this date or time
    #[arg(long, value_name = "DATE", value_parser = parse_due)]
    due_before: Option<String>,

    /// Only tasks that are due at this date or time, or later
    #[arg(long, value_name = "DATE", value_parser = parse_due)]
    due_after: Option<String>,

    /// At most so many tasks
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let statuses = arguments.status.iter();
    let priorities = arguments.priority.iter();
    let filter = Filter {
        statuses: statuses
            .map(|word| agent_tasks::status(word))
            .collect::<Result<_>>()?,
        priorities: priorities
            .map(|word| agent_tasks::priority(word))
            .collect::<Result<_>>()?,
        agent: arguments.agent,
        feature: arguments.feature,
        due_before: arguments.due_before,
        due_after: arguments.due_after,
        limit: arguments.limit,
        ..Filter::default()
    };
    let listed = agent_tasks::list(&mut face.context()?, filter)?;
    face.reply(&listed, &[], |screen| {
        if listed.total == 0 {
            screen.line(Tone::Dim, "no tasks");
            return;
        }
        let head = ["ID", "STATUS", "PRIORITY", "AGENT", "DUE", "TITLE"];
        screen.table(&head, listed.tasks.iter().map(row).collect());
    })
}

fn row(task: &AgentTask) -> Vec<Cell> {
    let due = task.due_date.as_deref().unwrap_or_default();
    vec![
        (Tone::Strong, task.id.to_string()),
        (tone(task.status), task.status.to_string()),
        (Tone::Plain, task.priority.to_string()),
        (Tone::Plain, task.assigned_to.clone().unwrap_or_default()),
        (Tone::Dim, due.get(..10).unwrap_or(due).to_string()),
        (Tone::Plain, task.title.clone()),
    ]
}
