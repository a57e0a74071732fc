//! `cleo orchestrator …`

pub(super) mod deps;
pub(super) mod graph;
pub(super) mod spawn;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::Face;
use super::screen::{Screen, Tone, count};
use crate::error::Result;
use crate::file;
use crate::ops::api;
use crate::ops::orchestrator::{self, Measurement, Overview, Sources, State, write_text};
use crate::ops::proof::{Compliance, TaskReport};
use crate::ops::tasks::{Below, Extract, NextRequest};
use crate::task::graph::Conflict;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Show what an orchestrating agent needs to start, in under 1,000 tokens
    Start(Below),
    /// Show progress, work in progress and recent changes
    Status(Below),
    Context(ContextArguments),
    Brief(BriefArguments),
    /// Prepare the prompt of a task: its skill, its data and the protocol
    Spawn(spawn::Arguments),
    /// List the tasks that an agent can start now, most urgent first
    #[command(after_help = graph::READY)]
    Ready(Extract),
    /// Show which task to work on next, and why
    #[command(after_help = graph::NEXT)]
    Next(NextRequest),
    /// Show open tasks in waves, which can be worked on in parallel
    #[command(after_help = graph::WAVES)]
    Waves(Extract),
    /// Analyze a graph: progress, critical path, bottlenecks, problems
    #[command(after_help = graph::ANALYZE)]
    Analyze(Extract),
    /// Check the rules for orchestrators and agents, ORC-001 to ORC-005 and OUT-001 to OUT-004
    Validate(Below),
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::Spawn(arguments) => face.run("orchestrator.spawn", arguments, spawn::run),
        Command::Start(part) => face.call(&api::BEGIN, part, render_overview),
        Command::Status(part) => face.call(&api::STATUS, part, render_overview),
        Command::Context(arguments) => face.run("orchestrator.context", arguments, context),
        Command::Brief(arguments) => face.run("orchestrator.brief", arguments, brief),
        Command::Ready(part) => face.call(&api::READY, part, graph::render_ready),
        Command::Next(part) => {
            face.call_as("orchestrator.next", &api::NEXT, part, graph::render_next)
        }
        Command::Waves(part) => face.call(&api::WAVES, part, graph::render_waves),
        Command::Analyze(part) => face.call(&api::ANALYZE, part, graph::render_analysis),
        Command::Validate(part) => face.call(&api::VALIDATE, part, render_compliance),
    }
}

pub(super) fn render_overview(screen: &mut Screen, overview: &Overview) {
    screen.verbatim(&write_text(overview));
}

fn render_conflicts(screen: &mut Screen, conflicts: &[Conflict]) {
    if !conflicts.is_empty() {
        screen.line(Tone::Dim, "a wave later because of shared files:");
    }
    for conflict in conflicts {
        let files = conflict.files.join(", ");
        let after = format!(" after {}  {files}", conflict.conflicts_with);
        screen.say(Tone::Plain, "  ");
        screen.pair(Tone::Strong, conflict.task, after);
    }
}

/// Write the hand-over for an agent that starts with an empty context
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo orchestrator brief --epic T1 --format text
  cleo orchestrator brief --epic T1 --output HANDOVER.md

The brief has at most about 4,000 tokens: long lists are cut and name their full length. As text
it is Markdown. --output overwrites an earlier brief, but no other file.")]
pub(in crate::cli) struct BriefArguments {
    #[command(flatten)]
    part: Below,

    /// Write the brief to this file, as Markdown
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Serialize, schemars::JsonSchema)]
pub(in crate::cli) struct Written<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    brief: &'a Overview,
}

fn brief(face: &mut Face<'_>, arguments: BriefArguments) -> Result<ExitCode> {
    let mut context = face.context()?;
    let brief = orchestrator::brief(&mut context, arguments.part)?;
    if let Some(path) = &arguments.output {
        orchestrator::write_brief(&context, path, &brief)?;
    }
    let file = arguments
        .output
        .map(|path| path.to_string_lossy().into_owned());
    let written = Written {
        file,
        brief: &brief,
    };
    face.reply(&written, &[], |screen| match &written.file {
        Some(file) => {
            screen.pair(Tone::Good, "written ", file);
        }
        None => {
            screen.verbatim(&write_text(&brief));
        }
    })
}

/// Maximum size of a text to count, in bytes.
const TEXT_MAX: u64 = 64 << 20;

/// Show how much of its 10,000 tokens an orchestrator has used (exit 52 from 80 percent)
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo orchestrator context                       what `orchestrator start` costs
  cleo orchestrator context --task T2 --task T3   what the prompts of these tasks cost
  cleo orchestrator context --file notes.md --stdin < transcript.txt
  cleo orchestrator context --tokens 7300         what the agent has counted itself

Tokens of texts are estimated as characters divided by four. The setting
orchestrator.contextTokens changes the limit. From 70 percent there is a warning, from 80 percent
the exit code is 52.")]
pub(in crate::cli) struct ContextArguments {
    #[command(flatten)]
    count: Sources,

    /// Also count this file; - reads standard input
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,

    /// Also count standard input
    #[arg(long)]
    stdin: bool,
}

fn context(face: &mut Face<'_>, arguments: ContextArguments) -> Result<ExitCode> {
    let mut count = arguments.count;
    let standard_input = arguments.stdin.then(|| PathBuf::from("-"));
    for path in arguments.file.iter().chain(&standard_input) {
        let bytes = file::read_input(path, TEXT_MAX)?;
        let name = match path.as_os_str() == "-" {
            true => "standard input".to_string(),
            false => path.to_string_lossy().into_owned(),
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        count.named.push((name, text));
    }
    face.call(&api::MEASURE, count, render_context)
}

fn render_context(screen: &mut Screen, measured: &Measurement) {
    let budget = &measured.budget;
    let tone = match budget.state {
        State::Ok => Tone::Good,
        State::Warning => Tone::Warn,
        State::Critical => Tone::Bad,
    };
    let (limit, used, method) = (budget.limit, budget.tokens, budget.method);
    let of = format!(" of {limit} tokens: {used} ({method})");
    screen.pair(tone, format!("{} percent", budget.percent), of);
    for part in &measured.parts {
        screen
            .say(Tone::Plain, format!("  {:>7}  {}", part.tokens, part.of))
            .line(Tone::Dim, format!("  {}", part.method));
    }
}

fn render_compliance(screen: &mut Screen, found: &Compliance) {
    for rule in &found.rules {
        match rule.verdict {
            Some("pass") => screen.say(Tone::Good, "pass    "),
            Some(_) => screen.say(Tone::Bad, "fail    "),
            None => screen.say(Tone::Dim, "advice  "),
        };
        screen.say(Tone::Strong, rule.id).say(Tone::Plain, "  ");
        screen.line(Tone::Plain, rule.rule);
        screen.line(Tone::Dim, format!("          {}", rule.evidence));
    }
    for task in &found.tasks {
        render_task_report(screen, task);
    }
    let tasks = count(found.total, "completed task", "completed tasks");
    let broken = match found.total - found.compliant {
        0 => "none".to_string(),
        broken => broken.to_string(),
    };
    screen.line(Tone::Dim, format!("{tasks}, {broken} with violations"));
}

fn render_task_report(screen: &mut Screen, task: &TaskReport) {
    match task.violations.is_empty() {
        true => screen.say(Tone::Warn, "forced  "),
        false => screen.say(Tone::Bad, "fail    "),
    };
    screen
        .say(Tone::Strong, task.task_id)
        .say(Tone::Plain, "  ")
        .line(Tone::Plain, task.skill.as_deref().unwrap_or("not spawned"));
    for found in &task.violations {
        screen.say(Tone::Dim, format!("          {}: ", found.rule));
        screen.line(Tone::Plain, &found.message);
    }
    if let Some(forced) = &task.forced {
        let forced = format!("          completed by force: {forced}");
        screen.line(Tone::Warn, forced);
    }
    for reason in &task.forced_reasons {
        screen.line(Tone::Dim, format!("            {reason}"));
    }
}
