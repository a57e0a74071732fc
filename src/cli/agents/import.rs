//! `cleo agents import`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::screen::{Tone, count};
use crate::error::Result;
use crate::ops::agents;
use crate::ops::trust::does;

/// Register all agents of a file, or none
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo agents import agents.yaml
  cleo agents import workers.json --replace
  jq -c '.agents[]' registry.json | cleo agents import -")]
pub(in crate::cli) struct Arguments {
    /// JSON or YAML: one agent, a list, or a list under `agents`; `-` reads standard input
    file: PathBuf,

    /// Change agents that are there already
    #[arg(long)]
    replace: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let surroundings = face.surroundings()?;
    let imported = agents::import(&surroundings, &arguments.file, arguments.replace)?;
    face.reply(&imported, &imported.warnings, |screen| {
        let (all, old) = (imported.total, imported.updated);
        let text = format!(
            "{}, {} of them known before",
            count(all, "agent", "agents"),
            old
        );
        screen.say(Tone::Good, "Imported ").line(Tone::Plain, text);
        for agent in &imported.agents {
            screen.say(Tone::Dim, format!("  {}", agent.id));
            let what = agent.is_worker().then(|| does(agent));
            let what = what.map(|what| format!("  would {what}"));
            screen.line(Tone::Plain, what.unwrap_or_default());
        }
    })
}
