//! `cleo runs …`

mod logs;
mod resume;
mod show;

use std::process::ExitCode;

use super::Face;
use super::live::{describe_answer, status_tone};
use super::screen::{Cell, Screen, Tone, count};
use crate::error::{Result, quote};
use crate::ops::api;
use crate::ops::work::runs::OneRun;
use crate::ops::work::runs::listing::Rows;
use crate::run::report::describe_spent;
use crate::run::{Run, RunKind};
use crate::store::records::RunFilter;
use crate::{coordinator, id};

commands! {
    pub(super) (face, it)
    /// List runs, newest first
    #[command(after_help = "\
Examples:
  cleo runs list
  cleo runs list --status failed --limit 5
  cleo runs list --agent toby-technical --json")]
    List(RunFilter) => face.call(&api::RUNS, it, render_rows);
    /// Show a run with its steps, messages and events
    Show(show::Arguments) => face.run("runs.show", it, show::run);
    /// Show the events of a run, or the output of its agents
    Logs(logs::Arguments) => face.run("runs.logs", it, logs::run);
    /// Resume an interrupted, failed or cancelled run
    ///
    /// Finished tasks stay done. The work of an interrupted attempt is verified first; another
    /// agent does what is missing. Agents of the dead process are stopped. Failed tasks are
    /// retried, unless the run was interrupted before its end. If you fixed a failed task yourself,
    /// complete it first (cleo complete). A plan is resumed like with cleo plan run --resume.
    Resume(resume::Arguments) => face.run("runs.resume", it, resume::run);
    /// Cancel a run: stop its agents and release its tasks
    #[command(after_help = "\
The process of the run gets the request, and cleo waits up to 15 seconds for it to stop. If that
process is gone, the run is ended here. Finished tasks stay done. Unmerged work of a worktree
stays on its branch; if the branch cannot hold all of it, as with unresolved conflicts, the
worktree is kept and reported. An execution records nothing more but its usage; its program or
model is not stopped and works until it answers or reaches its time limit.

Examples:
  cleo runs list --status running
  cleo runs cancel run_1769418000000_1")]
    Cancel(OneRun) => face.run("runs.cancel", it, cancel);
}

/// Most characters of a message in a list.
const INPUT_SHOWN: usize = 30;

fn render_rows(screen: &mut Screen, listed: &Rows) {
    let head = ["RUN", "STATUS", "AGENT", "SCORE", "HOW", "MESSAGE"];
    if listed.total == 0 || !listed.runs.is_empty() {
        screen.list(
            "no runs",
            &head,
            listed.runs.iter().map(|one| row(&one.record)),
        );
    }
    screen.cut_at(listed.runs.len(), listed.total, "runs");
}

fn row(run: &Run) -> Vec<Cell> {
    let words = run.input.split_whitespace().collect::<Vec<_>>().join(" ");
    let agent = run.agent.clone().unwrap_or_else(|| "-".to_string());
    // Only an execution is routed by points.
    let (score, how) = match run.kind {
        RunKind::Execution => (run.routing_score.to_string(), describe_answer(run)),
        RunKind::Epic | RunKind::Tasks => ("-".to_string(), describe_spent(run).join(", ")),
        _ => ("-".to_string(), describe_answer(run)),
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
