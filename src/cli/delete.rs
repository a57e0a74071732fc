//! `cleo delete`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::screen::Tone;
use crate::error::Result;
use crate::id::{self, TaskId};
use crate::ops::tasks;

#[derive(Args)]
#[command(after_help = "Examples:\n  cleo delete T3 --dry-run\n  cleo delete T1 --cascade")]
pub(super) struct Arguments {
    /// The task
    task: TaskId,

    /// Delete what is below it too
    #[arg(long)]
    cascade: bool,

    /// Delete it although others depend on it, who no longer do, or somebody else holds it
    #[arg(long)]
    force: bool,

    /// Show what would be deleted
    #[arg(long, short = 'n')]
    dry_run: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let Arguments {
        task,
        cascade,
        force,
        dry_run,
    } = arguments;
    let deleted = tasks::delete(&mut face.context()?, task, cascade, force, dry_run)?;
    face.reply(&deleted, &[], |screen| {
        let (tone, verb) = if dry_run {
            (Tone::Plain, "Would delete")
        } else {
            (Tone::Good, "Deleted")
        };
        screen
            .say(tone, verb)
            .line(Tone::Plain, format!(" {}", id::list(&deleted.deleted)));
        screen.field("released", id::list(&deleted.released));
    })
}
