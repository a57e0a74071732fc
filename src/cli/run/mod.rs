//! `cleo run`

pub(super) mod list;
mod progress;
pub(super) mod show;

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

pub(super) use self::progress::Progress;
pub(super) use self::show::render;
use self::show::render_order;
use super::{Face, environment};
use crate::config::Settings;
use crate::coordinator::request::RunRequest;
use crate::coordinator::{self, Listener, Options, Report, RunEnvironment};
use crate::error::{Error, Result};
use crate::ops::work::runs::{self, export};
use crate::run::report::github;
use crate::runner::agent::Runners;

#[derive(Args)]
#[command(after_help = "\
Each task is claimed and given to its own agent as soon as its dependencies are done. When the
agent ends, cleo checks the manifest entry, the output file, the gates, the commands of acceptance
criteria and the final message. Only verified tasks are completed; completing a task by force does
not count. If something is missing, the agent is asked to repair it (--repair); after that the
task fails and is released, and the tasks that depend on it are skipped.

Events are recorded in the database before they take effect, so that a killed run can be resumed:
cleo runs resume ID. cleo runs logs ID --task T3 shows them, and with --raw the output of agents.

Exit codes: 0 all tasks done, 80 the only task failed, 81 some tasks failed, 124 time limit
reached, 130 and 143 interrupted.

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
    /// Run a plan file, as `cleo plan run FILE` does
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
    pub(super) fn plan_request(&self) -> Option<(String, Option<u16>)> {
        Some((self.plan.clone()?, self.request.jobs))
    }
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let dry_run = arguments.request.dry_run;
    let options = Options::new(arguments.request, face.settings)?;
    let surroundings = face.surroundings()?;
    if dry_run {
        let ambience = read_environment(face.settings)?;
        let rehearsed = coordinator::rehearse(surroundings, &options, &ambience)?;
        return face.reply(&rehearsed, &[], |screen| render_order(screen, &rehearsed));
    }
    let warnings = options.warnings(face.settings);
    perform(
        face,
        &arguments.reporting,
        warnings,
        |ambience, listener| coordinator::run(surroundings, options, ambience, listener),
    )
}

/// Performs a run, shows its progress and replies with its report. `warnings` are those from before
/// it began.
pub(super) fn perform(
    face: &mut Face<'_>,
    reporting: &Reporting,
    mut warnings: Vec<String>,
    carry_out: impl FnOnce(RunEnvironment, &mut dyn Listener) -> Result<Report>,
) -> Result<ExitCode> {
    let ready = reporting.check(face);
    ready.inspect_err(|error| reporting.print_failure(face, error))?;
    let ambience = read_environment(face.settings)?;
    let mut progress = Progress::new(face);
    let report = carry_out(ambience, &mut progress);
    let mut report = report.inspect_err(|error| reporting.print_failure(face, error))?;
    let error = report.error.take();
    warnings.append(&mut report.warnings);
    warnings.extend(reporting.write_reports(face, &report.run.id));
    let live = progress.live;
    live.end(&report, error, &warnings, |screen| render(screen, &report))
}

fn read_environment(settings: &Settings) -> Result<RunEnvironment> {
    let text = |name: &str| env::var(name).ok();
    Ok(RunEnvironment {
        depth: text("CLEO_DEPTH")
            .and_then(|depth| depth.trim().parse().ok())
            .unwrap_or(0),
        trace: text("TRACEPARENT"),
        runners: Runners::from(settings)?,
    })
}

#[derive(Args, Default, PartialEq)]
pub(super) struct Reporting {
    /// Report to a CI service: annotations on standard error, a job summary, and the outputs
    /// run_id, ok and failed
    #[arg(long, value_name = "SERVICE")]
    ci: Option<Ci>,

    /// Write results as JUnit XML, one suite per wave
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// A service that builds and tests.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Ci {
    /// GitHub Actions
    Github,
}

impl Reporting {
    fn check(&self, face: &Face<'_>) -> Result<()> {
        match &self.junit {
            Some(path) => export::check_xml(&face.surroundings()?, path),
            None => Ok(()),
        }
    }

    fn write_reports(&self, face: &Face<'_>, run: &str) -> Vec<String> {
        if self.ci.is_none() && self.junit.is_none() {
            return Vec::new();
        }
        let told = self.write_all_reports(face, run);
        let faults = told.unwrap_or_else(|error| vec![error]);
        faults
            .iter()
            .map(|fault| fault.display_message().into_owned())
            .collect()
    }

    fn print_failure(&self, face: &Face<'_>, error: &Error) {
        if self.ci.is_some() {
            let line = github::annotation("error", error.code.name(), &error.display_message());
            face.output.eprint(&line);
        }
    }

    fn write_all_reports(&self, face: &Face<'_>, run: &str) -> Result<Vec<Error>> {
        let mut context = face.context()?;
        let shown = runs::show(&mut context, run)?;
        let mut faults = Vec::new();
        if self.ci.is_some() {
            let path = |name: &str| environment::variable(name).map(PathBuf::from);
            let [summary, outputs] = ["GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"].map(path);
            let (lines, more) =
                export::write_github_report(&shown, summary.as_deref(), outputs.as_deref());
            face.output.eprint(&lines);
            faults.extend(more);
        }
        if let Some(path) = &self.junit {
            faults.extend(export::write_junit(&context.surroundings, &shown, path).err());
        }
        Ok(faults)
    }
}
