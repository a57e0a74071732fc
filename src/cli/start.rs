//! `cleo start`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::arguments::{EpochOption, LeaseOption};
use super::screen::{Screen, Tone};
use super::show::{claim_fields, task_line};
use crate::error::Result;
use crate::id::{self, TaskId};
use crate::ops::tasks;

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo start T3
  cleo start T3 --lease 4h

A task that waits for others is started with a warning: whoever starts it has chosen it, as an agent
has that was given its prompt. `cleo claim`, which hands out work, refuses it without --force.")]
pub(super) struct Arguments {
    /// The task
    task: TaskId,

    #[command(flatten)]
    lease: LeaseOption,

    #[command(flatten)]
    claim: EpochOption,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let (lease, epoch) = (arguments.lease.or_set(face.settings), arguments.claim.epoch);
    let moved = tasks::start(&mut face.context()?, arguments.task, lease, epoch)?;
    face.reply(&moved, &moved.warnings, |screen| {
        moved_line(screen, "Started", &moved);
        claim_fields(screen, moved.claim.as_ref());
    })
}

/// Says what a move did.
pub(super) fn moved_line(screen: &mut Screen, verb: &str, moved: &tasks::Moved) {
    let (tone, word) = if moved.changed {
        (Tone::Good, verb)
    } else {
        (Tone::Dim, "Unchanged")
    };
    screen.say(tone, word).say(Tone::Plain, " ");
    task_line(screen, &moved.task);
    screen.field("judged in", moved.worktree.as_deref().unwrap_or_default());
    screen.field("now ready", id::list(&moved.unblocked));
}
