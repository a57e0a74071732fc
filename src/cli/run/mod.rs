//! `cleo run`

mod progress;
mod reporting;
pub(super) mod table;

use std::env;
use std::process::ExitCode;

use clap::Args;

pub(super) use self::progress::Progress;
pub(super) use self::reporting::Reporting;
use self::table::order;
pub(super) use self::table::render;
use super::Face;
use crate::config::Settings;
use crate::coordinator::request::RunRequest;
use crate::coordinator::{self, Ambience, Listener, Options, Report};
use crate::error::Result;
use crate::ops::trust::Item;
use crate::runner::agent::Runners;

#[derive(Args)]
#[command(after_help = "\
Each task is claimed, given to an agent of its own, and checked when that ends: the manifest entry, the
output file, the gates, the commands of the acceptance criteria, and the last message of the agent.
Only what verifies is completed, and what was completed by force does not count. An agent that left something out is told what is missing; then the task fails, is given back, and what
waits for it is not begun. A task begins as soon as what it needs is done.

Everything that happens is kept before it is acted on, in the store and in .cleo/runs/ID/events.jsonl,
so that a run can be resumed after its process was killed: cleo runs resume ID. What agents write is kept
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

    #[command(flatten)]
    request: RunRequest,

    #[command(flatten)]
    reporting: Reporting,
}

impl Arguments {
    pub(super) fn of_plan(&self) -> Option<(String, Option<u16>)> {
        Some((self.plan.clone()?, self.request.jobs))
    }
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let dry_run = arguments.request.dry_run;
    let options = Options::new(arguments.request, face.settings)?;
    let surroundings = face.surroundings()?;
    if dry_run {
        let ambience = ambience(face.settings)?;
        let rehearsed = coordinator::rehearse(surroundings, &options, &ambience)?;
        return face.reply(&rehearsed, &[], |screen| order(screen, &rehearsed));
    }
    let warnings = options.warnings(face.settings);
    perform(
        face,
        &arguments.reporting,
        warnings,
        |ambience, listener| coordinator::run(surroundings, options, ambience, listener),
    )
}

/// Has a run carried out, tells what goes on, and answers with what became of it. `warnings` stand there
/// before it begins.
pub(super) fn perform(
    face: &mut Face<'_>,
    reporting: &Reporting,
    mut warnings: Vec<String>,
    carry_out: impl FnOnce(Ambience, &mut dyn Listener) -> Result<Report>,
) -> Result<ExitCode> {
    face.output.check_events()?;
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

fn ambience(settings: &Settings) -> Result<Ambience> {
    let text = |name: &str| env::var(name).ok();
    Ok(Ambience {
        depth: text("CLEO_DEPTH")
            .and_then(|depth| depth.trim().parse().ok())
            .unwrap_or(0),
        trace: text("TRACEPARENT"),
        runners: Runners::from(settings)?,
        chosen: Item::runners(settings),
    })
}
