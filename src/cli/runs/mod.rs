//! `cleo runs …`

mod logs;
mod resume;
mod show;

use std::process::ExitCode;

use super::Face;
use super::screen::{Cell, Screen, Tone, count};
use crate::error::{Result, quote};
use crate::ops::api;
use crate::ops::work::runs::OneRun;
use crate::ops::work::runs::listing::Rows;
use crate::run::report::describe_spent;
use crate::run::{Run, RunKind, RunStatus};
use crate::store::records::RunFilter;
use crate::{coordinator, id};

commands! {
    pub(super) (face, it)
    /// List what agents carried out, newest first
    #[command(after_help = "\
Examples:
  cleo runs list
  cleo runs list --status failed --limit 5
  cleo runs list --agent toby-technical --json")]
    List(RunFilter) => face.call(&api::RUNS, it, render_rows);
    /// Show a run with its steps, its messages and everything that happened
    Show(show::Arguments) => face.run("runs.show", it, show::run);
    /// Show what happened in a run, or what its agents wrote
    Logs(logs::Arguments) => face.run("runs.logs", it, logs::run);
    /// Resume a run of tasks or of a plan that was interrupted, failed or was cancelled
    ///
    /// What is done stays done. What an agent left behind whose try was cut off is verified first; what is
    /// missing is done by another one. Agents of the dead process are ended. Tasks that failed are tried again
    /// unless the run was interrupted before it came to its end: complete one that you have repaired yourself
    /// before (cleo complete). A plan is resumed as by cleo plan run --resume.
    Resume(resume::Arguments) => face.run("runs.resume", it, resume::run);
    /// Cancel a run: of tasks or of a plan its agents are ended and its tasks given back
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
    Cancel(OneRun) => face.run("runs.cancel", it, cancel);
}

pub(in crate::cli) fn status_tone(status: RunStatus) -> Tone {
    match status {
        RunStatus::Completed => Tone::Good,
        RunStatus::Failed => Tone::Bad,
        RunStatus::Running => Tone::Accent,
        RunStatus::Pending => Tone::Plain,
        RunStatus::Interrupted => Tone::Warn,
        RunStatus::Cancelled => Tone::Dim,
    }
}

pub(in crate::cli) fn how(run: &Run) -> String {
    let answered = [run.answered_by.map(|by| by.to_string()), run.model.clone()];
    let parts = answered.into_iter().flatten().chain(describe_spent(run));
    parts.collect::<Vec<_>>().join(", ")
}

/// Most characters of a message in a list.
const INPUT_SHOWN: usize = 30;

fn render_rows(screen: &mut Screen, listed: &Rows) {
    if listed.total == 0 {
        screen.line(Tone::Dim, "no runs");
        return;
    }
    let head = ["RUN", "STATUS", "AGENT", "SCORE", "HOW", "MESSAGE"];
    let rows = listed.runs.iter().map(|one| row(&one.record));
    screen.rows(&head, rows);
    let shown = listed.runs.len() as u64;
    if shown < listed.total {
        screen.line(Tone::Dim, format!("{shown} of {} runs", listed.total));
    }
}

fn row(run: &Run) -> Vec<Cell> {
    let words = run.input.split_whitespace().collect::<Vec<_>>().join(" ");
    let agent = run.agent.clone().unwrap_or_else(|| "-".to_string());
    // Only an execution is routed by points.
    let (score, how) = match run.kind {
        RunKind::Execution => (run.routing_score.to_string(), how(run)),
        RunKind::Epic | RunKind::Tasks => ("-".to_string(), describe_spent(run).join(", ")),
        _ => ("-".to_string(), how(run)),
    };
    vec![
        (Tone::Strong, run.id.clone()),
        (status_tone(run.status), run.status.to_string()),
        (Tone::Plain, agent),
        (Tone::Dim, score),
        (Tone::Dim, how),
        (Tone::Plain, words.chars().take(INPUT_SHOWN).collect()),
    ]
}

fn cancel(face: &mut Face<'_>, which: OneRun) -> Result<ExitCode> {
    let cancelled = coordinator::cancel(&face.surroundings()?, &which.id)?;
    face.reply(&cancelled, &cancelled.warnings, |screen| {
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
