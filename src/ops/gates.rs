//! Setting and reading the gates of a task.

mod lacks;
mod refresh;
mod request;
mod standing;
mod take;

use std::path::Path;

use super::claims::{Caller, check_epoch};
use super::trust::{Item, Trust};
use super::{Context, require};
use crate::error::{Code, Error, Result, quote_all};
use crate::gate::{Evidence, Gate, Gates, Record, check_agent};
use crate::id::TaskId;
use crate::runner::process::Bounds;
use crate::store::Transaction;
use crate::workspace::Workspace;
use take::Scene;

pub(super) use lacks::{lacks, through_trust};
use refresh::accept;
pub(crate) use refresh::{Extent, Outcome, Ran, Renewal, Renewed, renew};
pub(crate) use request::{
    Acceptance, GateRequest, RenewalRequest, accept_criterion, renew_proofs, set_gate,
};
use standing::gates;
pub(crate) use standing::{
    CriterionStanding, CriterionState, GateState, Seen, Summary, TaskGates, show,
};
pub(super) use standing::{gates_to_show, seen, standing};
pub(crate) use take::Given;

/// What a gate is set to, and how long its commands may take.
struct Setting {
    gate: Gate,
    passed: bool,
    given: Given,
    bounds: Bounds,
    /// Role of who sets it.
    agent: Option<String>,
    /// Set it although an earlier gate is open.
    force: bool,
    /// Epoch of the claim under which it is set.
    epoch: Option<u32>,
}

/// Sets a gate to what its commands' result is, or to what the caller says. The rules are asked
/// before a command runs and again when its result is kept. A failure is always kept; the answer
/// says when it came after the last round ([`crate::gate::Gates::rounds_exceeded`]).
fn set(context: &mut Context, task: TaskId, setting: &Setting) -> Result<TaskGates> {
    let tree = context.judged_in(task)?;
    let directory = take::directory(context, &tree);
    set_in(context, task, setting, (&tree, &directory))
}

fn set_in(
    context: &mut Context,
    task: TaskId,
    setting: &Setting,
    (tree, directory): (&Workspace, &str),
) -> Result<TaskGates> {
    check_agent(setting.agent.as_deref())?;
    let (gate, wanted) = (setting.gate, setting.passed);
    let wanted = wanted || !setting.given.commands.is_empty();
    let caller = Caller::of(context, task, setting.epoch);
    let trust = Trust::new(&context.surroundings, &context.workspace);
    let patterns = context.read(|transaction| {
        let task = require(transaction, task)?;
        check_epoch(transaction, &task, &caller)?;
        caller.refuse_unmerged(transaction, task.id, tree)?;
        let gates = transaction.gates(task.id)?;
        if wanted {
            refuse_other_proof(task.id, &gates, setting, directory, (&caller, &trust))?;
        }
        gates.check(&task.id.to_string(), gate, wanted, setting.force)?;
        Ok(task.files)
    })?;
    let scene = Scene::of(context, tree, &patterns, directory, caller.epoch)?;
    let evidence = take::evidence(context, &scene, &setting.given, &setting.bounds)?;
    let decided = evidence
        .iter()
        .filter_map(Evidence::outcome)
        .reduce(|a, b| a && b);
    keep(
        context,
        task,
        setting,
        directory,
        decided.unwrap_or(setting.passed),
        evidence,
    )?;
    let set = gates(context, task)?;
    context.notes.warn(scene.warnings(&set));
    Ok(set)
}

/// Refuses an agent of a run that passes a gate without the commands that proved it, or that the user trusts and that
/// failed last, or runs them in another folder: the user may have chosen them.
fn refuse_other_proof(
    task: TaskId,
    gates: &Gates,
    setting: &Setting,
    directory: &str,
    (caller, trust): (&Caller, &Trust),
) -> Result<()> {
    let gate = setting.gate;
    let is_trusted = |record: &&Record| {
        let commands = Item::gate(task, gate, record);
        commands.iter().any(|item| trust.is_trusted(item))
    };
    let failed = || {
        let failures = gates.failures.iter().rev().filter(|one| one.gate == gate);
        failures.map(|one| &one.record).find(is_trusted)
    };
    let proof = gates.proof(gate).or_else(failed);
    let Some(proof) = proof.filter(|_| caller.run.is_some()) else {
        return Ok(());
    };
    let before = Given::again(&proof.evidence).commands;
    let origins = proof.evidence.iter().filter_map(|one| one.origin.as_ref());
    let folders: Vec<&str> = origins.map(|origin| origin.directory.as_str()).collect();
    let is_repeated = before
        .iter()
        .all(|command| setting.given.commands.contains(command));
    if is_repeated && folders.iter().all(|folder| *folder == directory) {
        return Ok(());
    }
    let commands: Vec<String> = before.iter().map(|words| quote_all(words)).collect();
    let message = format!(
        "{gate} of {task} is shown by `{}`, which an agent of a run does not replace; run the same again, in the \
         folder {}",
        commands.join("`, `"),
        folders.first().unwrap_or(&".")
    );
    Err(Error::new(Code::NotVerified, message).fix(format!("cleo verify {task}")))
}

fn keep(
    context: &mut Context,
    task: TaskId,
    setting: &Setting,
    directory: &str,
    passed: bool,
    evidence: Vec<Evidence>,
) -> Result<()> {
    let caller = Caller::of(context, task, setting.epoch);
    let trust = Trust::new(&context.surroundings, &context.workspace);
    let (id, gate) = (task.to_string(), setting.gate);
    context.write(|transaction| {
        // Somebody may have taken over while the commands ran.
        check_epoch(transaction, &require(transaction, task)?, &caller)?;
        let mut gates = transaction.gates(task)?;
        if passed {
            refuse_other_proof(task, &gates, setting, directory, (&caller, &trust))?;
        }
        gates.check(&id, gate, passed, setting.force)?;
        let record = Record {
            passed,
            at: caller.now,
            by: caller.name,
            agent: setting.agent.clone(),
            forced: passed && !gates.open_before(gate).is_empty(),
            evidence,
        };
        gates.set(gate, record);
        transaction.put_gates(task, &gates)
    })
}

/// Names the gates that a task needs; none of them means the usual ones. To clear them is also the way to
/// replace a damaged record of gates: nothing of it can be read, so the gates are open again.
pub(super) fn require_gates(
    transaction: &mut dyn Transaction,
    task: TaskId,
    clear: bool,
    more: &[Gate],
) -> Result<()> {
    if !clear && more.is_empty() {
        return Ok(());
    }
    let (mut gates, is_damaged) = match transaction.gates(task) {
        Err(error) if clear && error.code == Code::RowDamaged => (Gates::default(), true),
        read => (read?, false),
    };
    let before = gates.required.clone();
    if clear {
        gates.required.clear();
    }
    gates.required.extend(more);
    match is_damaged || gates.required != before {
        true => transaction.put_gates(task, &gates),
        false => Ok(()),
    }
}

fn folder(root: &Path, directory: &str) -> std::path::PathBuf {
    match directory {
        "." => root.to_path_buf(),
        directory => root.join(directory),
    }
}
