//! `cleo verify TASK`, with or without `--gate`

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use crate::cli::Face;
use crate::cli::arguments::EpochOption;
use crate::cli::screen::{Cell, Screen, Tone};
use crate::config::GATES_TIME_LIMIT;
use crate::error::{Code, Error, Result};
use crate::gate::{Evidence, Gate, ROUNDS_MAX, Record};
use crate::id::TaskId;
use crate::ops::gates::{self, Setting, TaskGates};

// Options of `cleo verify TASK`. A doc comment here would become the help of the command.
#[derive(Args)]
pub(in crate::cli) struct GateArguments {
    /// Show the gates of this task, or set one
    task: Option<TaskId>,

    /// Gate to set: implemented, testsPassed, qaPassed, cleanupDone, securityPassed, documented
    #[arg(long, value_name = "GATE", requires = "task")]
    gate: Option<String>,

    /// Command whose result decides the gate; run without a shell
    #[arg(long, value_name = "COMMAND", requires = "gate")]
    run: Option<String>,

    /// What to set the gate to without a command: true or false
    #[arg(long, value_name = "BOOL", default_value_t = true, hide_default_value = true, action = clap::ArgAction::Set, requires = "gate", conflicts_with = "run")]
    value: bool,

    /// Role of who sets it: planner, coder, testing, qa, cleanup, security or docs
    #[arg(long, value_name = "AGENT", requires = "gate")]
    agent: Option<String>,

    /// Seconds that the command may take, a day at most; 600 unless gates.timeLimit says otherwise
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400), requires = "run")]
    time_limit: Option<u64>,

    /// Pass the gate although an earlier one is open; this is recorded
    #[arg(long, requires = "gate")]
    force: bool,

    #[command(flatten)]
    claim: EpochOption,
}

pub(super) fn run(face: &mut Face<'_>, arguments: GateArguments) -> Result<ExitCode> {
    let Some(task) = arguments.task else {
        let message = "say what to verify: a task, or prompt, message, output or manifest";
        return Err(Error::new(Code::Usage, message).fix("cleo verify --help"));
    };
    let Some(name) = &arguments.gate else {
        let gates = gates::gates(&mut face.context()?, task)?;
        return face.reply(&gates, &[], |screen| render(screen, &gates));
    };
    let gate: Gate = name.parse()?;
    let limit = face.settings.number(GATES_TIME_LIMIT).unwrap_or(600);
    let setting = Setting {
        gate,
        passed: arguments.value,
        command: arguments.run.as_deref().map(words).transpose()?,
        time_limit: Duration::from_secs(arguments.time_limit.unwrap_or(limit)),
        agent: arguments.agent,
        force: arguments.force,
        epoch: arguments.claim.epoch,
    };
    let result = gates::set(&mut face.context()?, task, &setting)?;
    let error = failed(&result, gate, arguments.run.as_deref());
    face.verdict(&result, error, |screen| render(screen, &result))
}

/// Splits a command into words as a shell would, and expands nothing.
fn words(command: &str) -> Result<Vec<String>> {
    let words = shlex::split(command).filter(|words| !words.is_empty());
    words.ok_or_else(|| {
        let message = format!("`{command}` is no command: a quote is open, or it is empty");
        Error::new(Code::Usage, message).fix("cleo verify --help")
    })
}

/// A gate whose command failed is a verdict, and so is every failure after the last round. Said by
/// hand within the rounds, a failure is what was asked for.
fn failed(result: &TaskGates, gate: Gate, command: Option<&str>) -> Option<Error> {
    let gates = &result.gates;
    let record = gates.gates.get(&gate).filter(|record| !record.passed)?;
    let why = why(&record.evidence, command);
    let message = format!("{gate} of {} stays open: {why}", result.task_id);
    if gates.rounds_exceeded() {
        let spent = format!("all {ROUNDS_MAX} rounds are spent; a person should look at it");
        let error = Error::new(Code::GateRounds, format!("{message}; {spent}"));
        return Some(error.fix(format!("cleo show {}", result.task_id)));
    }
    // The fix is the whole command line again; see `usage`.
    command.map(|_| Error::new(Code::GateFailed, message))
}

fn why(evidence: &Evidence, command: Option<&str>) -> String {
    let what = match evidence {
        Evidence::Claim => return "it was said to have failed".to_string(),
        Evidence::Command {
            timed_out: true, ..
        } => "took too long".to_string(),
        Evidence::Command {
            exit_code: Some(code),
            ..
        } => format!("exited with {code}"),
        Evidence::Command { .. } => "was ended by a signal".to_string(),
    };
    let command = command.unwrap_or_default();
    format!("`{command}` failed: it {what}")
}

fn render(screen: &mut Screen, result: &TaskGates) {
    let rows = Gate::ALL
        .into_iter()
        .map(|gate| row(gate, result.gates.gates.get(&gate)));
    screen.table(&["GATE", "STATE", "BY", "EVIDENCE"], rows.collect());
    screen.field("round", result.gates.round);
}

fn row(gate: Gate, record: Option<&Record>) -> Vec<Cell> {
    let (tone, state) = match record {
        Some(record) if record.passed && record.forced => (Tone::Warn, "passed by force"),
        Some(record) if record.passed => (Tone::Good, "passed"),
        Some(_) => (Tone::Bad, "failed"),
        None if gate.is_required() => (Tone::Plain, "open"),
        None => (Tone::Dim, "open (optional)"),
    };
    let by = record.map(|record| record.by.clone()).unwrap_or_default();
    let evidence = record.map(|record| match &record.evidence {
        Evidence::Command { command, .. } => command.join(" "),
        Evidence::Claim => "claimed".to_string(),
    });
    vec![
        (Tone::Strong, gate.name().to_string()),
        (tone, state.to_string()),
        (Tone::Dim, by),
        (Tone::Plain, evidence.unwrap_or_default()),
    ]
}
