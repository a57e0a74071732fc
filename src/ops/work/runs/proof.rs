//! The claims of an agent about an attempt beside the findings of cleo, never merged.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Code, Error, Result, quote};
use crate::gate::{Cause, Proof as Piece, Record};
use crate::id::TaskId;
use crate::ops::proof::{Left, read_left};
use crate::ops::runs::{open, require_run};
use crate::ops::tasks::One;
use crate::ops::work::tracks::lock;
use crate::ops::{Context, proof as proofs};
use crate::run::attempt::Attempt;
use crate::run::{StepState, TaskRun};
use crate::store::Store;

/// An attempt, as its agent reports it and as cleo found it.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Proof {
    pub(crate) task: TaskId,
    pub(crate) attempt: u32,
    pub(crate) said: Said,
    /// Findings of cleo; of an attempt that is not the last only its violations.
    pub(crate) found: Vec<Check>,
    /// The verdict in a sentence.
    pub(crate) verdict: String,
    pub(crate) next: Option<String>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Said {
    pub(crate) message: Option<String>,
    /// The exit code of its program.
    pub(crate) exit_code: Option<i32>,
    /// Findings that its manifest entry claims.
    pub(crate) claims: Vec<String>,
}

/// One check.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Check {
    pub(crate) check: String,
    /// Whether it holds; none when that is not known yet.
    pub(crate) ok: Option<bool>,
    pub(crate) text: String,
    pub(crate) command: Option<Vec<String>>,
    pub(crate) exit_code: Option<i32>,
    /// How long it took, in milliseconds.
    pub(crate) duration_ms: Option<u64>,
}

/// Which attempt at a task; by default the last.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProofQuery {
    /// The run.
    id: String,
    task: TaskId,
    attempt: Option<u32>,
}

pub(crate) fn proof(context: &mut Context, query: ProofQuery) -> Result<Proof> {
    let (run, task) = (query.id.as_str(), query.task);
    let user = context.visible_user();
    let cache = Arc::clone(&context.cache);
    let store = open(context)?;
    let transaction = store.read()?;
    require_run(&*transaction, run, user.as_deref())?;
    let of_run = lock(&cache.tracks)
        .update(&*transaction, run, &[])?
        .task(task)
        .cloned();
    drop(transaction);
    let wanted = of_run.as_ref().and_then(|one| one.attempt(query.attempt));
    let attempt = wanted.ok_or_else(|| {
        let message = format!("the run {run} has no such attempt at {task}");
        Error::new(Code::RunNotFound, message).fix(format!("cleo runs show {}", quote(run)))
    })?;
    let is_last = of_run.as_ref().and_then(|one| one.attempt(None)) == Some(attempt);
    let left = is_last
        .then(|| read_left(context, One { task }))
        .transpose()?;
    let mut found = left.as_ref().map(list_output_checks).unwrap_or_default();
    if is_last {
        found.extend(list_gate_checks(context, task)?);
    }
    if !is_last || found.iter().all(|check| check.ok != Some(false)) {
        let violation = |text: &String| check("violation", Some(false), text.clone());
        found.extend(attempt.violations.iter().map(violation));
    }
    if attempt.ended_at.is_none() || attempt.state == StepState::Cancelled {
        // The attempt did not finish, so a missing part is not a failure.
        for check in found.iter_mut().filter(|check| check.ok == Some(false)) {
            check.ok = None;
            check.text = "not reached".to_string();
        }
    }
    let verdict = describe_verdict(attempt, &found);
    let entry = left.as_ref().and_then(|left| left.entry.as_ref());
    Ok(Proof {
        task,
        attempt: attempt.attempt,
        said: Said {
            message: attempt.said.clone(),
            exit_code: attempt.exit_code,
            claims: entry.map_or(Vec::new(), |entry| entry.key_findings.clone()),
        },
        found,
        verdict,
        next: next(attempt, of_run.as_ref(), is_last),
    })
}

fn check(check: &str, ok: Option<bool>, text: String) -> Check {
    Check {
        check: check.to_string(),
        ok,
        text,
        ..Check::default()
    }
}

fn list_output_checks(left: &Left) -> Vec<Check> {
    let violations = &left.found.report.violations;
    let one = |name: &str, rule: &str, good: String| {
        let broken = violations.iter().filter(|one| one.rule == rule);
        let broken: Vec<&str> = broken.map(|one| one.message.as_str()).collect();
        match broken.is_empty() {
            true => check(name, Some(true), good),
            false => check(name, Some(false), broken.join("; ")),
        }
    };
    let bytes = left.text_bytes.map(|bytes| format!("{bytes} bytes"));
    let digest = left.found.output_digest.as_ref();
    let digest = digest.map(|digest| format!("digest {digest}"));
    let file: Vec<String> = bytes.into_iter().chain(digest).collect();
    let entry = left.found.manifest_id.clone().unwrap_or_default();
    let mut checks = vec![
        one("output file", "OUT-001", file.join(", ")),
        one("manifest entry", "OUT-002", entry),
    ];
    let is_other = |rule: &str| rule != "OUT-001" && rule != "OUT-002";
    let others = violations.iter().filter(|one| is_other(&one.rule));
    checks.extend(others.map(|one| check(&one.rule, Some(false), one.message.clone())));
    checks
}

fn list_gate_checks(context: &mut Context, task: TaskId) -> Result<Vec<Check>> {
    let standing = proofs::gates_to_show(context, task)?;
    let gates = standing.gates.iter().map(|(gate, record)| {
        let cause = standing.causes.get(gate).copied();
        describe_gate_record(&format!("gate {gate}"), record, cause)
    });
    let criteria = standing.criteria.iter().filter_map(|one| {
        let record = one.record.as_ref()?;
        let name = format!("criterion {}", one.number);
        Some(describe_gate_record(&name, record, one.cause))
    });
    Ok(gates.chain(criteria).collect())
}

fn describe_gate_record(name: &str, record: &Record, cause: Option<Cause>) -> Check {
    let text = match (record.passed, cause) {
        (true, Some(cause)) => cause.describe(),
        (true, None) => "passed",
        (false, _) => "failed",
    };
    let check = check(
        name,
        Some(record.passed && cause.is_none()),
        text.to_string(),
    );
    let command = record.evidence.iter().find_map(|one| match &one.proof {
        Piece::Command {
            command,
            exit_code,
            duration_ms,
            ..
        } => Some((command.clone(), *exit_code, *duration_ms)),
        _ => None,
    });
    match command {
        None => check,
        Some((command, exit_code, duration_ms)) => Check {
            command: Some(command),
            exit_code,
            duration_ms: Some(duration_ms),
            ..check
        },
    }
}

fn describe_verdict(attempt: &Attempt, found: &[Check]) -> String {
    let why = attempt.violations.first().or(attempt.reason.as_ref());
    let word = match attempt.state {
        StepState::Done if found.iter().any(|check| check.ok == Some(false)) => {
            return "Done, but not all of it holds now.".to_string();
        }
        StepState::Done => return "Verified.".to_string(),
        StepState::Running => return "The agent works.".to_string(),
        StepState::Verifying => return "cleo verifies the work of the agent.".to_string(),
        StepState::Waiting => return "The next attempt starts soon.".to_string(),
        StepState::Cancelled => "Cancelled",
        StepState::Failed | StepState::Skipped => "Refused",
    };
    match why {
        Some(why) => format!("{word}: {why}"),
        None => format!("{word}."),
    }
}

fn next(attempt: &Attempt, task: Option<&TaskRun>, is_last: bool) -> Option<String> {
    if !is_last {
        return Some(format!("attempt {}", attempt.attempt + 1));
    }
    let reason = task
        .filter(|task| !task.is_done())
        .and_then(|task| task.reason.clone());
    reason.filter(|reason| Some(reason) != attempt.violations.first())
}
