//! Arguments of `cleo agents register` and `update`.

use std::path::PathBuf;

use clap::Args;

use crate::agent::draft::{self, Draft};
use crate::document;
use crate::error::Result;
use crate::file::{read_input, read_stdin};

/// Largest agent on standard input, in bytes.
const JSON_MAX: u64 = 4 << 20;
/// Longest prompt in a file, in bytes.
const PROMPT_MAX: u64 = 1 << 20;

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo agents register 'Lore keeper' --tag warcraft,lore,'second war' --prompt 'You know Azeroth.'
  cleo agents register Summarizer --endpoint http://127.0.0.1:9000/run --intent summary.create
  cleo agents register --runtime 'Try-out' --tag trial --prompt 'Answer in one line.'
  cleo agents register --stdin < agent.json")]
pub(in crate::cli) struct Arguments {
    /// Display name
    #[arg(required_unless_present = "stdin")]
    name: Option<String>,

    /// Id [default: derived from the name]
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    /// Register a temporary agent with a generated id, removed by `cleo agents cleanup`
    #[arg(long)]
    runtime: bool,

    /// Read the agent as a JSON object from standard input; options override its fields
    #[arg(long)]
    stdin: bool,

    #[command(flatten)]
    fields: Fields,
}

impl Arguments {
    pub(super) fn draft(self) -> Result<Draft> {
        let said = Draft {
            name: self.name,
            id: self.id,
            is_runtime: self.runtime,
            ..self.fields.draft()?
        };
        Ok(match self.stdin {
            true => said.or(read_draft()?),
            false => said,
        })
    }
}

fn read_draft() -> Result<Draft> {
    let bytes = read_stdin(JSON_MAX)?;
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| draft::invalid("standard input is not UTF-8"))?;
    let value = document::json(&text, usize::MAX)
        .map_err(|fault| draft::invalid(format!("standard input is not JSON: {fault}")))?;
    if !value.is_object() {
        return Err(draft::invalid("standard input is not a JSON object"));
    }
    draft::read(value)
}

#[derive(Args)]
struct Fields {
    #[command(flatten)]
    draft: Draft,

    /// File with the system prompt; - reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    prompt_file: Option<PathBuf>,
}

impl Fields {
    fn draft(self) -> Result<Draft> {
        let mut draft = self.draft;
        if let Some(file) = &self.prompt_file {
            let bytes = read_input(file, PROMPT_MAX)?;
            let text = String::from_utf8(bytes)
                .map_err(|_| draft::invalid(format!("{} is not UTF-8", file.display())))?;
            draft.prompt = Some(text);
        }
        Ok(draft)
    }
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo agents update lore-keeper --tag warcraft,wow,lore
  cleo agents update toby-technical --status paused
  cleo agents update lore-keeper --name 'Keeper of lore' --temperature 0.2")]
pub(in crate::cli) struct UpdateArguments {
    /// Id of the agent
    agent: String,

    /// Display name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    fields: Fields,
}

impl UpdateArguments {
    pub(super) fn draft(self) -> Result<Draft> {
        Ok(Draft {
            id: Some(self.agent),
            name: self.name,
            ..self.fields.draft()?
        })
    }
}
