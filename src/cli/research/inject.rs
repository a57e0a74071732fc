//! `cleo research inject`

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::cli::Face;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::spawn;

/// Print the protocol block, to be appended to a prompt
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo research inject T3 --format text >> prompt.md
  cleo research inject --format text")]
pub(in crate::cli) struct Arguments {
    /// Resolve the tokens for this task; without one they stay
    task: Option<TaskId>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct Injected {
    block: String,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let block = match arguments.task {
        Some(task) => spawn::block_for(&mut face.context()?, task)?,
        None => spawn::block()?,
    };
    let result = Injected { block };
    face.reply(&result, &[], |screen| {
        screen.verbatim(&result.block);
    })
}
