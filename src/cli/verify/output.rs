//! `cleo verify output`

use std::process::ExitCode;

use clap::Args;

use super::answer;
use crate::cli::Face;
use crate::cli::arguments::EpochOption;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::verify;

/// Check the manifest entry and the output file of a task (exit 62, 63)
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo verify output T3")]
pub(in crate::cli) struct Arguments {
    /// The task
    task: TaskId,

    #[command(flatten)]
    claim: EpochOption,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let id = arguments.task;
    let result = verify::output(&mut face.context()?, id, arguments.claim.epoch)?;
    let place = result.worktree.as_ref().map(|place| format!(" in {place}"));
    answer(
        face,
        &format!("output of {id}{}", place.unwrap_or_default()),
        &result,
        &result.verdict,
        |error| {
            error.fix(format!("cleo spawn {id} --format text")).or(
                "see what the manifest holds for it",
                format!("cleo manifest list --task {id}"),
            )
        },
    )
}
