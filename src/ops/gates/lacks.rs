//! What completing a task still waits for, and the commands that bring it.

use super::standing::{CriterionStanding, Proven, TaskGates};
use super::take::{command, typed};
use crate::error::{Code, Error, quote};
use crate::gate::{Evidence, Gate, Gates, Proof, Record};
use crate::id::TaskId;

/// Names everything that completing the task waits for: gates that are open, evidence that is
/// stale, and criteria whose command has not shown that they hold. `here` is the working directory
/// relative to the root.
pub(in crate::ops) fn lacks(
    gates: &Gates,
    standing: &TaskGates,
    here: &str,
) -> Vec<(&'static str, Error)> {
    let mut lacks = Vec::new();
    lacks.extend(open(gates, standing, here).map(|error| ("GATES", error)));
    lacks.extend(stale(gates, standing, here).map(|error| ("EVIDENCE", error)));
    lacks.extend(unproven(standing).map(|error| ("CRITERIA", error)));
    lacks
}

fn open(gates: &Gates, standing: &TaskGates, here: &str) -> Option<Error> {
    let (id, open) = (standing.task_id, gates.open());
    let first = open.first().filter(|_| gates.are_used())?;
    let names: Vec<&str> = open.iter().map(|gate| gate.name()).collect();
    let message = format!("{id} needs gates that are open: {}", names.join(", "));
    let passed: Vec<&Gate> = standing.gates.keys().collect();
    let mut error = Error::new(Code::GateOpen, message).fix(proving(*first, standing, here));
    if gates.required.is_empty() && !passed.is_empty() {
        let own: Vec<String> = passed
            .iter()
            .map(|gate| format!("--require-gate {gate}"))
            .collect();
        let command = format!("cleo update {id} {}", own.join(" "));
        error = error.or("if it needs only those that were set, say so", command);
    }
    Some(error.or("complete it all the same, which is recorded", forced(id)))
}

/// Writes the command that passes a gate on evidence: the one that it failed with, else that of a
/// criterion which shows the same. Where neither is known, whoever pastes it has to say what runs.
fn proving(gate: Gate, standing: &TaskGates, here: &str) -> String {
    let id = standing.task_id;
    let failed = standing.gates.get(&gate);
    let failed = failed.filter(|record| record.evidence.iter().any(|it| it.outcome().is_some()));
    if let Some(again) = failed.and_then(|record| again(id, gate, record, here)) {
        return again;
    }
    let is_shown_by_criteria = matches!(gate, Gate::Implemented | Gate::TestsPassed);
    let criteria = standing.criteria.iter().filter(|_| is_shown_by_criteria);
    let commands = criteria.filter_map(|one| one.command.as_deref());
    let runs: Vec<String> = commands
        .map(|it| format!(" --run {}", quote(&typed(it))))
        .collect();
    match runs.is_empty() {
        true => gate.proof_wanted(&id.to_string()),
        false => format!("cleo verify {id} --gate {gate}{}", runs.concat()),
    }
}

fn forced(id: TaskId) -> String {
    format!("cleo complete {id} --force")
}

/// Evidence that is stale, of gates and criteria.
fn stale(gates: &Gates, standing: &TaskGates, here: &str) -> Option<Error> {
    let id = standing.task_id;
    let mut names = Vec::new();
    let mut ways = Vec::new();
    for gate in standing.stale.iter().filter(|gate| gates.needs(**gate)) {
        let record = standing.gates.get(gate)?;
        names.push(named(gate.name(), &record.evidence));
        ways.extend(again(id, *gate, record, here));
    }
    let old = |one: &&CriterionStanding| one.state == Proven::Stale && one.command.is_some();
    for one in standing.criteria.iter().filter(old) {
        names.push(format!("criterion {} (`{}`)", one.number, line(one)));
        ways.push(format!("cleo verify {id} --only {}", one.number));
    }
    let all = format!("cleo verify {id} --refresh");
    // One way out is the whole way out; of several, each is a part of it.
    let (fix, others) = match ways.as_slice() {
        [one] if names.len() == 1 => (one.clone(), vec![all]),
        _ => (all, ways),
    };
    let message = format!(
        "files of {id} changed after it was verified, so this is stale: {}",
        names.join(", ")
    );
    let error = Error::new(Code::EvidenceStale, message).fix(fix);
    let error = others
        .into_iter()
        .fold(error, |error, way| error.or("take it again", way));
    let error = error.or("complete it all the same, which is recorded", forced(id));
    (!names.is_empty()).then_some(error)
}

/// Names a gate with the commands that proved it.
fn named(gate: &str, evidence: &[Evidence]) -> String {
    let commands: Vec<String> = evidence.iter().filter_map(command).collect();
    match commands.is_empty() {
        true => gate.to_string(),
        false => format!("{gate} (`{}`)", commands.join("`, `")),
    }
}

fn line(one: &CriterionStanding) -> String {
    one.command.as_deref().map(typed).unwrap_or_default()
}

/// Writes the command that sets a gate again; none when it would have to be typed in another
/// folder.
fn again(id: TaskId, gate: Gate, record: &Record, here: &str) -> Option<String> {
    let is_here = |each: &Evidence| each.origin.as_ref().is_none_or(|it| it.directory == here);
    if !record.evidence.iter().all(is_here) {
        return None;
    }
    let mut again = format!("cleo verify {id} --gate {gate}");
    for each in &record.evidence {
        let (option, value) = match &each.proof {
            Proof::Command { command, .. } => ("--run", typed(command)),
            Proof::File { path, .. } if here == "." => ("--file", path.clone()),
            Proof::File { .. } => return None,
            Proof::Commit { revision, .. } => ("--commit", revision.clone()),
            Proof::Url { url } => ("--url", url.clone()),
            Proof::Note { text } => ("--note", text.clone()),
            Proof::Claim => continue,
        };
        again += &format!(" {option} {}", quote(&value));
    }
    if let Some(agent) = &record.agent {
        again += &format!(" --agent {agent}");
    }
    Some(again + if record.forced { " --force" } else { "" })
}

/// Criteria with a command that failed, or was never run.
fn unproven(standing: &TaskGates) -> Option<Error> {
    let id = standing.task_id;
    let is_open = |one: &&CriterionStanding| {
        one.command.is_some() && !matches!(one.state, Proven::Proven | Proven::Stale)
    };
    let open = standing.criteria.iter().filter(is_open);
    let names: Vec<String> = open
        .map(|one| format!("{} (`{}`)", one.number, line(one)))
        .collect();
    let message = format!(
        "{id} has criteria that nothing has shown to hold: {}",
        names.join(", ")
    );
    let error = Error::new(Code::CriterionOpen, message)
        .fix(format!("cleo verify {id} --run-all"))
        .or("complete it all the same, which is recorded", forced(id));
    (!names.is_empty()).then_some(error)
}
