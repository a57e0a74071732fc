//! `cleo agents register`

use std::process::ExitCode;

use clap::Args;

use super::agent_text;
use super::fields::{self, Fields};
use crate::agent::draft::{self, Draft};
use crate::cli::Face;
use crate::cli::screen::Tone;
use crate::document;
use crate::error::Result;
use crate::file::read_stdin;
use crate::ops::agents::{self, Terms};

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
    let registered = agents::register(
        &face.surroundings()?,
        draft,
        arguments.runtime,
        &Terms::default(),
    )?;
    let shown = &registered.shown;
    face.reply(&registered, &shown.warnings, |screen| {
        let verb = if registered.created {
            "Registered"
        } else {
            "Changed"
        };
        screen.say(Tone::Good, verb).say(Tone::Plain, " ");
        agent_text(screen, shown);
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
    fields::read(value)
}
