//! `cleo agents metrics`

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::screen::{Cell, Tone};
use crate::error::Result;
use crate::ops::agents::{self, Measured};

/// Show how often agents were used, how long they took and how often they answered
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo agents metrics
  cleo agents metrics --user tester@laptop --jq '.result.dashboard'")]
pub(in crate::cli) struct Arguments {
    /// Only executions of this user
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let metrics = agents::metrics(&face.surroundings()?, arguments.user.as_deref())?;
    face.reply(&metrics, &[], |screen| {
        let dashboard = &metrics.dashboard;
        screen
            .field("active agents", dashboard.active_agents)
            .field("completed", dashboard.completed_executions)
            .field("average", time(dashboard.average_response_time_ms));
        for pattern in &dashboard.routing_patterns {
            let (used, percent) = (&pattern.used, pattern.share * 100.0);
            let line = format!("{} × {} ({percent:.0} %)", used.count, used.agent_id);
            screen.field("went to", line);
        }
        screen.line(Tone::Plain, "");
        let head = ["AGENT", "EXECUTIONS", "AVERAGE", "ANSWERED", "LAST USED"];
        screen.table(&head, metrics.agents.iter().map(row).collect());
    })
}

fn time(average: Option<f64>) -> String {
    average.map_or(String::new(), |average| format!("{average:.1} ms"))
}

fn row(agent: &Measured) -> Vec<Cell> {
    let rate = agent
        .success_rate
        .map(|rate| format!("{:.0} %", rate * 100.0));
    vec![
        (Tone::Strong, agent.agent_id.clone()),
        (Tone::Plain, agent.execution_count.to_string()),
        (Tone::Plain, time(agent.average_execution_time_ms)),
        (Tone::Plain, rate.unwrap_or_default()),
        (Tone::Dim, agent.last_used_at.clone().unwrap_or_default()),
    ]
}
