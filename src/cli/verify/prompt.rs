//! `cleo verify prompt`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::answer;
use crate::cli::Face;
use crate::error::{Result, quote};
use crate::file::read_input;
use crate::id::TaskId;
use crate::ops::verify;
use crate::protocol::block::named_task;

/// Largest prompt that is read, in bytes.
const PROMPT_MAX: u64 = 16 << 20;

/// Check that a prompt carries the subagent protocol (exit 60)
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo verify prompt prompt.md
  cleo verify prompt prompt.md --task T3
  cleo spawn T3 | jq -r .result.prompt | cleo verify prompt - --strict")]
pub(in crate::cli) struct Arguments {
    /// File of the prompt; - reads standard input
    file: PathBuf,

    /// Task that the prompt is for: its id must stand in the block; else the one that the prompt names
    #[arg(long, value_name = "TASK")]
    task: Option<TaskId>,

    /// Also demand that the protocol is word for word a known version
    #[arg(long)]
    strict: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let shown = arguments.file.to_string_lossy().into_owned();
    let bytes = read_input(&arguments.file, PROMPT_MAX)?;
    let text = String::from_utf8_lossy(&bytes);
    let surroundings = face.surroundings()?;
    let verdict = verify::prompt(&surroundings, &text, arguments.task, arguments.strict)?;
    let task = arguments.task.or_else(|| named_task(&text));
    let is_of_other = verdict.violations.iter().any(|found| found.rule == "TASK");
    let fix = match task.filter(|_| is_of_other) {
        Some(task) => format!("cleo spawn {task} --format text"),
        None => fix(&shown, &text, task),
    };
    answer(
        face,
        &format!("prompt {shown}"),
        &verdict,
        &verdict,
        |error| error.fix(fix),
    )
}

/// Appends the block, on a line of its own, for the task that the prompt names.
fn fix(file: &str, text: &str, task: Option<TaskId>) -> String {
    let task = task.map(|id| format!(" {id}"));
    let print = format!(
        "cleo research inject{} --format text",
        task.unwrap_or_default()
    );
    if file == "-" {
        return print;
    }
    let file = quote(file);
    match text.ends_with('\n') {
        true => format!("{print} >> {file}"),
        false => format!("printf '\\n' >> {file} && {print} >> {file}"),
    }
}
