//! Verifying gates and criteria: once, and again what is stale.

use serde::Serialize;

use super::evidence::{Scene, find_directory};
use super::request::{GateRequest, RenewalRequest, bound};
use super::standing::{CriterionStanding, CriterionState, TaskGates, gates};
use std::time::Duration;

use crate::error::{Code, Error, Result, quote_all};
use crate::gate::{Evidence, Gate, Gates, Proof, Record, check_agent};
use crate::ops::tasks::{Caller, check_epoch};
use crate::ops::trust::{Item, Trust};
use crate::ops::{Context, require};
use crate::store::Transaction;
use crate::task::Task;
use crate::workspace::Workspace;

/// The commands that ran, and the state of the task after them.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Renewed {
    /// Gates and criteria that were run, in order.
    pub(crate) ran: Vec<Ran>,
    /// Stale gates that rest on a statement, which no command can renew.
    pub(crate) words_only: Vec<Gate>,
    /// Numbers of stale criteria that rest on a statement.
    pub(crate) criteria_words_only: Vec<usize>,
    #[serde(flatten)]
    pub(crate) standing: TaskGates,
}

/// One thing that was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ran {
    /// The gate, for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) gate: Option<Gate>,
    /// The number of the criterion, for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) criterion: Option<usize>,
    /// Its commands, as they are typed.
    pub(crate) commands: Vec<String>,
    pub(crate) outcome: Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) enum Outcome {
    Passed,
    Failed,
}

pub(super) enum Requirement {
    Gate(Gate),
    Criterion(CriterionStanding),
}

/// How a gate or criterion is verified, and for whom.
pub(super) struct Verification {
    pub(super) of: Requirement,
    pub(super) request: GateRequest,
    pub(super) limit: Duration,
}

/// A tree, and a folder relative to its root.
type Place<'a> = (&'a Workspace, &'a str);

impl Verification {
    /// Verifies in the folder of the caller.
    pub(super) fn run(&self, context: &mut Context) -> Result<TaskGates> {
        let tree = context.find_judged_workspace(self.request.task)?;
        let directory = find_directory(context, &tree);
        self.run_in(context, (&tree, &directory))?;
        gates(context, self.request.task)
    }

    /// Takes evidence and records the result, which it returns. The rules are checked before a command runs and again
    /// before its result is recorded; a failure is always recorded.
    fn run_in(&self, context: &mut Context, place: Place<'_>) -> Result<bool> {
        let GateRequest { commands, role, .. } = &self.request;
        let id = self.request.task;
        check_agent(role.as_deref())?;
        let caller = Caller::for_task(context, id, self.request.epoch);
        let trust = Trust::new(&context.surroundings, &context.workspace);
        let said = self.request.passed.unwrap_or(true);
        let can_pass = said || !commands.is_empty();
        let task =
            context.read(|it| self.check_may_verify(it, (&caller, &trust), place, can_pass))?;
        let scene = Scene::digest_files(context, place, &task.files, caller.epoch)?;
        let (evidence, is_stale) = self.collect_evidence(context, &scene)?;
        let outcomes = evidence.iter().filter_map(Evidence::outcome);
        let passed = outcomes.reduce(|one, other| one && other).unwrap_or(said);
        let mut record = Record {
            passed,
            at: context.now(),
            by: caller.name.clone(),
            agent: role.clone(),
            forced: false,
            evidence,
        };
        let claimed = context.surroundings.assignment.criteria.get(&id).cloned();
        let claimed = claimed.unwrap_or_default();
        context.write(|transaction| {
            // Somebody may have taken over, or changed the criteria, while commands ran.
            let task = self.check_may_verify(transaction, (&caller, &trust), place, passed)?;
            let mut gates = transaction.gates(id)?;
            match &self.of {
                Requirement::Gate(gate) => {
                    record.forced = passed && !gates.open_before(*gate).is_empty();
                    gates.set(*gate, record);
                }
                Requirement::Criterion(one) => {
                    let is_known =
                        |it: &String| task.acceptance.contains(it) || claimed.contains(it);
                    gates.criteria.retain(|line, _| is_known(line));
                    gates.criteria.insert(one.line.clone(), record);
                }
            }
            transaction.put_gates(id, &gates)
        })?;
        if passed && is_stale {
            let name = self.name();
            context.notes.warn([format!(
                "files of {id} changed meanwhile, so what passed is stale already: {name}; a command that changes them \
                 at each run can prove nothing"
            )]);
        } else if self.command().is_none() && !is_stale {
            context.notes.warn(scene.warn_of_unknown_files(id));
        }
        Ok(passed)
    }

    /// Checks that the caller may verify it with this result.
    fn check_may_verify(
        &self,
        transaction: &dyn Transaction,
        (caller, trust): (&Caller, &Trust),
        (tree, directory): Place<'_>,
        passed: bool,
    ) -> Result<Task> {
        let task = require(transaction, self.request.task)?;
        check_epoch(transaction, &task, caller)?;
        caller.refuse_evidence(transaction, task.id, tree)?;
        if let Requirement::Gate(gate) = self.of {
            let gates = transaction.gates(task.id)?;
            if passed && caller.run.is_some() {
                self.refuse_other_proof(&gates, gate, directory, trust)?;
            }
            gates.check(&task.id.to_string(), gate, passed, self.request.force)?;
        }
        Ok(task)
    }

    /// Refuses to pass a gate without the commands that proved it, or that the user trusts and that failed last, or
    /// with them in another folder: the user may have chosen them. For agents of a run.
    fn refuse_other_proof(
        &self,
        gates: &Gates,
        gate: Gate,
        directory: &str,
        trust: &Trust,
    ) -> Result<()> {
        let task = self.request.task;
        let is_trusted = |record: &&Record| {
            let commands = Item::gate(task, gate, record);
            commands.iter().any(|item| trust.is_trusted(item))
        };
        let failures = gates.failures.iter().rev().filter(|one| one.gate == gate);
        let mut failed = failures.map(|one| &one.record).filter(is_trusted);
        let Some(proof) = gates.proof(gate).or_else(|| failed.next()) else {
            return Ok(());
        };
        let before: Vec<&Vec<String>> = proof
            .evidence
            .iter()
            .filter_map(|one| match &one.proof {
                Proof::Command { command, .. } => Some(command),
                _ => None,
            })
            .collect();
        let folder = proof.evidence.first();
        let folder = folder.map_or(".", |one| &one.origin.directory);
        let is_repeated = |command: &&Vec<String>| self.request.commands.contains(command);
        if folder == directory && before.iter().all(is_repeated) {
            return Ok(());
        }
        let commands: Vec<String> = before.iter().map(|words| quote_all(words)).collect();
        let message = format!(
            "{gate} of {task} is shown by `{}`, which an agent of a run does not replace; run the same again, in \
             the folder {folder}",
            commands.join("`, `")
        );
        Err(Error::new(Code::NotVerified, message).fix(format!("cleo verify {task}")))
    }

    /// Takes the evidence. A command of a criterion that cannot be started proves nothing, and holds up no other
    /// criterion.
    fn collect_evidence(&self, context: &Context, scene: &Scene) -> Result<(Vec<Evidence>, bool)> {
        let taken = match &self.of {
            Requirement::Criterion(one) if let Some(why) = one.find_shell_syntax() => {
                Err(Error::new(Code::ProgramMissing, why))
            }
            _ => scene.collect(context, &self.request, self.limit),
        };
        match (taken, self.command()) {
            (Err(error), Some(words)) if error.code == Code::ProgramMissing => Ok((
                scene.record_not_started(words.clone(), error.message),
                false,
            )),
            (taken, _) => taken,
        }
    }

    /// Returns the command of the criterion that it is, if it has one.
    fn command(&self) -> Option<&Vec<String>> {
        match &self.of {
            Requirement::Criterion(one) => one.command.as_ref(),
            Requirement::Gate(_) => None,
        }
    }

    fn name(&self) -> String {
        match &self.of {
            Requirement::Gate(gate) => gate.to_string(),
            Requirement::Criterion(one) => format!("criterion {}", one.number),
        }
    }

    fn commands(&self) -> Vec<String> {
        let commands = self.request.commands.iter();
        commands.map(|words| quote_all(words)).collect()
    }

    /// Says what is about to run.
    fn describe(&self) -> String {
        if let Requirement::Criterion(one) = &self.of {
            return format!("running {}: {}", self.name(), one.line);
        }
        let GateRequest { files, commits, .. } = &self.request;
        let mut parts = self.commands();
        let verb = match parts.is_empty() {
            true => "looking again at",
            false => "running",
        };
        parts.extend(files.iter().map(|path| format!("file {path}")));
        parts.extend(commits.iter().map(|revision| format!("commit {revision}")));
        format!("{verb} {}: {}", self.name(), parts.join(", "))
    }
}

/// Runs stale gates and criteria, and the commands of criteria that are not proven; proven and fresh ones only where
/// their number is given. Commands that are not trusted are refused before the first runs. Each result is recorded
/// at once; `begin` gets a description before each.
pub(crate) fn renew(
    context: &mut Context,
    request: &RenewalRequest,
    begin: &mut dyn FnMut(&str),
) -> Result<Renewed> {
    let task = request.task;
    let limit = match request.limit {
        Some(limit) => limit,
        None => bound(context, request.time_limit)?,
    };
    let before = gates(context, task)?;
    let trust = Trust::new(&context.surroundings, &context.workspace);
    if let Some(number) = request.only
        && before.criterion(number)?.command.is_none()
    {
        let message = format!(
            "criterion {number} of {task} has no command that could be run; accept it with `--accept {number}` and a \
             note that says how you know"
        );
        let error = Error::new(Code::InputInvalid, message);
        return Err(error.fix(format!("cleo verify {task}")));
    }
    let (due_gates, mut words_only) = find_due_gates(&before, request, &trust);
    let criteria = find_due_criteria(&before, request);
    let mut items: Vec<Item> = Vec::new();
    items.extend(due_gates.iter().flat_map(|gate| before.commands(*gate)));
    for one in &criteria {
        let origin = format!("criterion {} of {task}", one.number);
        items.push(Item::command(
            one.command.as_deref().unwrap_or_default(),
            ".",
            origin,
        ));
    }
    trust.require(&items)?;
    let tree = context.find_judged_workspace(task)?;
    let due_gates = due_gates.into_iter().map(Requirement::Gate);
    let criteria = criteria.into_iter().map(Requirement::Criterion);
    let (mut ran, mut is_gate_open) = (Vec::new(), false);
    for of in due_gates.chain(criteria) {
        // A gate that failed opens those after it.
        if is_gate_open && matches!(of, Requirement::Gate(_)) {
            continue;
        }
        let (mut verification, directory) = repeat_verification(of, &before, request, limit);
        begin(&verification.describe());
        // Files are kept by their path from the root.
        for file in &mut verification.request.files {
            *file = tree.root.join(&*file).to_string_lossy().into_owned();
        }
        let passed = verification.run_in(context, (&tree, &directory))?;
        let (gate, criterion) = match &verification.of {
            Requirement::Gate(gate) => (Some(*gate), None),
            Requirement::Criterion(one) => (None, Some(one.number)),
        };
        is_gate_open |= gate.is_some() && !passed;
        ran.push(Ran {
            gate,
            criterion,
            commands: verification.commands(),
            outcome: match passed {
                true => Outcome::Passed,
                false => Outcome::Failed,
            },
        });
    }
    let standing = gates(context, task)?;
    let is_word = |one: &&CriterionStanding| {
        one.command.is_none() && one.state == CriterionState::Stale && request.only.is_none()
    };
    let words = standing.criteria.iter().filter(is_word);
    words_only.retain(|gate| standing.stale.contains(gate));
    Ok(Renewed {
        ran,
        words_only,
        criteria_words_only: words.map(|one| one.number).collect(),
        standing,
    })
}

/// Makes the verification that repeats what is known of a gate or criterion, and names its folder.
fn repeat_verification(
    of: Requirement,
    before: &TaskGates,
    renewal: &RenewalRequest,
    limit: Duration,
) -> (Verification, String) {
    let mut request = GateRequest {
        task: renewal.task,
        epoch: renewal.epoch,
        ..GateRequest::default()
    };
    let mut directory = ".".to_string();
    match &of {
        Requirement::Criterion(one) => request.commands.extend(one.command.clone()),
        Requirement::Gate(gate) => {
            if let Some(record) = before.gates.get(gate) {
                request.repeat_evidence(&record.evidence);
                request.role.clone_from(&record.agent);
                request.force = record.forced;
                if let Some(first) = record.evidence.first() {
                    directory.clone_from(&first.origin.directory);
                }
            }
        }
    }
    let verification = Verification { of, request, limit };
    (verification, directory)
}

/// Finds the stale gates and, where all is verified again, those whose commands are trusted; in the second list those
/// that rest on words alone.
fn find_due_gates(
    standing: &TaskGates,
    request: &RenewalRequest,
    trust: &Trust,
) -> (Vec<Gate>, Vec<Gate>) {
    let is_due = |gate: &&Gate| {
        let commands = standing.commands(**gate);
        match request.all && !commands.is_empty() {
            _ if request.only.is_some() => false,
            true => commands.iter().all(|it| trust.is_trusted(it)),
            false => standing.stale.contains(gate),
        }
    };
    let due = standing.gates.keys().filter(is_due).copied();
    due.partition(|gate| standing.gates[gate].evidence.iter().any(Evidence::is_proof))
}

fn find_due_criteria(standing: &TaskGates, request: &RenewalRequest) -> Vec<CriterionStanding> {
    let is_due = |one: &&CriterionStanding| match (request.only, one.state) {
        _ if one.command.is_none() => false,
        (Some(number), _) => one.number == number,
        (None, CriterionState::Proven) => request.all,
        (None, state) => state == CriterionState::Stale || !request.stale_only,
    };
    standing.criteria.iter().filter(is_due).cloned().collect()
}
