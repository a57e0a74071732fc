//! `cleo agents list`

use std::process::ExitCode;

use clap::Args;

use super::status_tone;
use crate::agent::{Agent, AgentStatus, Kind, Role};
use crate::cli::Face;
use crate::cli::screen::{Cell, Tone};
use crate::error::Result;
use crate::ops::agents::{self, Lookup};

/// List agents in the order that decides ties between them
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo agents list
  cleo agents list --status active --role specialist
  cleo agents list --capability web-crawler
  cleo agents list --skill search --skill ner --all")]
pub(in crate::cli) struct Arguments {
    /// Only agents with this status: active, paused or archived (repeat for more)
    #[arg(long, value_name = "STATUS")]
    status: Vec<AgentStatus>,

    /// Only agents in this role: supervisor, specialist or custom (repeat for more)
    #[arg(long, value_name = "ROLE")]
    role: Vec<Role>,

    /// Only agents of this kind: builtin, runtime, persistent, http or cli (repeat for more)
    #[arg(long, value_name = "KIND")]
    kind: Vec<Kind>,

    /// Only agents with this tag (repeat: with all of them)
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,

    /// Only agents that offer this capability, in any letter case
    #[arg(long, value_name = "NAME")]
    capability: Option<String>,

    /// Only agents with this skill, in any letter case (repeat: with any of them)
    #[arg(long, value_name = "SKILL")]
    skill: Option<Vec<String>>,

    /// Only agents with all the skills named
    #[arg(long, requires = "skill")]
    all: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let (any_skill, all_skills) = match arguments.all {
        true => (None, arguments.skill),
        false => (arguments.skill, None),
    };
    let lookup = Lookup {
        statuses: arguments.status,
        roles: arguments.role,
        kinds: arguments.kind,
        tags: arguments.tag,
        capability: arguments.capability,
        any_skill,
        all_skills,
    };
    let listed = agents::list(&face.surroundings()?, &lookup)?;
    face.reply(&listed, &listed.warnings, |screen| {
        if listed.agents.is_empty() {
            screen.line(Tone::Dim, "no agents");
            return;
        }
        let rows = listed.agents.iter().map(row).collect();
        screen.table(&["AGENT", "STATUS", "KIND", "ROLE", "TAGS"], rows);
    })
}

fn row(agent: &Agent) -> Vec<Cell> {
    vec![
        (Tone::Strong, agent.id.clone()),
        (status_tone(agent.status), agent.status.to_string()),
        (Tone::Plain, agent.kind.to_string()),
        (Tone::Plain, agent.role.to_string()),
        (Tone::Plain, agent.tags.join(", ")),
    ]
}
