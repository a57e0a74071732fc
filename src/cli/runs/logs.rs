//! `cleo runs logs`

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::arguments::Format;
use crate::cli::screen::{Screen, Tone};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::work::runs::logs::{Output, logs};
use crate::run::Line;

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo runs logs run_1769418000000_1
  cleo runs logs run_1769418000000_1 --task T3 --raw
  cleo runs logs run_1769418000000_1 --format ndjson | jq -r 'select(.type == \"task.failed\")'")]
pub(in crate::cli) struct Arguments {
    /// Id of the run
    run: String,

    /// Only this task
    #[arg(long, short, value_name = "TASK")]
    task: Option<TaskId>,

    /// Show the output of agents; of more than 1 MB only the end. Text escapes terminal control
    /// characters; --json is exact
    #[arg(long)]
    raw: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let surroundings = face.surroundings()?;
    let logged = logs(&surroundings, &arguments.run, arguments.task, arguments.raw)?;
    if face.output.format() == Format::Ndjson && !arguments.raw {
        face.output.check_events()?;
        let mut stream = face.output.stream();
        for line in &logged.events {
            stream.row(line, |_| {});
            if !stream.is_open() {
                break;
            }
        }
        return Ok(face.output.end(stream));
    }
    face.reply(&logged, &[], |screen| match &logged.outputs {
        Some(outputs) => outputs.iter().for_each(|one| output(screen, one)),
        None => logged.events.iter().for_each(|line| event(screen, line)),
    })
}

fn event(screen: &mut Screen, line: &Line) {
    let about = line.task_id.as_ref().or(line.step.as_ref());
    let about = about.map(|about| format!("{about} ")).unwrap_or_default();
    let detail = serde_json::to_string(&line.detail).unwrap_or_default();
    screen
        .say(Tone::Dim, format!("{}  ", line.ts))
        .say(Tone::Accent, format!("{:<18} ", line.kind))
        .say(Tone::Strong, about)
        .line(Tone::Plain, detail);
}

fn output(screen: &mut Screen, one: &Output) {
    let Output {
        task_id,
        attempt,
        stream,
        bytes,
        ..
    } = one;
    let head = format!(
        "{task_id}, attempt {attempt}, {stream}, {bytes} bytes: {}",
        one.file
    );
    screen.line(Tone::Dim, head).verbatim(&one.text);
    if !one.text.is_empty() && !one.text.ends_with('\n') {
        screen.line(Tone::Plain, "");
    }
}
