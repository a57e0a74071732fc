//! The fields of an agent as options, for `register` and `update`.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use crate::agent::draft::{self, Draft};
use crate::error::Result;
use crate::file::read_input;

/// Longest prompt in a file, in bytes.
const PROMPT_MAX: u64 = 1 << 20;

// A doc comment here would become the help of the commands.
#[derive(Args)]
pub(super) struct Fields {
    /// What it is good at; its words bring messages to it
    #[arg(long, short, value_name = "TEXT")]
    description: Option<String>,

    /// What it works towards; its words bring messages to it
    #[arg(long, value_name = "TEXT")]
    objective: Option<String>,

    /// What a model is told before the message
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,

    /// File that holds the prompt (`-` reads standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    prompt_file: Option<PathBuf>,

    /// Word or words by which messages reach it (repeat, or separate with commas)
    #[arg(long = "tag", value_name = "TAG", value_delimiter = ',')]
    tags: Option<Vec<String>>,

    /// supervisor, specialist or custom
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,

    /// active, paused or archived
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,

    /// Model that answers
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// How freely it answers, from 0 to 2
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    temperature: Option<f64>,

    /// Most tokens of an answer
    #[arg(long, value_name = "N")]
    max_tokens: Option<u32>,

    /// Colour in pictures, such as #6B7280
    #[arg(long, value_name = "COLOUR")]
    agent_color: Option<String>,

    /// Name of its icon
    #[arg(long, value_name = "NAME")]
    icon: Option<String>,

    /// Tool that it may use (repeat, or separate with commas)
    #[arg(long = "tool", value_name = "TOOL", value_delimiter = ',')]
    tools: Option<Vec<String>>,

    /// What a worker can be asked for, such as summary.create (repeat)
    #[arg(long = "intent", value_name = "INTENT", value_delimiter = ',')]
    intents: Option<Vec<String>>,

    /// The one thing that it offers to plans
    #[arg(long, value_name = "NAME")]
    capability: Option<String>,

    /// What it can do, for plans (repeat, or separate with commas)
    #[arg(long = "skill", value_name = "SKILL", value_delimiter = ',')]
    skills: Option<Vec<String>>,

    /// Address of a worker that is reached by HTTP
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,

    /// Program and arguments of a worker, split like a shell's and run without one
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,

    /// Address that says whether a worker is there
    #[arg(long, value_name = "URL")]
    healthcheck: Option<String>,

    /// How long a worker may take, in milliseconds
    #[arg(long, value_name = "MS")]
    timeout_ms: Option<u32>,
}

impl Fields {
    /// Puts what was said over a draft.
    pub(super) fn over(self, mut draft: Draft) -> Result<Draft> {
        if let Some(file) = &self.prompt_file {
            let bytes = read_input(file, PROMPT_MAX)?;
            let text = String::from_utf8(bytes)
                .map_err(|_| draft::invalid(format!("{} is not UTF-8", file.display())))?;
            draft.prompt = Some(text);
        }
        if let Some(line) = &self.command {
            let line = serde_json::json!({ "command": line });
            draft.command = read(line)?.command;
        }
        macro_rules! put {
            ($($field:ident),+) => { $(if self.$field.is_some() { draft.$field = self.$field; })+ };
        }
        put!(
            description,
            objective,
            prompt,
            tags,
            role,
            status,
            model,
            temperature,
            max_tokens,
            icon,
            tools,
            intents,
            capability,
            skills,
            endpoint,
            healthcheck,
            timeout_ms
        );
        draft.color = self.agent_color.or(draft.color);
        Ok(draft)
    }
}

/// Reads a draft from JSON.
pub(super) fn read(value: Value) -> Result<Draft> {
    Draft::from_value(value)
}
