//! `cleo claim`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::arguments::LeaseOption;
use super::screen::Tone;
use super::show::{claim_fields, task_line};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::claims::{self, Claimed};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo claim T3
  cleo claim --next --epic T1 --lease 30m
  cleo claim --next --json | jq -r '.result.claim | [.task, .epoch] | @tsv'

Whoever wins gets an epoch; give it to complete, verify, manifest append, heartbeat and release with
--epoch or CLEO_EPOCH, and they refuse (exit 35) once somebody else took over. Exit 35: somebody
holds the task. Exit 4 with --next: nothing is ready; `retryable` says whether to come back.")]
pub(super) struct Arguments {
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

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let (mut context, lease) = (face.context()?, arguments.lease.or_set(face.settings));
    let claimed = match arguments.task {
        Some(task) => claims::claim(&mut context, task, lease, arguments.force)?,
        None => claims::claim_next(&mut context, arguments.epic, lease)?,
    };
    claimed_reply(face, "Claimed", &claimed)
}

/// Answers with a task and its claim.
pub(super) fn claimed_reply(
    face: &mut Face<'_>,
    verb: &str,
    claimed: &Claimed,
) -> Result<ExitCode> {
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
