//! How the gates and criteria of a task stand: what was proven, and whether that still holds.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::error::{Code, Error, Result, quote};
use crate::gate::{
    Criterion, Evidence, Failure, Freshness, Gate, Gates, Present, Proof, Record, freshness,
};
use crate::id::TaskId;
use crate::ops::{Context, require};
use crate::task::Task;
use crate::tree::{self, Tree};
use crate::workspace::Workspace;

/// The gates and criteria of a task.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskGates {
    /// The task.
    pub task_id: TaskId,
    /// True when every gate that it needs has passed and nothing of that is stale.
    pub passed: bool,
    /// The gates that it needs.
    pub required: Vec<Gate>,
    /// Gates that were set.
    pub gates: BTreeMap<Gate, Record>,
    /// Gates that passed with files that have changed since.
    pub stale: Vec<Gate>,
    /// How often a gate has failed, up to the last round.
    pub round: u32,
    /// Each failure, oldest first.
    pub failures: Vec<Failure>,
    /// Its acceptance criteria, in order.
    pub criteria: Vec<CriterionStanding>,
    /// Its files as they are; none when no evidence has to be compared with them.
    pub tree: Option<Seen>,
    /// What the caller should know.
    #[serde(skip)]
    pub warnings: Vec<String>,
    #[serde(skip)]
    rounds_exceeded: bool,
    #[serde(skip)]
    are_used: bool,
    #[serde(skip)]
    unknown: Vec<Gate>,
}

/// The files of a task when they were looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// SHA-256 over paths, kinds and contents; none when they cannot be read.
    pub digest: Option<String>,
    /// How many files there are.
    pub files: usize,
    /// Why there is no digest.
    pub problem: Option<String>,
    #[serde(skip)]
    patterns: Vec<String>,
}

/// An acceptance criterion and what is known of it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CriterionStanding {
    /// Its place among the criteria of the task, from 1.
    pub number: usize,
    /// The words.
    pub text: String,
    /// The command that proves it, in words.
    pub command: Option<Vec<String>>,
    /// How it stands.
    pub state: Proven,
    /// What is known of it.
    pub record: Option<Record>,
    /// The line as the task has it.
    #[serde(skip)]
    pub line: String,
}

/// How a gate stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum GateState {
    /// The task needs it.
    Open,
    /// The task does not need it.
    Optional,
    /// It passed, on the files as they are.
    Passed,
    /// It passed before its turn.
    Forced,
    /// It failed.
    Failed,
    /// It passed before files of the task changed.
    Stale,
}

/// How a task stands, in few words.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// True when every gate that it needs has passed and nothing of that is stale.
    pub passed: bool,
    /// Every gate, when it uses gates.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub gates: BTreeMap<Gate, GateState>,
    /// Its criteria, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<Proven>,
}

/// How a criterion stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Proven {
    /// Nothing is known of it.
    Unproven,
    /// Somebody says that it holds.
    Claimed,
    /// Its command failed.
    Failed,
    /// It held before files of the task changed.
    Stale,
    /// Its command succeeded on the files as they are.
    Proven,
}

impl TaskGates {
    /// Says whether the task has failed more often than it has rounds.
    pub fn rounds_exceeded(&self) -> bool {
        self.rounds_exceeded
    }

    /// Warns of gates that passed where nobody can tell whether files have changed since.
    pub(in crate::ops) fn unknown(&self) -> Option<String> {
        let names: Vec<&str> = self.unknown.iter().map(|gate| gate.name()).collect();
        let names = names.join(", ");
        (!names.is_empty()).then(|| {
            format!(
                "{names} passed without a digest of the files, so nobody can tell if it still holds"
            )
        })
    }

    /// Says how a gate stands.
    pub fn state(&self, gate: Gate) -> GateState {
        match self.gates.get(&gate) {
            Some(record) if !record.passed => GateState::Failed,
            Some(_) if self.stale.contains(&gate) => GateState::Stale,
            Some(record) if record.forced => GateState::Forced,
            Some(_) => GateState::Passed,
            None if self.required.contains(&gate) => GateState::Open,
            None => GateState::Optional,
        }
    }

    /// Says in few words how the task stands; none when it neither uses gates nor has criteria
    /// that something is known of or that can be run.
    pub fn summary(&self) -> Option<Summary> {
        let is_told = |one: &CriterionStanding| one.command.is_some() || one.record.is_some();
        let has_criteria = self.criteria.iter().any(is_told);
        let gates = Gate::ALL.into_iter().filter(|_| self.are_used);
        let criteria = self.criteria.iter().filter(|_| has_criteria);
        (self.are_used || has_criteria).then(|| Summary {
            passed: self.passed,
            gates: gates.map(|gate| (gate, self.state(gate))).collect(),
            criteria: criteria.map(|one| one.state).collect(),
        })
    }
}

/// Reads the gates of a task.
pub fn gates(context: &mut Context, task: TaskId) -> Result<TaskGates> {
    let (task, gates) =
        context.read(|transaction| Ok((require(transaction, task)?, transaction.gates(task)?)))?;
    let seen = seen(&context.workspace, &task, &gates)?;
    Ok(standing(&context.workspace, &task, gates, seen))
}

/// Looks at the files of a task, if there is evidence to compare them with.
pub(in crate::ops) fn seen(
    workspace: &Workspace,
    task: &Task,
    gates: &Gates,
) -> Result<Option<Seen>> {
    let records = gates.gates.values().chain(gates.criteria.values());
    let mut evidence = records.flat_map(|record| &record.evidence);
    if !evidence.any(|each| each.origin.is_some()) {
        return Ok(None);
    }
    let Tree {
        digest,
        files,
        problem,
    } = tree::digest(&workspace.root, &task.files)?;
    Ok(Some(Seen {
        digest,
        files,
        problem,
        patterns: task.files.clone(),
    }))
}

/// Judges the gates and criteria of a task by its files as they were seen.
pub(in crate::ops) fn standing(
    workspace: &Workspace,
    task: &Task,
    gates: Gates,
    seen: Option<Seen>,
) -> TaskGates {
    // Seen before the task named other files, they say nothing of these.
    let fitting = seen.as_ref().filter(|seen| seen.patterns == task.files);
    let file = |path: &str| tree::file_digest(&workspace.confine(path).ok()?);
    let present = Present {
        tree: fitting.and_then(|seen| seen.digest.as_deref()),
        file: &file,
    };
    let stale = passed_and(&gates, &present, Freshness::Stale);
    TaskGates {
        task_id: task.id,
        passed: gates.open().is_empty() && !stale.iter().any(|gate| gates.needs(*gate)),
        required: gates.needed(),
        unknown: passed_and(&gates, &present, Freshness::Unknown),
        stale,
        criteria: criteria(task, &gates, &present),
        rounds_exceeded: gates.rounds_exceeded(),
        are_used: gates.are_used(),
        round: gates.round,
        gates: gates.gates,
        failures: gates.failures,
        tree: seen,
        warnings: Vec::new(),
    }
}

/// Names the gates that passed, by how fresh their evidence is.
fn passed_and(gates: &Gates, present: &Present<'_>, wanted: Freshness) -> Vec<Gate> {
    let passed = gates.gates.iter().filter(|(_, record)| record.passed);
    let found = passed.filter(|(_, record)| freshness(&record.evidence, present) == wanted);
    found.map(|(gate, _)| *gate).collect()
}

fn criteria(task: &Task, gates: &Gates, present: &Present<'_>) -> Vec<CriterionStanding> {
    let all = task.acceptance.iter().enumerate();
    all.map(|(at, line)| {
        let criterion = Criterion::read(line);
        let record = gates.criteria.get(line).cloned();
        CriterionStanding {
            number: at + 1,
            text: criterion.text.to_string(),
            state: state(record.as_ref(), present),
            command: criterion.command,
            record,
            line: line.clone(),
        }
    })
    .collect()
}

fn state(record: Option<&Record>, present: &Present<'_>) -> Proven {
    let Some(record) = record else {
        return Proven::Unproven;
    };
    let is_run = record.evidence.iter().any(|each| each.outcome().is_some());
    match freshness(&record.evidence, present) {
        _ if !record.passed => Proven::Failed,
        Freshness::Stale => Proven::Stale,
        _ if is_run => Proven::Proven,
        _ => Proven::Claimed,
    }
}

/// Names everything that completing the task waits for: gates that are open, evidence that is
/// stale, and criteria whose command has not shown that they hold. `here` is the working directory
/// relative to the root.
pub(in crate::ops) fn lacks(
    gates: &Gates,
    standing: &TaskGates,
    here: &str,
) -> Vec<(&'static str, Error)> {
    let mut lacks = Vec::new();
    lacks.extend(open(gates, standing).map(|error| ("GATES", error)));
    lacks.extend(stale(gates, standing, here).map(|error| ("EVIDENCE", error)));
    lacks.extend(unproven(standing).map(|error| ("CRITERIA", error)));
    lacks
}

fn open(gates: &Gates, standing: &TaskGates) -> Option<Error> {
    let (id, open) = (standing.task_id, gates.open());
    let first = open.first().filter(|_| gates.are_used())?;
    let names: Vec<&str> = open.iter().map(|gate| gate.name()).collect();
    let message = format!("{id} needs gates that are open: {}", names.join(", "));
    let passed: BTreeSet<&Gate> = standing.gates.keys().collect();
    let mut error =
        Error::new(Code::GateOpen, message).fix(format!("cleo verify {id} --gate {first}"));
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

/// Writes the command of a piece of evidence as it is typed.
pub(super) fn command(evidence: &Evidence) -> Option<String> {
    let Proof::Command { command, .. } = &evidence.proof else {
        return None;
    };
    Some(typed(command))
}

fn typed(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
    words.join(" ")
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
