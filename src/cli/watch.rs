//! `cleo watch`

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use super::Face;
use super::arguments::Format;
use super::log::when;
use super::output::Feed;
use super::screen::Tone;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::log::describe;
use crate::ops::watch::{self, Listener, Watch};
use crate::runner::signals;
use crate::store::Recorded;

#[derive(Args)]
#[command(after_help = "\
Each line has the cursor of its change. Whoever goes on from the last cursor seen misses nothing
and sees nothing twice. It ends with its reader, or when it is interrupted. With --once the answer
is one JSON document that holds the changes; --format ndjson gives lines, the result last.

Examples:
  cleo watch                                  what is done from now on
  cleo watch --since 0 --once                 everything up to now, and the cursor to go on from
  cleo watch --since 0 --once --format ndjson
  cleo watch --since 57 | while read -r change; do echo \"$change\"; done")]
pub(super) struct Arguments {
    /// Begin after this cursor; 0 is the beginning
    #[arg(long, value_name = "CURSOR")]
    since: Option<u64>,

    /// Only changes of this task
    #[arg(long, short, value_name = "TASK")]
    task: Option<TaskId>,

    /// End with what is there now; the answer has the cursor to go on from
    #[arg(long)]
    once: bool,

    /// Milliseconds between two looks for something new
    #[arg(long, value_name = "MS", default_value_t = 200, value_parser = clap::value_parser!(u64).range(10..=3_600_000), conflicts_with = "once")]
    interval: u64,
}

/// Keeps what is told, for an answer of one document.
#[derive(Default)]
struct All(Vec<Recorded>);

impl Listener for All {
    fn tell(&mut self, recorded: &Recorded) -> bool {
        self.0.push(recorded.clone());
        true
    }

    fn listens(&mut self) -> bool {
        true
    }
}

impl Listener for Feed<'_> {
    fn tell(&mut self, recorded: &Recorded) -> bool {
        self.line(recorded, |screen| {
            screen
                .say(Tone::Strong, format!("{:>6}  ", recorded.cursor))
                .say(Tone::Dim, when(&recorded.at) + "  ")
                .say(Tone::Accent, &recorded.by)
                .say(Tone::Dim, format!("  {}  ", recorded.command))
                .line(Tone::Plain, describe(&recorded.change));
        })
    }

    fn listens(&mut self) -> bool {
        self.has_reader()
    }
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let mut context = face.context()?;
    let interval = Duration::from_millis(arguments.interval);
    let wanted = Watch {
        since: arguments.since,
        task: arguments.task,
        interval: (!arguments.once).then_some(interval),
    };
    // It only reads, so it may end anywhere.
    signals::end_at_once()?;
    if arguments.once && face.output.format() == Format::Json {
        return at_once(face, &mut context, &wanted);
    }
    let mut feed = face.output.feed();
    let watched = watch::watch(&mut context, &wanted, &mut feed)?;
    if let Some(code) = face.output.end_feed(feed) {
        return Ok(code);
    }
    if arguments.once && face.output.format() == Format::Text {
        face.output.note(&format!(
            "go on with: cleo watch --since {}",
            watched.cursor
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let mut stream = face.output.stream();
    if arguments.once {
        stream.finish(face.name, &watched, None, &[]);
    }
    Ok(face.output.end(stream))
}

/// Answers with all changes in one document.
fn at_once(face: &mut Face<'_>, context: &mut Context, wanted: &Watch) -> Result<ExitCode> {
    let mut all = All::default();
    let mut watched = watch::watch(context, wanted, &mut all)?;
    watched.changes = Some(all.0);
    face.reply(&watched, &[], |_| {})
}
