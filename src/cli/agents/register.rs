//! `cleo agents register`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::agent_text;
use crate::agent::draft::{self, Draft};
use crate::cli::Face;
use crate::cli::screen::{Tone, count};
use crate::document;
use crate::error::Result;
use crate::file::{read_input, read_stdin};
use crate::ops::agents;
use crate::ops::trust::does;

/// Largest agent on standard input, in bytes.
const JSON_MAX: u64 = 4 << 20;

/// Register an agent: messages can reach it at once
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo agents register 'Lore keeper' --tag warcraft,lore,'second war' --prompt 'You know Azeroth.'
  cleo agents register Summarizer --endpoint http://127.0.0.1:9000/run --intent summary.create
  cleo agents register --runtime 'Try-out' --tag trial --prompt 'Answer in one line.'
  cleo agents register --stdin < agent.json")]
pub(in crate::cli) struct Arguments {
    /// Its name for people
    #[arg(required_unless_present = "stdin")]
    name: Option<String>,

    /// Its id; made of the name unless told
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    /// For the moment only: it gets an id of its own and goes with `cleo agents cleanup`
    #[arg(long)]
    runtime: bool,

    /// Read the agent as a JSON object from standard input; options stand above it
    #[arg(long)]
    stdin: bool,

    #[command(flatten)]
    fields: Fields,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let mut draft = match arguments.stdin {
        true => from_stdin()?,
        false => Draft::default(),
    };
    draft.name = arguments.name.or(draft.name);
    draft.id = arguments.id.or(draft.id);
    let draft = arguments.fields.over(draft)?;
    let registered = agents::register(&face.surroundings()?, draft, arguments.runtime, true)?;
    face.reply(&registered, &registered.one.warnings, |screen| {
        let verb = if registered.created {
            "Registered"
        } else {
            "Changed"
        };
        screen.say(Tone::Good, verb).say(Tone::Plain, " ");
        agent_text(screen, &registered.one.agent);
    })
}

fn from_stdin() -> Result<Draft> {
    let bytes = read_stdin(JSON_MAX)?;
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| draft::invalid("standard input is not written in UTF-8"))?;
    let value = document::json(&text, usize::MAX)
        .map_err(|fault| draft::invalid(format!("standard input is no JSON: {fault}")))?;
    if !value.is_object() {
        return Err(draft::invalid("standard input is no JSON object"));
    }
    Draft::from_value(value)
}

/// Longest prompt in a file, in bytes.
const PROMPT_MAX: u64 = 1 << 20;

// A doc comment here would become the help of the commands.
#[derive(Args)]
pub(super) struct Fields {
    #[command(flatten)]
    draft: Draft,

    /// File that holds the prompt (`-` reads standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    prompt_file: Option<PathBuf>,

    /// Program and arguments of a worker, split like a shell's and run without one
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,
}

impl Fields {
    pub(super) fn over(self, below: Draft) -> Result<Draft> {
        let mut draft = self.draft.or(below);
        if let Some(file) = &self.prompt_file {
            let bytes = read_input(file, PROMPT_MAX)?;
            let text = String::from_utf8(bytes)
                .map_err(|_| draft::invalid(format!("{} is not UTF-8", file.display())))?;
            draft.prompt = Some(text);
        }
        if let Some(line) = &self.command {
            let line = serde_json::json!({ "command": line });
            draft.command = Draft::from_value(line)?.command;
        }
        Ok(draft)
    }
}

/// Register all agents of a file, or none
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo agents import agents.yaml
  cleo agents import workers.json --replace
  jq -c '.agents[]' registry.json | cleo agents import -")]
pub(in crate::cli) struct ImportArguments {
    /// JSON or YAML: one agent, a list, or a list under `agents`; `-` reads standard input
    file: PathBuf,

    /// Change agents that are there already
    #[arg(long)]
    replace: bool,
}

pub(super) fn import(face: &mut Face<'_>, arguments: ImportArguments) -> Result<ExitCode> {
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

/// Change an agent, pause it or put it away
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo agents update lore-keeper --tag warcraft,wow,lore
  cleo agents update toby-technical --status paused
  cleo agents update lore-keeper --name 'Keeper of lore' --temperature 0.2")]
pub(in crate::cli) struct UpdateArguments {
    /// Its id
    agent: String,

    /// Its name for people
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    fields: Fields,
}

pub(super) fn update(face: &mut Face<'_>, arguments: UpdateArguments) -> Result<ExitCode> {
    let draft = Draft {
        name: arguments.name,
        ..Draft::default()
    };
    let draft = arguments.fields.over(draft)?;
    let surroundings = face.surroundings()?;
    let one = agents::update(&surroundings, &arguments.agent, draft, None, true)?;
    face.reply(&one, &one.warnings, |screen| {
        screen.say(Tone::Good, "Changed").say(Tone::Plain, " ");
        agent_text(screen, &one.agent);
    })
}
