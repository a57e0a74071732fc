//! `cleo agents …`

mod check;
mod cleanup;
pub(in crate::cli) mod execute;
mod fields;
mod import;
mod list;
mod metrics;
mod register;
mod remove;
mod show;
mod trust;
mod untrust;
mod update;

use std::process::ExitCode;

use clap::Subcommand;

use super::Face;
use super::screen::{Screen, Tone};
use crate::agent::AgentStatus;
use crate::error::Result;
use crate::ops::agents::Shown;
use crate::ops::trust::Standing;

#[derive(Subcommand)]
pub(super) enum Command {
    List(list::Arguments),
    Show(show::Arguments),
    Register(Box<register::Arguments>),
    Update(Box<update::Arguments>),
    Remove(remove::Arguments),
    Cleanup(cleanup::Arguments),
    Import(import::Arguments),
    Execute(execute::Arguments),
    Check(check::Arguments),
    Trust(trust::Arguments),
    Untrust(untrust::Arguments),
    Metrics(metrics::Arguments),
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::List(arguments) => face.run("agents.list", arguments, list::run),
        Command::Show(arguments) => face.run("agents.show", arguments, show::run),
        Command::Register(arguments) => face.run("agents.register", *arguments, register::run),
        Command::Update(arguments) => face.run("agents.update", *arguments, update::run),
        Command::Remove(arguments) => face.run("agents.remove", arguments, remove::run),
        Command::Cleanup(arguments) => face.run("agents.cleanup", arguments, cleanup::run),
        Command::Import(arguments) => face.run("agents.import", arguments, import::run),
        Command::Execute(arguments) => face.run("agents.execute", arguments, execute::run),
        Command::Check(arguments) => face.run("agents.check", arguments, check::run),
        Command::Trust(arguments) => face.run("agents.trust", arguments, trust::run),
        Command::Untrust(arguments) => face.run("agents.untrust", arguments, untrust::run),
        Command::Metrics(arguments) => face.run("agents.metrics", arguments, metrics::run),
    }
}

fn status_tone(status: AgentStatus) -> Tone {
    match status {
        AgentStatus::Active => Tone::Good,
        AgentStatus::Paused => Tone::Warn,
        AgentStatus::Archived => Tone::Dim,
    }
}

/// Writes an agent with what is set of it.
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
