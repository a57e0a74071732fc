//! `cleo agents tasks stats`

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::error::Result;
use crate::ops::agent_tasks::{self, PRIORITIES, STATUSES};

/// Count tasks by status and priority, those that are late, and the share that is done
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo agents tasks stats --agent toby-technical")]
pub(in crate::cli) struct Arguments {
    /// Only tasks assigned to this agent
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let counted = agent_tasks::stats(&mut face.context()?, arguments.agent)?;
    let stats = &counted.stats;
    face.reply(&counted, &[], |screen| {
        screen.field("tasks", stats.total);
        for word in STATUSES {
            screen.field(word, stats.by_status[word]);
        }
        for word in PRIORITIES {
            screen.field(word, stats.by_priority[word]);
        }
        screen.field("overdue", stats.overdue);
        screen.field("done", format!("{:.0} %", stats.completion_rate * 100.0));
    })
}
