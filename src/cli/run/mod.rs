//! `cleo run`

mod progress;
mod reporting;
pub(super) mod table;
mod wanted;

use std::process::ExitCode;

use clap::{Args, ValueEnum};

pub(super) use self::progress::Progress;
pub(super) use self::reporting::Reporting;
use self::table::order;
pub(super) use self::table::render;
pub(super) use self::wanted::options;
use self::wanted::{ambience, unkept};
use super::Face;
use crate::config::seconds;
use crate::coordinator::{self, Ambience, Listener, Report};
use crate::error::Result;
use crate::id::TaskId;
pub(super) use crate::run::report::{money, time, tokens};

#[derive(Args)]
#[command(after_help = "\
Each task is claimed, given to an agent of its own, and checked when that ends: the manifest entry, the
output file, the gates, the commands of the acceptance criteria, and the last message of the agent.
Only what verifies is completed, and what was completed by force does not count. An agent that left something out is told what is missing; then the task fails, is given back, and what
waits for it is not begun. A task begins as soon as what it needs is done.

Everything that happens is kept before it is acted on, in the store and in .cleo/runs/ID/events.jsonl,
so that a run goes on after its process was killed: cleo runs resume ID. What agents write is kept
beside it: cleo runs logs ID --task T3.

Exit codes: 0 all is done, 80 the one task failed, 81 some failed, 124 it took too long, 130 and 143
cleo was asked to end.

Examples:
  cleo run T3 --runner claude
  cleo run --epic T1 --runner codex --jobs 4 --repair 2
  cleo run --epic T1 --wave 0 --runner claude --max-cost 5
  cleo run --all-ready --command 'my-agent --prompt {prompt_file} --out {output_file}'
  cleo run T3 T4 --command 'sh agent.sh' --format ndjson      each event as it comes, the result last
  cleo run --epic T1 --runner claude --ci github --junit junit.xml
  cleo run --epic T1 --runner claude --isolate worktree
  cleo run --epic T1 --runner claude --dry-run                what would be done, in which order")]
pub(super) struct Arguments {
    /// Carry out a plan instead, as `cleo plan run FILE` does
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "tasks", "epic", "wave", "all_ready", "runner", "command", "model", "repair", "max_cost", "max_turns",
        "time_limit", "task_time_limit", "idle_limit", "isolate", "fail_fast", "allow_tool", "pass_env",
        "dry_run", "ci", "junit",
    ])]
    plan: Option<String>,

    /// The tasks; of an epic, everything below it
    #[arg(value_name = "TASK", required_unless_present_any = ["epic", "all_ready", "plan"])]
    tasks: Vec<TaskId>,

    /// Carry out everything below this epic
    #[arg(long, value_name = "TASK", conflicts_with_all = ["tasks", "all_ready"])]
    epic: Option<TaskId>,

    /// Only this wave of the epic, as `orchestrator waves` shows it; 0 is what is ready now
    #[arg(long, value_name = "NUMBER", requires = "epic")]
    wave: Option<usize>,

    /// Carry out everything that is ready now
    #[arg(long, conflicts_with = "tasks")]
    all_ready: bool,

    /// Which program works: claude, codex, gemini, opencode, copilot or command, perhaps with its model
    /// as in claude:MODEL [default: the settings runners.bySkill, runners.byTier, runners.default]
    #[arg(long, value_name = "NAME")]
    runner: Option<String>,

    /// Work with this command; {prompt_file}, {output_file} and {cwd} stand for paths. It is split into
    /// words as a shell would, and no shell runs it
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,

    /// The model that the runner is asked to use
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// How many agents work at a time [default: the setting run.jobs, 4]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    jobs: Option<u16>,

    /// How often an agent is told what is missing [default: the setting run.repair, 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10))]
    repair: Option<u32>,

    /// Begin nothing more once the agents say that they cost this much, in US dollars
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = price)]
    max_cost: Option<f64>,

    /// Most turns of an agent, where its program counts them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_turns: Option<u32>,

    /// How long all may take: 90, 90s, 10m, 2h
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    time_limit: Option<u64>,

    /// How long an agent may take [default: the setting run.taskTimeLimit, 1h]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    task_time_limit: Option<u64>,

    /// How long an agent may be silent [default: the setting run.idleLimit, 15m]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    idle_limit: Option<u64>,

    /// Give each task a git worktree and a branch of its own; what verifies is merged, one after the
    /// other, into the branch that is checked out now, and a branch that does not fit is kept
    #[arg(long, value_name = "HOW")]
    isolate: Option<Isolation>,

    /// Begin nothing more after a failure; what is under way goes on
    #[arg(long)]
    fail_fast: bool,

    /// Tool that agents may use without asking, instead of those that their runner gives: Bash, Edit, Read,
    /// WebFetch, WebSearch, Write
    #[arg(long, value_name = "TOOL")]
    allow_tool: Vec<String>,

    /// Variable of yours that agents get too, by name
    #[arg(long, value_name = "NAME")]
    pass_env: Vec<String>,

    /// Show what would be done, and do nothing
    #[arg(long, short = 'n')]
    dry_run: bool,

    #[command(flatten)]
    reporting: Reporting,
}

/// How tasks are kept apart.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Isolation {
    /// By git worktrees
    Worktree,
}

/// Reads a time in seconds.
pub(super) fn duration(text: &str) -> std::result::Result<u64, String> {
    let time = seconds(text.trim()).filter(|time| (1..=30 * 86_400).contains(time));
    time.ok_or_else(|| format!("`{text}` is no time such as 90s, 10m or 2h, up to 30d"))
}

pub(super) fn price(text: &str) -> std::result::Result<f64, String> {
    let price: Option<f64> = text.trim().parse().ok();
    let price = price.filter(|price| price.is_finite() && *price > 0.0);
    price.ok_or_else(|| format!("`{text}` is no amount of US dollars above 0, such as 2.50"))
}

impl Arguments {
    pub(super) fn of_plan(&self) -> Option<(String, Option<u16>)> {
        Some((self.plan.clone()?, self.jobs))
    }
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let options = options(&arguments, face.settings)?;
    let surroundings = face.surroundings()?;
    if arguments.dry_run {
        let ambience = ambience(face.settings)?;
        let rehearsed = coordinator::rehearse(surroundings, &options, &ambience)?;
        return face.reply(&rehearsed, &[], |screen| order(screen, &rehearsed));
    }
    let warnings = unkept(&options, face.settings);
    carried_out(
        face,
        &arguments.reporting,
        warnings,
        |ambience, listener| coordinator::run(surroundings, options, ambience, listener),
    )
}

/// Has a run carried out, tells what goes on, and answers with what became of it. `warnings` stand there
/// before it begins.
pub(super) fn carried_out(
    face: &mut Face<'_>,
    reporting: &Reporting,
    mut warnings: Vec<String>,
    carry_out: impl FnOnce(Ambience, &mut dyn Listener) -> Result<Report>,
) -> Result<ExitCode> {
    let ready = reporting.check(face);
    ready.inspect_err(|error| reporting.tell_failure(face, error))?;
    let ambience = ambience(face.settings)?;
    let mut progress = Progress::new(face);
    let report = carry_out(ambience, &mut progress);
    let mut report = report.inspect_err(|error| reporting.tell_failure(face, error))?;
    let error = report.error.take();
    warnings.append(&mut report.warnings);
    warnings.extend(reporting.tell(face, &report.run.id));
    let live = progress.live;
    live.end(&report, error, &warnings, |screen| render(screen, &report))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_that_are_none_are_refused() {
        assert_eq!(price("2.50"), Ok(2.5));
        for text in ["", "0", "-1", "inf", "NaN", "5 USD"] {
            assert!(price(text).is_err(), "{text}");
        }
        assert_eq!(duration("10m"), Ok(600));
        for text in ["", "0", "31d", "-1s", "5w"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
