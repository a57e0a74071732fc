//! `cleo agents check`

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::screen::{Cell, Tone};
use crate::error::Result;
use crate::ops::answers::allows_private;
use crate::ops::workers::{self, Check};

/// Look whether workers are there, all at once (exit 80 when one is not)
#[derive(Args)]
#[command(after_help = "\
Of a worker with an address for its health, that is read. Another is asked for nothing by the usual
handshake: intent health.check, and dry_run in input.metadata.extra; any answer that keeps the rules
counts, also one that says it failed. Workers that are not trusted are not called.

Examples:
  cleo agents check
  cleo agents check summarizer crawler
  cleo agents check --json --jq '.result.checks[] | select(.up | not) | .agent'")]
pub(in crate::cli) struct Arguments {
    /// Ids of workers; all active ones unless told
    #[arg(value_name = "ID")]
    agents: Vec<String>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let allow_private = allows_private(face.settings);
    let checked = workers::check(&face.surroundings()?, &arguments.agents, allow_private)?;
    face.outcome(&checked, checked.error(), &checked.warnings, |screen| {
        if checked.total == 0 {
            screen.line(Tone::Dim, "no workers");
            return;
        }
        let rows = checked.checks.iter().map(row).collect();
        screen.table(&["AGENT", "KIND", "", "BY", "TIME", "WHY"], rows);
    })
}

fn row(check: &Check) -> Vec<Cell> {
    let standing = match check.up {
        true => (Tone::Good, "up".to_string()),
        false => (Tone::Bad, "down".to_string()),
    };
    let why = check.fault.iter().chain(&check.message);
    let why: Vec<&str> = why.map(String::as_str).collect();
    vec![
        (Tone::Strong, check.agent.clone()),
        (Tone::Plain, check.kind.to_string()),
        standing,
        (Tone::Dim, check.how.to_string()),
        (Tone::Dim, format!("{} ms", check.time_ms)),
        (Tone::Plain, why.join(": ")),
    ]
}
