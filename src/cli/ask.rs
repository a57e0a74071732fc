//! `cleo ask`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::live::Live;
use super::screen::{Cell, Screen, Tone, dim, plain, strong};
use crate::error::{Result, quote};
use crate::ops::ask::{self, Asked, Options, Query};
use crate::ops::executions::Progress;
use crate::ops::plans::external::External;
use crate::runner::agent::Runners;
use crate::worker::response::{Status, WorkerReply};

#[derive(Args)]
#[command(after_help = "\
Workers are agents behind an address or in a program: `cleo agents register NAME --endpoint URL` or
`--command LINE`. A model (setting llm.provider) chooses who is asked for what, and answers out of what
they said. Without one, or when its plan cannot be carried out, one worker is asked: the agent
document_summarizer_agent, else the one whose words fit the query best, else the first; and the answer is
what was found. Exit 80 when no worker answered.

Examples:
  cleo ask 'Summarize this week'
  cleo ask 'Summarize this week' --debug               who was asked, and what each said
  cleo ask 'Which mails are urgent?' --planner 'python3 plan.py'
  cleo ask 'Summarize this week' --json --jq .result.answer")]
pub(super) struct Arguments {
    #[command(flatten)]
    query: Query,

    /// Also show who was asked for what, and what each said (JSON always does)
    #[arg(long)]
    debug: bool,

    /// Have this program choose: query and agents as JSON on its standard input, the steps on its
    /// standard output; no shell
    #[arg(long, value_name = "COMMAND")]
    planner: Option<String>,

    /// Most workers that are asked at a time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let surroundings = face.surroundings()?;
    let planner = arguments.planner.as_deref();
    let planner = planner.map(|line| {
        let passed = Runners::from(face.settings)?.passed;
        External::new(line, surroundings.directory.clone(), passed)
    });
    let options = Options {
        planner: planner.transpose()?,
        jobs: usize::from(arguments.jobs),
    };
    let mut live = Live::new(face);
    let asked = ask::ask(
        &surroundings,
        &arguments.query,
        &options,
        &mut |told| match told {
            Progress::Event(event) => live.send(event),
            Progress::Piece(piece) => live.piece(&piece),
        },
    )?;
    let is_shown = live.end_pieces(&asked.reply.answer);
    live.end(&asked.reply, asked.error(), &asked.warnings, |screen| {
        if !is_shown {
            screen.verbatim(&asked.reply.answer);
        }
        screen.line(Tone::Plain, "");
        if arguments.debug {
            debug(screen, &asked);
        }
    })
}

fn debug(screen: &mut Screen, asked: &Asked) {
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
