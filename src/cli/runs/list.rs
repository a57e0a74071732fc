//! `cleo runs list`

use std::process::ExitCode;

use clap::Args;

use super::words::{how, spent, status_tone};
use crate::cli::Face;
use crate::cli::screen::{Cell, Tone};
use crate::error::Result;
use crate::ops::runs;
use crate::run::{Run, RunKind, RunStatus};
use crate::store::agency::RunFilter;

/// Most characters of a message in a list.
const INPUT_SHOWN: usize = 30;

/// List what agents carried out, newest first
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo runs list
  cleo runs list --status failed --limit 5
  cleo runs list --agent toby-technical --json")]
pub(in crate::cli) struct Arguments {
    /// Only runs of this agent
    #[arg(long, value_name = "ID")]
    agent: Option<String>,

    /// Only runs with this status: pending, running, completed, failed, cancelled or
    /// interrupted
    #[arg(long, value_name = "STATUS")]
    status: Option<RunStatus>,

    /// Only runs of this kind: execution, query, plan, epic or tasks
    #[arg(long, value_name = "KIND")]
    kind: Option<RunKind>,

    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let filter = RunFilter {
        user: None,
        agent: arguments.agent,
        status: arguments.status,
        kind: arguments.kind,
        limit: arguments.limit,
        offset: 0,
    };
    let listed = runs::list(&face.surroundings()?, &filter)?;
    face.reply(&listed, &[], |screen| {
        if listed.total == 0 {
            screen.line(Tone::Dim, "no runs");
            return;
        }
        let head = ["RUN", "STATUS", "AGENT", "SCORE", "HOW", "MESSAGE"];
        screen.table(&head, listed.runs.iter().map(row).collect());
        let shown = listed.runs.len() as u64;
        if shown < listed.total {
            screen.line(Tone::Dim, format!("{shown} of {} runs", listed.total));
        }
    })
}

fn row(run: &Run) -> Vec<Cell> {
    let words = run.input.split_whitespace().collect::<Vec<_>>().join(" ");
    let agent = run.agent.clone().unwrap_or_else(|| "-".to_string());
    // Only an execution is routed by points.
    let (score, how) = match run.kind {
        RunKind::Execution => (run.routing_score.to_string(), how(run)),
        RunKind::Epic | RunKind::Tasks => ("-".to_string(), spent(run)),
        _ => ("-".to_string(), how(run)),
    };
    vec![
        (Tone::Strong, run.id.clone()),
        (status_tone(run.status), run.status.to_string()),
        (Tone::Plain, agent),
        (Tone::Dim, score),
        (Tone::Dim, how),
        (Tone::Plain, words.chars().take(INPUT_SHOWN).collect()),
    ]
}
