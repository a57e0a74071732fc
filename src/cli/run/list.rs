//! `cleo runs …`

use std::process::ExitCode;

use clap::Args;

use super::{Reporting, perform, show};
use crate::cli::arguments::Format;
use crate::cli::live::describe_answer;
use crate::cli::screen::{Cell, Screen, Tone, count, status};
use crate::cli::{Face, plan_run};
use crate::coordinator::{self, ResumeChanges};
use crate::error::{Code, Error, Result, quote};
use crate::id::{self, TaskId};
use crate::ops::api;
use crate::ops::runs::kind;
use crate::ops::work::runs::OneRun;
use crate::ops::work::runs::listing::Rows;
use crate::ops::work::runs::logs::{Output, logs};
use crate::ops::work::runs::words::{Sent, Stop, Stopped, Words};
use crate::run::report::describe_spent;
use crate::run::{Line, Run, RunKind};
use crate::store::records::RunFilter;

commands! {
    pub(in crate::cli) (face, it)
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
    Logs(LogsArguments) => face.run("runs.logs", it, show_logs);
    /// Resume an interrupted, failed or cancelled run
    ///
    /// Finished tasks stay done. The work of an interrupted attempt is verified first; another
    /// agent does what is missing. Agents of the dead process are stopped. Failed tasks are
    /// retried, unless the run was interrupted before its end. If you fixed a failed task yourself,
    /// complete it first (cleo complete). A plan is resumed like with cleo plan run --resume.
    Resume(ResumeArguments) => face.run("runs.resume", it, resume);
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
    /// Send words to an agent at work: its attempt is ended, and the next one begins with them
    Send(Words) => face.call(&api::RUN_WORDS, it, |screen, sent: &Sent| {
        let (task, attempt) = (sent.task_id, sent.attempt);
        screen.line(Tone::Plain, format!("sent to the agent of {task}: attempt {attempt} ends, the next one begins"));
    });
    /// Stop the agent of one task: the others of its run work on
    Stop(Stop) => face.call(&api::RUN_STOP, it, |screen, it: &Stopped| {
        screen.line(Tone::Plain, format!("attempt {} at {} ends", it.attempt, it.task_id));
    });
}

/// Most characters of a message in a list.
const INPUT_SHOWN: usize = 30;

fn render_rows(screen: &mut Screen, listed: &Rows) {
    let head = ["RUN", "STATUS", "AGENT", "SCORE", "HOW", "MESSAGE"];
    if listed.total == 0 || !listed.runs.is_empty() {
        let rows = listed.runs.iter().map(|one| row(&one.record));
        screen.list("no runs", &head, rows);
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
        status(run.status),
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
        screen.headline(&run.id, run.status, "");
        if cancelled.orphans > 0 {
            let n = count(cancelled.orphans, "process", "processes");
            screen.line(Tone::Dim, format!("{n} of agents ended"));
        }
        if !cancelled.released.is_empty() {
            let released = id::list(&cancelled.released);
            screen.line(Tone::Dim, format!("released: {released}"));
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

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo runs logs run_1769418000000_1
  cleo runs logs run_1769418000000_1 --task T3 --raw
  cleo runs logs run_1769418000000_1 --format ndjson | jq -r 'select(.type == \"task.failed\")'")]
pub(in crate::cli) struct LogsArguments {
    /// Id of the run
    run: String,

    /// Only this task
    #[arg(long, short, value_name = "TASK")]
    task: Option<TaskId>,

    /// Show the output of agents; of more than 1 MB only the end. Text escapes terminal control
    /// characters; --json is exact
    #[arg(long)]
    raw: bool,
}

fn show_logs(face: &mut Face<'_>, arguments: LogsArguments) -> Result<ExitCode> {
    let surroundings = face.surroundings()?;
    let logged = logs(&surroundings, &arguments.run, arguments.task, arguments.raw)?;
    if face.output.format() == Format::Ndjson && !arguments.raw {
        let mut stream = face.output.stream();
        for line in &logged.events {
            stream.row(line, |_| {});
            if !stream.is_open() {
                break;
            }
        }
        return Ok(face.output.end(stream));
    }
    face.reply(&logged, &[], |screen| match &logged.outputs {
        Some(outputs) => outputs.iter().for_each(|one| output(screen, one)),
        None => logged.events.iter().for_each(|line| event(screen, line)),
    })
}

fn event(screen: &mut Screen, line: &Line) {
    let about = line.task_id.as_ref().or(line.step.as_ref());
    let about = about.map(|about| format!("{about} ")).unwrap_or_default();
    let detail = crate::document::to_json(&line.detail).unwrap_or_default();
    screen
        .say(Tone::Dim, format!("{}  ", line.ts))
        .say(Tone::Accent, format!("{:<18} ", line.kind))
        .pair(Tone::Strong, about, detail);
}

fn output(screen: &mut Screen, one: &Output) {
    let head = format!(
        "{}, attempt {}, {}, {} bytes: {}",
        one.task_id, one.attempt, one.stream, one.bytes, one.file
    );
    screen.line(Tone::Dim, head).verbatim(&one.text);
    if !one.text.is_empty() && !one.text.ends_with('\n') {
        screen.line(Tone::Plain, "");
    }
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo runs list --status interrupted
  cleo runs resume run_1769418000000_1
  cleo runs resume run_1769418000000_1 --max-cost 5
  cleo runs resume run_1769418000000_1 --format ndjson")]
pub(in crate::cli) struct ResumeArguments {
    /// Id of the run
    run: String,

    #[command(flatten)]
    rest: ResumeChanges,

    #[command(flatten)]
    reporting: Reporting,
}

fn resume(face: &mut Face<'_>, arguments: ResumeArguments) -> Result<ExitCode> {
    let surroundings = face.surroundings()?;
    if kind(&surroundings, &arguments.run)? == RunKind::Plan {
        let rest = (arguments.rest, arguments.reporting);
        if rest != Default::default() {
            let run = &arguments.run;
            let message = format!(
                "{run} carries out a plan; `--max-cost`, `--time-limit`, `--pass-env`, `--ci` and `--junit` are for \
                 runs over tasks"
            );
            return Err(
                Error::new(Code::Usage, message).fix(format!("cleo runs resume {}", quote(run)))
            );
        }
        return plan_run::run(face, plan_run::Arguments::of_run(arguments.run));
    }
    let rest = arguments.rest;
    let reporting = &arguments.reporting;
    perform(face, reporting, Vec::new(), |ambience, listener| {
        coordinator::resume(surroundings, &arguments.run, rest, ambience, listener)
    })
}
