//! `cleo agents …`

pub(in crate::cli) mod execute;
mod register;
mod trust;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::Face;
use super::screen::{Screen, Tone};
use crate::agent::AgentStatus;
use crate::error::Result;
use crate::ops::agents::{self, Lookup, Shown};
use crate::ops::answers::allows_private;
use crate::ops::trust::Standing;
use crate::ops::workers::{self};

#[derive(Subcommand)]
pub(super) enum Command {
    List(ListArguments),
    Show(ShowArguments),
    Register(Box<register::Arguments>),
    Update(Box<register::UpdateArguments>),
    Remove(trust::RemoveArguments),
    Cleanup(trust::CleanupArguments),
    Import(register::ImportArguments),
    Execute(execute::Arguments),
    Check(CheckArguments),
    Trust(trust::Arguments),
    Untrust(trust::UntrustArguments),
    Metrics(MetricsArguments),
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::List(arguments) => face.run("agents.list", arguments, list),
        Command::Show(arguments) => face.run("agents.show", arguments, show),
        Command::Register(arguments) => face.run("agents.register", *arguments, register::run),
        Command::Update(arguments) => face.run("agents.update", *arguments, register::update),
        Command::Remove(arguments) => face.run("agents.remove", arguments, trust::remove),
        Command::Cleanup(arguments) => face.run("agents.cleanup", arguments, trust::cleanup),
        Command::Import(arguments) => face.run("agents.import", arguments, register::import),
        Command::Execute(arguments) => face.run("agents.execute", arguments, execute::run),
        Command::Check(arguments) => face.run("agents.check", arguments, check),
        Command::Trust(arguments) => face.run("agents.trust", arguments, trust::run),
        Command::Untrust(arguments) => face.run("agents.untrust", arguments, trust::untrust),
        Command::Metrics(arguments) => face.run("agents.metrics", arguments, metrics),
    }
}

fn status_tone(status: AgentStatus) -> Tone {
    match status {
        AgentStatus::Active => Tone::Good,
        AgentStatus::Paused => Tone::Warn,
        AgentStatus::Archived => Tone::Dim,
    }
}

fn agent_text(screen: &mut Screen, shown: &Shown) {
    let agent = &shown.agent;
    screen.say(Tone::Strong, &agent.id).say(Tone::Plain, " ");
    screen
        .say(status_tone(agent.status), agent.status)
        .line(Tone::Plain, format!("  {}", agent.name));
    let mut field = |name: &str, value: &str| {
        if !value.is_empty() {
            screen.field(name, value);
        }
    };
    field("kind", agent.kind.word());
    field("role", agent.role.word());
    field("about", &agent.description);
    field("objective", &agent.objective);
    field("tags", &agent.tags.join(", "));
    field("tools", &agent.tools.join(", "));
    field("intents", &agent.intents.join(", "));
    field("capability", agent.capability.as_deref().unwrap_or(""));
    field("skills", &agent.skills.join(", "));
    if agent.is_worker() {
        field("endpoint", agent.endpoint.as_deref().unwrap_or(""));
        field("command", &agent.command.join(" "));
        field("timeout", &format!("{} ms", agent.timeout_ms));
    } else {
        let (model, heat, most) = (&agent.model, agent.temperature, agent.max_tokens);
        field(
            "model",
            &format!("{model}, temperature {heat}, at most {most} tokens"),
        );
    }
    field("standing", shown.standing.map_or("", Standing::word));
    field("file", shown.file.as_deref().unwrap_or(""));
    if !agent.prompt.is_empty() {
        screen.section("Prompt", &agent.prompt);
    }
}

/// List agents in the order that decides ties between them
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo agents list
  cleo agents list --status active --role specialist
  cleo agents list --capability web-crawler
  cleo agents list --skill search --skill ner --all")]
pub(in crate::cli) struct ListArguments {
    #[command(flatten)]
    lookup: Lookup,
}

fn list(face: &mut Face<'_>, arguments: ListArguments) -> Result<ExitCode> {
    let listed = agents::list(&face.surroundings()?, &arguments.lookup)?;
    face.reply(&listed, &listed.warnings, |screen| {
        if listed.agents.is_empty() {
            screen.line(Tone::Dim, "no agents");
            return;
        }
        let rows = listed
            .agents
            .iter()
            .map(|one| {
                let agent = &one.shown.agent;
                vec![
                    (Tone::Strong, agent.id.clone()),
                    (status_tone(agent.status), agent.status.to_string()),
                    (Tone::Plain, agent.kind.to_string()),
                    (Tone::Plain, agent.role.to_string()),
                    (Tone::Plain, agent.tags.join(", ")),
                ]
            })
            .collect();
        screen.table(&["AGENT", "STATUS", "KIND", "ROLE", "TAGS"], rows);
    })
}

/// Show an agent with everything that is set of it
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo agents show toby-technical")]
pub(in crate::cli) struct ShowArguments {
    /// Its id
    agent: String,
}

fn show(face: &mut Face<'_>, arguments: ShowArguments) -> Result<ExitCode> {
    let one = agents::show(&face.surroundings()?, &arguments.agent)?;
    face.reply(&one, &one.warnings, |screen| {
        agent_text(screen, &one.agent);
    })
}

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
pub(in crate::cli) struct CheckArguments {
    /// Ids of workers; all active ones unless told
    #[arg(value_name = "ID")]
    agents: Vec<String>,
}

fn check(face: &mut Face<'_>, arguments: CheckArguments) -> Result<ExitCode> {
    let allow_private = allows_private(face.settings);
    let checked = workers::check(&face.surroundings()?, &arguments.agents, allow_private)?;
    face.outcome(&checked, checked.error(), &checked.warnings, |screen| {
        if checked.total == 0 {
            screen.line(Tone::Dim, "no workers");
            return;
        }
        let rows = checked
            .checks
            .iter()
            .map(|check| {
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
            })
            .collect();
        screen.table(&["AGENT", "KIND", "", "BY", "TIME", "WHY"], rows);
    })
}

/// Show how often agents were used, how long they took and how often they answered
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo agents metrics
  cleo agents metrics --user tester@laptop --jq '.result.dashboard'")]
pub(in crate::cli) struct MetricsArguments {
    /// Only executions of this user
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
}

fn metrics(face: &mut Face<'_>, arguments: MetricsArguments) -> Result<ExitCode> {
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
        screen.table(
            &head,
            metrics
                .agents
                .iter()
                .map(|agent| {
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
                })
                .collect(),
        );
    })
}

fn time(average: Option<f64>) -> String {
    average.map_or(String::new(), |average| format!("{average:.1} ms"))
}
