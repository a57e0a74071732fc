//! `cleo claim`, `heartbeat` and `release`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::arguments::{EpochOption, LeaseOption};
use super::screen::{Screen, Tone};
use super::show::{claim_fields, task_line};
use crate::error::Result;
use crate::id::{self, TaskId};
use crate::ops::claims::{self, Claimed};
use crate::ops::{self, tasks};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo claim T3
  cleo claim --next --epic T1 --lease 30m
  cleo claim --next --json | jq -r '.result.claim | [.task, .epoch] | @tsv'

Whoever wins gets an epoch; give it to complete, verify, manifest append, heartbeat and release with
--epoch or CLEO_EPOCH, and they refuse (exit 35) once somebody else took over. Exit 35: somebody
holds the task. Exit 4 with --next: nothing is ready; `retryable` says whether to come back.")]
pub(super) struct ClaimArguments {
    /// The task
    #[arg(required_unless_present = "next", conflicts_with = "next")]
    task: Option<TaskId>,

    /// The most urgent task that is ready and touches no files of a task under way
    #[arg(long)]
    next: bool,

    /// With --next: only what is below this task, to any depth
    #[arg(long, value_name = "TASK", requires = "next")]
    epic: Option<TaskId>,

    #[command(flatten)]
    lease: LeaseOption,

    /// Claim a task although it waits for others; this is recorded
    #[arg(long, conflicts_with = "next")]
    force: bool,
}

pub(super) fn claim(face: &mut Face<'_>, arguments: ClaimArguments) -> Result<ExitCode> {
    let (mut context, lease) = (face.context()?, arguments.lease.or_set(face.settings));
    let claimed = match arguments.task {
        Some(task) => claims::claim(&mut context, task, lease, arguments.force)?,
        None => claims::claim_next(&mut context, arguments.epic, lease)?,
    };
    claimed_reply(face, "Claimed", &claimed)
}

fn claimed_reply(face: &mut Face<'_>, verb: &str, claimed: &Claimed) -> Result<ExitCode> {
    face.reply(claimed, &claimed.warnings, |screen| {
        let (tone, word) = match claimed.changed {
            true => (Tone::Good, verb),
            false => (Tone::Dim, "Unchanged"),
        };
        screen.say(tone, word).say(Tone::Plain, " ");
        task_line(screen, &claimed.task);
        claim_fields(screen, claimed.claim.as_ref());
    })
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo heartbeat T3
  cleo heartbeat T3 --epoch 2 --lease 30m")]
pub(super) struct HeartbeatArguments {
    /// The task
    task: TaskId,

    #[command(flatten)]
    lease: LeaseOption,

    #[command(flatten)]
    claim: EpochOption,

    /// Extend it although somebody else holds the task; this is recorded
    #[arg(long)]
    force: bool,
}

pub(super) fn heartbeat(face: &mut Face<'_>, arguments: HeartbeatArguments) -> Result<ExitCode> {
    let (lease, epoch) = (arguments.lease.or_set(face.settings), arguments.claim.epoch);
    let mut context = face.context()?;
    let extended = claims::heartbeat(&mut context, arguments.task, lease, epoch, arguments.force)?;
    claimed_reply(face, "Extended", &extended)
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo release T3
  cleo release T3 --epoch 2
  cleo release T3 --force                  take it from whoever holds it")]
pub(super) struct ReleaseArguments {
    /// The task
    task: TaskId,

    #[command(flatten)]
    claim: EpochOption,

    /// Take it from somebody else; this is recorded
    #[arg(long)]
    force: bool,
}

pub(super) fn release(face: &mut Face<'_>, arguments: ReleaseArguments) -> Result<ExitCode> {
    let (epoch, force) = (arguments.claim.epoch, arguments.force);
    let released = claims::release(&mut face.context()?, arguments.task, epoch, force)?;
    claimed_reply(face, "Released", &released)
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo start T3
  cleo start T3 --lease 4h

A task that waits for others is started with a warning: whoever starts it has chosen it, as an agent
has that was given its prompt. `cleo claim`, which hands out work, refuses it without --force.")]
pub(super) struct StartArguments {
    /// The task
    task: TaskId,

    #[command(flatten)]
    lease: LeaseOption,

    #[command(flatten)]
    claim: EpochOption,
}

pub(super) fn start(face: &mut Face<'_>, arguments: StartArguments) -> Result<ExitCode> {
    let (lease, epoch) = (arguments.lease.or_set(face.settings), arguments.claim.epoch);
    let moved = tasks::start(&mut face.context()?, arguments.task, lease, epoch)?;
    face.reply(&moved, &moved.warnings, |screen| {
        moved_line(screen, "Started", &moved);
        claim_fields(screen, moved.claim.as_ref());
    })
}

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

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo complete T3
  cleo complete T3 --force

What a task depends on need not be done: work that is finished is finished, so that is a warning.")]
pub(super) struct CompleteArguments {
    /// The task
    task: TaskId,

    /// Complete it although it does not verify, has open children or is somebody else's; this is
    /// recorded
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    claim: EpochOption,
}

pub(super) fn complete(face: &mut Face<'_>, arguments: CompleteArguments) -> Result<ExitCode> {
    let (epoch, force) = (arguments.claim.epoch, arguments.force);
    let moved = ops::complete::complete(&mut face.context()?, arguments.task, epoch, force)?;
    face.reply(&moved, &moved.warnings, |screen| {
        moved_line(screen, "Completed", &moved)
    })
}

#[derive(Args)]
#[command(after_help = "Examples:\n  cleo reopen T3")]
pub(super) struct ReopenArguments {
    /// The task
    task: TaskId,
}

pub(super) fn reopen(face: &mut Face<'_>, arguments: ReopenArguments) -> Result<ExitCode> {
    let moved = tasks::reopen(&mut face.context()?, arguments.task)?;
    face.reply(&moved, &moved.warnings, |screen| {
        moved_line(screen, "Reopened", &moved)
    })
}

#[derive(Args)]
#[command(after_help = "Examples:\n  cleo cancel T3 --reason 'the library does it already'")]
pub(super) struct CancelArguments {
    /// The task
    task: TaskId,

    /// Why; kept as a note
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// Cancel it although somebody else holds it; this is recorded
    #[arg(long)]
    force: bool,
}

pub(super) fn cancel(face: &mut Face<'_>, arguments: CancelArguments) -> Result<ExitCode> {
    let CancelArguments {
        task,
        reason,
        force,
    } = arguments;
    let moved = tasks::cancel(&mut face.context()?, task, reason, force)?;
    face.reply(&moved, &moved.warnings, |screen| {
        moved_line(screen, "Cancelled", &moved)
    })
}
