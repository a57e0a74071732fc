//! `cleo verify TASK`: its gates and criteria, and what proves them

use std::process::ExitCode;

use clap::Args;

use super::standing;
use crate::cli::Face;
use crate::cli::screen::Tone;
use crate::error::{Code, Error, Result, quote_all};
use crate::gate::{
    Evidence, Gate, Proof, ROUNDS_MAX, find_shell_sign, for_shells, in_shell, words,
};
use crate::id::TaskId;
use crate::ops::proof::{
    self, Acceptance, GateRequest, Outcome, RenewalRequest, Renewed, TaskGates,
};
use crate::ops::tasks::One;
use crate::ops::{Context, api};

// Options of `cleo verify TASK`.
#[derive(Args)]
pub(in crate::cli) struct GateArguments {
    /// Task whose gates and criteria to show, or to set with --gate
    task: Option<TaskId>,

    #[command(flatten)]
    request: GateRequest,

    /// Accept the criterion with this number, which has no command
    #[arg(long, value_name = "N", requires_all = ["task", "evidence"], group = "subject")]
    accept: Option<usize>,

    /// Run the commands of all criteria that are not proven or are stale
    #[arg(long, requires = "task", conflicts_with = "subject", group = "runs")]
    run_all: bool,

    /// Run again only gates and criteria that are stale
    #[arg(long, requires = "task", conflicts_with = "subject", group = "runs")]
    refresh: bool,

    /// Run the command of the criterion with this number, even if it is proven
    #[arg(
        long,
        value_name = "N",
        requires = "task",
        conflicts_with = "subject",
        group = "runs"
    )]
    only: Option<usize>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: GateArguments) -> Result<ExitCode> {
    let Some(task) = arguments.task else {
        let message = "name a task to verify, or prompt, message, output or manifest";
        return Err(Error::new(Code::Usage, message));
    };
    let mut request = GateRequest {
        task,
        ..arguments.request
    };
    let epoch = request.epoch;
    if arguments.run_all || arguments.refresh || arguments.only.is_some() {
        let request = RenewalRequest {
            task,
            stale_only: arguments.refresh,
            only: arguments.only,
            time_limit: request.time_limit,
            epoch,
            ..RenewalRequest::default()
        };
        return renew(face, request);
    }
    let run = std::mem::take(&mut request.run);
    let commands = run.iter().map(|line| split(line));
    request.commands = commands.collect::<Result<_>>()?;
    if let Some(criterion) = arguments.accept {
        let acceptance = Acceptance {
            task,
            criterion,
            files: request.files,
            commits: request.commits,
            urls: request.urls,
            notes: request.notes,
            epoch,
        };
        let work = |context: &mut _| proof::accept_criterion(context, acceptance);
        return face.inside("verify", work, standing::render);
    }
    if request.gate.is_empty() {
        return face.call(&api::GATES, One { task }, standing::render);
    }
    let work = |context: &mut _| set(context, request, &run);
    face.inside("verify", work, standing::render)
}

fn set(context: &mut Context, request: GateRequest, commands: &[String]) -> Result<TaskGates> {
    let name = request.gate.clone();
    let result = proof::set_gate(context, request)?;
    context.notes.failure = find_failure(&result, Gate::read(&name)?, commands);
    Ok(result)
}

/// Splits a command into words as a shell would, and expands nothing.
fn split(command: &str) -> Result<Vec<String>> {
    if let Some(sign) = find_shell_sign(command) {
        let message = format!(
            "`{command}` is run without a shell: {}; use {}",
            for_shells(sign),
            in_shell(command)
        );
        return Err(Error::new(Code::Usage, message));
    }
    words(command).ok_or_else(|| {
        let message = format!("invalid command `{command}`: a quote is not closed, or it is empty");
        Error::new(Code::Usage, message)
    })
}

/// A gate whose command failed is a verdict, and so is every failure after the last round. Said by
/// hand within the rounds, a failure is what was asked for.
fn find_failure(result: &TaskGates, gate: Gate, commands: &[String]) -> Option<Error> {
    let record = result.gates.get(&gate).filter(|record| !record.passed)?;
    let why = describe_failure(&record.evidence, commands);
    let message = format!("{gate} of {} stays open: {why}", result.task_id);
    if result.rounds_exceeded() {
        let spent = format!("all {ROUNDS_MAX} rounds are used; a person should look at the task");
        let error = Error::new(Code::GateRounds, format!("{message}; {spent}"));
        return Some(error.fix(format!("cleo show {}", result.task_id)));
    }
    let error = Error::new(Code::GateFailed, message);
    let error = error.fix(format!("cleo verify {}", result.task_id));
    Some(error).filter(|_| !commands.is_empty())
}

fn describe_failure(evidence: &[Evidence], commands: &[String]) -> String {
    let failed = evidence.iter().enumerate();
    let mut failed = failed.filter(|(_, each)| each.outcome() == Some(false));
    let Some((at, each)) = failed.next() else {
        return "it was reported as failed".to_string();
    };
    let command = commands.get(at).cloned();
    let command = command.unwrap_or_else(|| match &each.proof {
        Proof::Command { command, .. } => quote_all(command),
        _ => standing::summary(each),
    });
    let how = each.proof.describe_failure().unwrap_or_default();
    format!("`{command}` failed: it {how}")
}

fn renew(face: &mut Face<'_>, request: RenewalRequest) -> Result<ExitCode> {
    let notes = face.output.notes();
    let work = |context: &mut Context| {
        let mut begin = |what: &str| notes.line(Tone::Dim, what);
        let renewed = proof::renew(context, &request, &mut begin)?;
        context.notes.failure = judge_renewal(&renewed);
        Ok(renewed)
    };
    face.inside("verify", work, standing::render_renewed)
}

/// The verdict over what was run: the first that failed, or what only a person can renew.
fn judge_renewal(renewed: &Renewed) -> Option<Error> {
    let id = renewed.standing.task_id;
    if let Some(first) = renewed
        .ran
        .iter()
        .find(|ran| ran.outcome == Outcome::Failed)
    {
        let failed = renewed
            .ran
            .iter()
            .filter(|ran| ran.outcome == Outcome::Failed);
        let names: Vec<String> = failed.map(standing::describe_ran).collect();
        let exceeded = first.gate.is_some() && renewed.standing.rounds_exceeded();
        let code = match first.gate {
            Some(_) if exceeded => Code::GateRounds,
            Some(_) => Code::GateFailed,
            None => Code::CriterionFailed,
        };
        let how = renewed.standing.describe_failures();
        let message = format!("{} of {id} failed{how}", names.join(", "));
        return Some(Error::new(code, message).fix(format!("cleo verify {id}")));
    }
    refuse_words(renewed)
}

/// Returns an error for gates and criteria without a command, which only a person can renew.
fn refuse_words(renewed: &Renewed) -> Option<Error> {
    let id = renewed.standing.task_id;
    let gates = renewed.words_only.iter();
    let gates = gates.map(|gate| (gate.to_string(), format!("--gate {gate}")));
    let criteria = renewed.criteria_words_only.iter();
    let criteria = criteria.map(|number| {
        let accept = format!("--accept {number}");
        (format!("criterion {number}"), accept)
    });
    let (names, options): (Vec<String>, Vec<String>) = gates.chain(criteria).unzip();
    let rests = if names.len() == 1 { "rests" } else { "rest" };
    let message = format!(
        "{} of {id} {rests} on a statement that is stale; look again, and say so with \
         `cleo verify {id} {} --note NOTE`",
        names.join(", "),
        options.first()?
    );
    let look = format!("cleo verify {id}");
    Some(Error::new(Code::EvidenceStale, message).fix(look))
}
