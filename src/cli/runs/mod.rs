//! `cleo runs …`

mod logs;
mod resume;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::Face;
use super::run::{money, time, tokens};
use super::screen::{Cell, Tone, count};
use crate::error::{Result, quote};
use crate::ops::runs;
use crate::run::{Run, RunKind, RunStatus};
use crate::store::agency::RunFilter;
use crate::{coordinator, id};

#[derive(Subcommand)]
pub(super) enum Command {
    List(ListArguments),
    Show(show::Arguments),
    Logs(logs::Arguments),
    Resume(resume::Arguments),
    Cancel(CancelArguments),
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::List(arguments) => face.run("runs.list", arguments, list),
        Command::Logs(arguments) => face.run("runs.logs", arguments, logs::run),
        Command::Resume(arguments) => face.run("runs.resume", arguments, resume::run),
        Command::Cancel(arguments) => face.run("runs.cancel", arguments, cancel),
        Command::Show(arguments) => face.run("runs.show", arguments, show::run),
    }
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

fn spent(run: &Run) -> String {
    let used = run.usage.and_then(tokens);
    let parts = [
        run.execution_time_ms.map(time),
        used.map(|used| format!("{used} tokens")),
        run.cost.map(money),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

pub(in crate::cli) fn how(run: &Run) -> String {
    let time = run.execution_time_ms.map(|time| format!("{time} ms"));
    let tokens = run.usage.and_then(|usage| usage.total_tokens);
    let parts = [
        run.answered_by.map(|by| by.to_string()),
        run.model.clone(),
        time,
        tokens.map(|tokens| format!("{tokens} tokens")),
        run.cost.map(money),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Most characters of a message in a list.
const INPUT_SHOWN: usize = 30;

/// List what agents carried out, newest first
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo runs list
  cleo runs list --status failed --limit 5
  cleo runs list --agent toby-technical --json")]
pub(in crate::cli) struct ListArguments {
    /// Only runs of this agent
    #[arg(long, value_name = "ID")]
    agent: Option<String>,

    /// Only runs with this status: pending, running, completed, failed, cancelled or
    /// interrupted
    #[arg(long, value_name = "STATUS")]
    status: Option<RunStatus>,

    /// Only runs of this kind: execution, query, plan, epic or tasks
    #[arg(long, value_name = "KIND")]
    kind: Option<RunKind>,

    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
}

fn list(face: &mut Face<'_>, arguments: ListArguments) -> Result<ExitCode> {
    let filter = RunFilter {
        user: None,
        agent: arguments.agent,
        status: arguments.status,
        kind: arguments.kind,
        limit: arguments.limit,
        offset: 0,
    };
    let listed = runs::list(&face.surroundings()?, &filter)?;
    face.reply(&listed, &[], |screen| {
        if listed.total == 0 {
            screen.line(Tone::Dim, "no runs");
            return;
        }
        let head = ["RUN", "STATUS", "AGENT", "SCORE", "HOW", "MESSAGE"];
        screen.table(&head, listed.runs.iter().map(row).collect());
        let shown = listed.runs.len() as u64;
        if shown < listed.total {
            screen.line(Tone::Dim, format!("{shown} of {} runs", listed.total));
        }
    })
}

fn row(run: &Run) -> Vec<Cell> {
    let words = run.input.split_whitespace().collect::<Vec<_>>().join(" ");
    let agent = run.agent.clone().unwrap_or_else(|| "-".to_string());
    // Only an execution is routed by points.
    let (score, how) = match run.kind {
        RunKind::Execution => (run.routing_score.to_string(), how(run)),
        RunKind::Epic | RunKind::Tasks => ("-".to_string(), spent(run)),
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
pub(in crate::cli) struct CancelArguments {
    /// Its id
    run: String,
}

fn cancel(face: &mut Face<'_>, arguments: CancelArguments) -> Result<ExitCode> {
    let cancelled = coordinator::cancel(&face.surroundings()?, &arguments.run)?;
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
