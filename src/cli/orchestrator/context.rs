//! `cleo orchestrator context`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::screen::{Screen, Tone};
use crate::error::Result;
use crate::file;
use crate::id::TaskId;
use crate::ops::orchestrator::{self, Measured, Source, State};

/// Largest text that is counted, in bytes.
const TEXT_MAX: u64 = 64 << 20;

/// Say how much an orchestrator has used of its 10,000 tokens (exit 52 from 80 percent on)
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo orchestrator context                       what `orchestrator start` costs
  cleo orchestrator context --task T2 --task T3   what the prompts of these tasks cost
  cleo orchestrator context --file notes.md --stdin < transcript.txt
  cleo orchestrator context --tokens 7300         what the agent has counted itself

Texts are estimated at four characters a token, and the answer says so. The setting
orchestrator.contextTokens changes the limit. From 70 percent on
there is a warning, from 80 percent on the exit code is 52; the figures come in each case.")]
pub(in crate::cli) struct Arguments {
    /// Tokens that the caller has counted itself
    #[arg(long, value_name = "NUMBER")]
    tokens: Option<usize>,

    /// Count this file; - is standard input
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,

    /// Count standard input
    #[arg(long)]
    stdin: bool,

    /// Count the prompt of this task, as `spawn` would prepare it
    #[arg(long, value_name = "TASK")]
    task: Vec<TaskId>,

    /// Count the answer of `orchestrator start` for this epic, besides
    #[arg(long, value_name = "TASK")]
    epic: Option<TaskId>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let given = arguments.tokens;
    let given = given.map(|tokens| Source::Given("--tokens", tokens));
    let mut sources: Vec<Source> = given.into_iter().collect();
    let standard_input = arguments.stdin.then(|| PathBuf::from("-"));
    for path in arguments.file.iter().chain(&standard_input) {
        let bytes = file::read_input(path, TEXT_MAX)?;
        let name = match path.as_os_str() == "-" {
            true => "standard input".to_string(),
            false => path.to_string_lossy().into_owned(),
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        sources.push(Source::Text(name, text));
    }
    sources.extend(arguments.task.iter().copied().map(Source::Prompt));
    if sources.is_empty() || arguments.epic.is_some() {
        sources.push(Source::Start(arguments.epic));
    }
    let limit = orchestrator::limit(face.settings);
    let mut measured = orchestrator::measure(sources, arguments.epic, limit, || face.context())?;
    let (error, warnings) = (
        measured.error.take(),
        std::mem::take(&mut measured.warnings),
    );
    face.outcome(&measured, error, &warnings, |screen| {
        render(screen, &measured)
    })
}

fn render(screen: &mut Screen, measured: &Measured) {
    let budget = &measured.budget;
    let tone = match budget.state {
        State::Ok => Tone::Good,
        State::Warning => Tone::Warn,
        State::Critical => Tone::Bad,
    };
    screen
        .say(tone, format!("{} percent", budget.percent))
        .line(
            Tone::Plain,
            format!(
                " of {} tokens: {} ({})",
                budget.limit, budget.tokens, budget.method
            ),
        );
    for part in &measured.parts {
        screen
            .say(Tone::Plain, format!("  {:>7}  {}", part.tokens, part.of))
            .line(Tone::Dim, format!("  {}", part.method));
    }
}
