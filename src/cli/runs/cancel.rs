//! `cleo runs cancel`

use std::process::ExitCode;

use clap::Args;

use super::words::status_tone;
use crate::cli::Face;
use crate::cli::screen::{Tone, count};
use crate::coordinator;
use crate::error::{Result, quote};
use crate::id;

/// Give up a run: of tasks or of a plan its agents are ended and its tasks given back
#[derive(Args)]
#[command(after_help = "\
The request is kept, and whoever carries the run out obeys it; it is waited for 15 seconds. A run whose
process has ended is ended here. What is done stays done. What was done in a worktree and is not merged
stays on its branch; where that cannot hold all of it, as with conflicts that nobody has settled, the
worktree is kept, and told with the reason. Of an execution nothing more is kept from then on but what it
took: the program or model that answers is not ended, and works until its answer or its time limit; who
waits for that is told.

Examples:
  cleo runs list --status running
  cleo runs cancel run_1769418000000_1")]
pub(in crate::cli) struct Arguments {
    /// Its id
    run: String,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let cancelled = coordinator::cancel(&face.surroundings()?, &arguments.run)?;
    face.reply(&cancelled, &[], |screen| {
        let run = &cancelled.run;
        screen.say(Tone::Strong, &run.id).say(Tone::Plain, " ");
        screen.line(status_tone(run.status), run.status);
        if cancelled.orphans > 0 {
            let n = count(cancelled.orphans, "process", "processes");
            screen.line(Tone::Dim, format!("{n} of agents ended"));
        }
        if !cancelled.released.is_empty() {
            let released = id::list(&cancelled.released);
            screen.line(Tone::Dim, format!("given back: {released}"));
        }
        for branch in &cancelled.branches {
            let merge = format!("git merge {}", quote(branch));
            screen.line(Tone::Warn, format!("not merged: {branch} (`{merge}`)"));
        }
        for tree in &cancelled.worktrees {
            let (task, place) = (tree.task_id, &tree.worktree);
            let kept = format!("the worktree of {task} is kept in {place}: {}", tree.reason);
            screen.line(Tone::Warn, kept);
        }
    })
}
