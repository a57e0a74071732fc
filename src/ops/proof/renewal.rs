//! Verifying again what is stale, and criteria that are not proven.

use std::time::Duration;

use serde::Serialize;

use super::request::{GateRequest, RenewalRequest, bound};
use super::standing::{CriterionStanding, CriterionState, TaskGates, gates, gates_with};
use super::verify::{Requirement, Verification};
use crate::error::{Code, Error, Result};
use crate::gate::{Evidence, Gate};
use crate::ops::Context;
use crate::ops::trust::{Item, Trust};

/// The commands that ran, and the state of the task after them.
#[derive(Debug, Serialize, schemars::JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Outcome {
    Passed,
    Failed,
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
    let criteria = criteria.into_iter();
    let criteria = criteria.map(|one| Requirement::Criterion(Box::new(one)));
    let (mut ran, mut is_gate_open, mut files) = (Vec::new(), false, None);
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
        let (passed, after) = verification.run_in(context, (&tree, &directory), files)?;
        files = Some(after);
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
    let standing = gates_with(context, task, files)?;
    context.notes.warn(standing.warn_missing());
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
