//! `cleo agents execute`

use std::process::ExitCode;

use clap::Args;

use super::route;
use crate::cli::Face;
use crate::cli::live::{Live, describe_answer};
use crate::cli::screen::{Screen, Tone, status};
use crate::error::Result;
use crate::ops::answers::INCOMPLETE;
use crate::ops::executions::{Executor, Progress, failure};
use crate::route::{FINALIZE, Query};
use crate::run::view::RunView;
use crate::run::{DELEGATION, Run, RunStatus};

#[derive(Args)]
#[command(after_help = "\
Without a configured model, the message is only routed: the run is unanswered, and the exit code is 80.

Examples:
  cleo agents execute 'Explain the Second War in Warcraft history.'
  cleo agents execute 'Help me design a layout' --agent peter-logical
  cleo agents execute 'And the third?' --conversation conv_1769418000000_1
  cleo agents execute --format ndjson 'Solve 2x + 5 = 15'      each step as it comes, the run last")]
pub(in crate::cli) struct Arguments {
    /// The message
    message: String,

    /// Agent to ask; if it is unavailable, a warning says so and the router chooses
    #[arg(long = "agent", value_name = "ID")]
    requested_agent: Option<String>,

    /// Conversation that the message belongs to
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let query = Query {
        conversation: arguments.conversation,
        ..Query::new(arguments.message, arguments.requested_agent)?
    };
    let mut executor = Executor::open(&face.surroundings()?, route::match_of(face.settings))?;
    let mut live = Live::new(face);
    let mut to = FINALIZE.to_string();
    let shown = executor.execute(&query, &mut |told| match told {
        Progress::Event(event) => {
            live.send(event);
            if event.kind == DELEGATION {
                let word = |name: &str| event.detail[name].as_str().unwrap_or_default();
                to = word("to").to_string();
                live.show(|screen| head(screen, word("from"), &to, word("reason")));
            }
        }
        Progress::Piece(piece) => live.show_piece(&piece),
    })?;
    let answer = shown.run.record.output.as_deref().unwrap_or_default();
    live.end_pieces(answer);
    let (has_head, has_answer) = (live.is_text(), live.has_shown(answer));
    let warnings = warnings(&executor, &shown);
    live.end(&shown, failure(&shown), &warnings, |screen| {
        let run = &shown.run.record;
        if !has_head {
            head(screen, &run.supervisor, &to, &run.routing_reason);
        }
        if !has_answer {
            screen.verbatim(answer);
        }
        screen.line(Tone::Plain, "");
        screen.line(Tone::Plain, "");
        let (tone, word) = status(run.status);
        screen
            .say(tone, word)
            .line(Tone::Dim, format!("  {}  {}", run.id, describe_answer(run)));
    })
}

/// Returns warnings about skipped agents, fallback answers and incomplete answers.
fn warnings(executor: &Executor, shown: &RunView) -> Vec<String> {
    let last = shown.messages.last();
    let lack = last.and_then(|message| message.metadata.get(INCOMPLETE)?.as_str());
    let warning = lack.map(|lack| format!("the answer is incomplete: {lack}"));
    let warnings = executor.warnings.iter().cloned();
    warnings
        .chain(describe_fallback(&shown.run.record))
        .chain(warning)
        .collect()
}

fn describe_fallback(run: &Run) -> Option<String> {
    let error = run.error.as_deref();
    let error = error.filter(|_| run.status == RunStatus::Completed)?;
    let why = error.split_once(": ").map_or(error, |(_, why)| why);
    Some(format!("{why}; {} answered in its place", run.supervisor))
}

fn head(screen: &mut Screen, supervisor: &str, agent: &str, reason: &str) {
    screen
        .say(Tone::Dim, format!("{supervisor} → "))
        .say(Tone::Accent, agent)
        .line(Tone::Plain, format!("  {reason}"));
    screen.line(Tone::Plain, "");
}
