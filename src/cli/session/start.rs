//! `cleo session start`

use std::process::ExitCode;

use clap::Args;

use super::kept_reply;
use crate::cli::Face;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::sessions;

/// Open a session
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo session start --scope T1 --name 'Login'
  cleo session start

Prompts for tasks in its scope tell the agent that it works inside the session. A scope that
overlaps that of somebody else's session is refused (exit 32). A session about everything stands
beside all others: a task belongs to the open session with the nearest scope.")]
pub(in crate::cli) struct Arguments {
    /// The task that it is about, with all below it; everything unless told
    #[arg(long, value_name = "TASK")]
    scope: Option<TaskId>,

    /// What it is for, in a few words
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,

    /// Open it although somebody else's session is about the same tasks
    #[arg(long)]
    force: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let Arguments { scope, name, force } = arguments;
    let kept = sessions::start(&mut face.context()?, scope, name, force)?;
    kept_reply(face, "Started", &kept)
}
