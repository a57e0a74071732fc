//! `cleo ask`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::live::Live;
use super::screen::{Cell, Screen, Tone, dim, plain, strong};
use crate::coordinator::ask::{self, Options, Query, QueryReport};
use crate::error::{Result, quote};
use crate::ops::executions::Progress;
use crate::worker::response::{Status, WorkerReply};

#[derive(Args)]
#[command(after_help = "\
Workers are HTTP services or programs: `cleo agents register NAME --endpoint URL` or
`--command LINE`. A model (by OPENAI_API_KEY or setting llm.provider) plans which workers to
ask, and writes the answer from their replies. Without a model, or with an invalid plan, one
worker is asked: the one named document_summarizer_agent if there is one, else the best match
for the query, else the first. Exit 80 if no worker answers.

Examples:
  cleo ask 'Summarize this week'
  cleo ask 'Summarize this week' --debug               who was asked, and what each said
  cleo ask 'Which mails are urgent?' --planner 'python3 plan.py'
  cleo ask 'Summarize this week' --json --jq .result.answer")]
pub(super) struct Arguments {
    #[command(flatten)]
    query: Query,

    /// Also show the requests to workers and their replies (always in JSON)
    #[arg(long)]
    debug: bool,

    /// Plan with this program, run without a shell: it reads query and agents as JSON and prints
    /// the steps
    #[arg(long, value_name = "COMMAND")]
    planner: Option<String>,

    /// Maximum number of workers at a time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let surroundings = face.surroundings()?;
    let planner = arguments.planner.as_deref();
    let options = Options {
        planner: planner.map(|line| face.external(line)).transpose()?,
        jobs: usize::from(arguments.jobs),
    };
    let mut live = Live::new(face);
    let asked = ask::ask(
        &surroundings,
        &arguments.query,
        &options,
        &mut |told| match told {
            Progress::Event(event) => live.send(event),
            Progress::Piece(piece) => live.show_piece(&piece),
        },
    )?;
    live.end_pieces(&asked.reply.answer);
    let is_shown = live.has_shown(&asked.reply.answer);
    live.end(&asked.reply, asked.error(), &asked.warnings, |screen| {
        if !is_shown {
            screen.verbatim(&asked.reply.answer);
        }
        screen.line(Tone::Plain, "");
        if arguments.debug {
            render_steps(screen, &asked);
        }
    })
}

fn render_steps(screen: &mut Screen, asked: &QueryReport) {
    screen.line(Tone::Plain, "");
    let results = asked.reply.intermediate_results.iter();
    let rows = results.zip(&asked.reply.used_agents);
    let rows = rows.map(|((step, reply), used)| row(step, &used.intent, reply));
    screen.rows(&["STEP", "AGENT", "INTENT", "", "SAID"], rows);
    screen.line(
        Tone::Dim,
        format!("cleo runs show {}", quote(&asked.run.id)),
    );
}

fn row(step: &str, intent: &str, reply: &WorkerReply) -> [Cell; 5] {
    let tone = match reply.status {
        Status::Success => Tone::Good,
        Status::Error => Tone::Bad,
    };
    let said = match (&reply.output, &reply.error) {
        (Some(output), _) => output.text(),
        (None, Some(fault)) => format!("{}: {}", fault.kind, fault.message),
        (None, None) => String::new(),
    };
    let said = said.lines().next().unwrap_or_default();
    [
        strong(step),
        plain(&reply.agent_name),
        dim(intent),
        (tone, reply.status.word().to_string()),
        (Tone::Plain, said.chars().take(120).collect()),
    ]
}
