//! How the gates and criteria of a task stand: what was proven, and whether that still holds.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use crate::error::Result;
use crate::gate::{
    Criterion, Failure, Freshness, Gate, Gates, Origin, Present, ROUNDS_MAX, Record, freshness,
};
use crate::id::TaskId;
use crate::ops::tasks::One;
use crate::ops::trust::Item;
use crate::ops::{Context, require};
use crate::task::Task;
use crate::tree::{self, Tree};
use crate::workspace::Workspace;

/// The gates and criteria of a task.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskGates {
    pub(crate) task_id: TaskId,
    /// The git worktree whose files it is judged by; none for those of the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) worktree: Option<String>,
    /// True when every gate that it needs has passed and nothing of that is stale.
    pub(crate) passed: bool,
    /// How each gate stands, in their order; none when none was set.
    pub(crate) states: Option<Vec<GateState>>,
    /// The gates that it needs.
    pub(crate) required: Vec<Gate>,
    pub(crate) gates: BTreeMap<Gate, Record>,
    /// Gates that passed with files that have changed since.
    pub(crate) stale: Vec<Gate>,
    /// How often a gate has failed, up to the last round.
    pub(crate) round: u32,
    /// Most rounds that there are.
    pub(crate) rounds_max: u32,
    /// Each failure, oldest first.
    pub(crate) failures: Vec<Failure>,
    /// Its acceptance criteria, in order.
    pub(crate) criteria: Vec<CriterionStanding>,
    /// Its files as they are; none when no evidence has to be compared with them.
    pub(crate) tree: Option<Tree>,
    /// Gates and criteria that passed without a digest of the files, which may have changed since.
    #[serde(skip)]
    unknown: Vec<String>,
    /// Whether the task names the gates that it needs.
    #[serde(skip)]
    pub(super) names_gates: bool,
}

/// An acceptance criterion and what is known of it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct CriterionStanding {
    /// Its place among the criteria of the task, from 1.
    pub(crate) number: usize,
    pub(crate) text: String,
    /// The command that proves it, in words.
    pub(crate) command: Option<Vec<String>>,
    pub(crate) state: CriterionState,
    pub(crate) record: Option<Record>,
    /// The line as the task has it.
    #[serde(skip)]
    pub(crate) line: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) enum GateState {
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
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Summary {
    /// True when every gate that it needs has passed and nothing of that is stale.
    pub(crate) passed: bool,
    /// Every gate, when it uses gates.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) gates: BTreeMap<Gate, GateState>,
    /// Its criteria, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) criteria: Vec<CriterionState>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) enum CriterionState {
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

impl GateState {
    fn new(record: Option<&Record>, is_needed: bool, is_stale: bool) -> GateState {
        match record {
            Some(record) if !record.passed => GateState::Failed,
            Some(_) if is_stale => GateState::Stale,
            Some(record) if record.forced => GateState::Forced,
            Some(_) => GateState::Passed,
            None if is_needed => GateState::Open,
            None => GateState::Optional,
        }
    }

    /// Returns how the gates of a task stand, in their order; none when none was set.
    pub(in crate::ops) fn all(gates: &Gates, stale: &[Gate]) -> Option<Vec<GateState>> {
        let state = |gate: &Gate| {
            let record = gates.gates.get(gate);
            GateState::new(record, gates.needs(*gate), stale.contains(gate))
        };
        gates
            .has_gates()
            .then(|| Gate::ALL.iter().map(state).collect())
    }
}

impl TaskGates {
    pub(crate) fn rounds_exceeded(&self) -> bool {
        self.failures.len() > ROUNDS_MAX as usize
    }

    /// Warns of gates and criteria that passed without a digest of the files.
    pub(super) fn warn_unknown(&self) -> Option<String> {
        let names = self.unknown.join(", ");
        let message = format!(
            "{names} passed without a digest of the files, so nobody can tell if it still holds"
        );
        (!names.is_empty()).then_some(message)
    }

    pub(crate) fn commands(&self, gate: Gate) -> Vec<Item> {
        let record = self.gates.get(&gate);
        record.map_or_else(Vec::new, |record| Item::gate(self.task_id, gate, record))
    }

    pub(crate) fn state(&self, gate: Gate) -> GateState {
        let is_needed = self.required.contains(&gate);
        GateState::new(self.gates.get(&gate), is_needed, self.stale.contains(&gate))
    }

    /// Says in few words how the task stands; none when it neither uses gates nor has criteria
    /// that something is known of or that can be run.
    pub(crate) fn summary(&self) -> Option<Summary> {
        let is_told = |one: &CriterionStanding| one.command.is_some() || one.record.is_some();
        let has_criteria = self.criteria.iter().any(is_told);
        let are_used = self.states.is_some();
        let gates = Gate::ALL.iter().copied().filter(|_| are_used);
        let criteria = self.criteria.iter().filter(|_| has_criteria);
        (are_used || has_criteria).then(|| Summary {
            passed: self.passed,
            gates: crate::build_map(gates.map(|gate| (gate, self.state(gate)))),
            criteria: criteria.map(|one| one.state).collect(),
        })
    }
}

/// Reads the gates, evidence and criteria of a task.
pub(crate) fn show(context: &mut Context, which: One) -> Result<TaskGates> {
    gates(context, which.task)
}

pub(super) fn gates(context: &mut Context, task: TaskId) -> Result<TaskGates> {
    let tree = context.find_judged_workspace(task)?;
    gates_in(context, &tree, task)
}

/// Reads the gates of a task to show them, which proves nothing: where no tree can be judged from the folder
/// of the caller, the workspace is.
pub(in crate::ops) fn gates_to_show(context: &mut Context, task: TaskId) -> Result<TaskGates> {
    let tree = context.find_judged_workspace(task);
    let tree = tree.unwrap_or_else(|_| context.workspace.clone());
    gates_in(context, &tree, task)
}

fn gates_in(context: &mut Context, tree: &Workspace, task: TaskId) -> Result<TaskGates> {
    let (mut task, gates) =
        context.read(|transaction| Ok((require(transaction, task)?, transaction.gates(task)?)))?;
    let assignment = &context.surroundings.assignment;
    let is_run = assignment.criteria.contains_key(&task.id);
    task.acceptance = assignment.criteria_of(&task);
    let files = look_at_files(tree, &task, &gates)?;
    Ok(TaskGates::new(tree, &task, gates, files, is_run))
}

/// Looks at the files of a task, where evidence has to be compared with them.
pub(super) fn look_at_files(
    workspace: &Workspace,
    task: &Task,
    gates: &Gates,
) -> Result<Option<Tree>> {
    let mut records = gates.gates.values().chain(gates.criteria.values());
    match records.any(|record| !record.evidence.is_empty()) {
        true => tree::digest(&workspace.root, &task.files).map(Some),
        false => Ok(None),
    }
}

impl TaskGates {
    pub(super) fn new(
        workspace: &Workspace,
        task: &Task,
        gates: Gates,
        files: Option<Tree>,
        is_run: bool,
    ) -> TaskGates {
        // Seen before the task named other files, they say nothing of these.
        let fitting = files.as_ref().filter(|files| files.patterns == task.files);
        let file = |path: &str| tree::file_digest(&workspace.confine(path).ok()?);
        // Commands read more than what is compared: other files than those that a task names, and those that git
        // ignores. A run merges what is in its worktrees, so that it takes the evidence of these for its own.
        let worktree = workspace.worktree();
        let place = |worktree: Option<&String>| {
            let place = worktree.map(|root| Workspace::from(PathBuf::from(root)));
            let place = place.filter(|place| !is_run || place.home_of_run().is_none());
            place.map(|place| place.root)
        };
        let here = place(worktree.as_ref());
        let is_elsewhere = |origin: &Origin| place(origin.worktree.as_ref()) != here;
        let present = Present {
            tree: fitting.and_then(|files| files.digest.as_deref()),
            file: &file,
            is_elsewhere: &is_elsewhere,
        };
        let stale = list_passed(&gates, &present, Freshness::Stale);
        let unknown_gates = list_passed(&gates, &present, Freshness::Unknown);
        let is_unknown = |line: &&String| {
            let record = gates.criteria.get(*line).filter(|record| record.passed);
            let is_run = |each: &crate::gate::Evidence| each.outcome().is_some();
            record.is_some_and(|it| {
                it.evidence.iter().any(is_run)
                    && freshness(&it.evidence, &present) == Freshness::Unknown
            })
        };
        let unknown_criteria = task.acceptance.iter().filter(is_unknown);
        TaskGates {
            task_id: task.id,
            passed: gates.open().is_empty() && !stale.iter().any(|gate| gates.needs(*gate)),
            required: gates.list_needed(),
            names_gates: !gates.required.is_empty(),
            unknown: unknown_gates
                .iter()
                .map(|gate| gate.word().to_string())
                .chain(unknown_criteria.map(|line| format!("`{line}`")))
                .collect(),
            states: GateState::all(&gates, &stale),
            stale,
            criteria: criteria(task, &gates, &present),
            rounds_max: ROUNDS_MAX,
            round: gates.round,
            gates: gates.gates,
            failures: gates.failures,
            tree: files,
            worktree,
        }
    }
}

fn list_passed(gates: &Gates, present: &Present<'_>, wanted: Freshness) -> Vec<Gate> {
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

fn state(record: Option<&Record>, present: &Present<'_>) -> CriterionState {
    let Some(record) = record else {
        return CriterionState::Unproven;
    };
    let is_run = record.evidence.iter().any(|each| each.outcome().is_some());
    match freshness(&record.evidence, present) {
        _ if !record.passed => CriterionState::Failed,
        Freshness::Stale => CriterionState::Stale,
        _ if is_run => CriterionState::Proven,
        _ => CriterionState::Claimed,
    }
}
