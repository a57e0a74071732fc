//! The gates and criteria of a task: what was proven, and whether that still holds.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::{Code, Error, Result};
use crate::gate::{Cause, Criterion, Failure, Freshness, Gate, Gates, ROUNDS_MAX, Record};
use crate::id::TaskId;
use crate::ops::tasks::One;
use crate::ops::trust::{Item, Place, Trust, digest_files, judge};
use crate::ops::{Context, require};
use crate::task::Task;
use crate::task::rules::is_path;
use crate::tree::Tree;
use crate::workspace::Workspace;

/// The gates and criteria of a task.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskGates {
    pub(crate) task_id: TaskId,
    /// The git worktree whose files decide; none for those of the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) worktree: Option<String>,
    /// True when every gate that it needs has passed and nothing of that is stale.
    pub(crate) passed: bool,
    /// The state of each gate, in their order; none when none was set.
    pub(crate) states: Option<Vec<GateState>>,
    /// The gates that it needs.
    pub(crate) required: Vec<Gate>,
    pub(crate) gates: BTreeMap<Gate, Record>,
    /// Gates that passed with files that have changed since, in another worktree or for another user.
    pub(crate) stale: Vec<Gate>,
    /// How often a gate has failed, up to the last round.
    pub(crate) round: u32,
    /// Maximum number of rounds.
    pub(crate) rounds_max: u32,
    /// Each failure, oldest first.
    pub(crate) failures: Vec<Failure>,
    /// Its acceptance criteria, in order.
    pub(crate) criteria: Vec<CriterionStanding>,
    /// Its files as they are; none when no evidence has to be compared with them.
    pub(crate) tree: Option<Tree>,
    /// Deliverables that name a file or folder, and are not there.
    pub(crate) missing: Vec<String>,
    /// Why each stale gate is stale.
    #[serde(skip)]
    pub(crate) causes: BTreeMap<Gate, Cause>,
    /// Gates and criteria that passed without a digest of the files, which may have changed since.
    #[serde(skip)]
    unknown: Vec<String>,
    /// Whether the task names the gates that it needs.
    #[serde(skip)]
    pub(super) names_gates: bool,
}

/// An acceptance criterion with its evidence.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
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
    /// Why it is stale, if it is.
    #[serde(skip)]
    pub(crate) cause: Option<Cause>,
    /// Whether its command failed on other files than those that are there.
    #[serde(skip)]
    pub(super) has_failed_before: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
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
    /// It passed before files of the task changed, in another worktree or for another user.
    Stale,
}

/// The states of the gates and criteria of a task.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Summary {
    /// True when every gate that it needs has passed and nothing of that is stale.
    pub(crate) passed: bool,
    /// Every gate, when it uses gates.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) gates: BTreeMap<Gate, GateState>,
    /// Its criteria, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) criteria: Vec<CriterionState>,
    /// Why what is stale is stale, by gate or `criterion 1`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) causes: BTreeMap<String, &'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum CriterionState {
    /// Nothing is known of it.
    Unproven,
    /// Somebody says that it holds.
    Claimed,
    /// Its command failed.
    Failed,
    /// It held before files of the task changed, in another worktree or for another user.
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

    /// Returns the states of all gates of a task, in their order; none when none was set.
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
            "{names} passed without a digest of the files, so it is unknown whether it still holds"
        );
        (!names.is_empty()).then_some(message)
    }

    pub(super) fn warn_missing(&self) -> Option<String> {
        warn_of_missing(self.task_id, &self.missing)
    }

    pub(crate) fn commands(&self, gate: Gate) -> Vec<Item> {
        let record = self.gates.get(&gate);
        record.map_or_else(Vec::new, |record| Item::gate(self.task_id, gate, record))
    }

    pub(crate) fn state(&self, gate: Gate) -> GateState {
        let is_needed = self.required.contains(&gate);
        GateState::new(self.gates.get(&gate), is_needed, self.stale.contains(&gate))
    }

    pub(super) fn criterion(&self, number: usize) -> Result<&CriterionStanding> {
        let found = self.criteria.iter().find(|one| one.number == number);
        found.ok_or_else(|| {
            let (id, total) = (self.task_id, self.criteria.len());
            let message =
                format!("{id} has {total} acceptance criteria; there is no number {number}");
            Error::new(Code::InputInvalid, message).fix(format!("cleo verify {id}"))
        })
    }

    /// Sums the states up; none when the task neither uses gates nor has criteria with a command or a record.
    pub(crate) fn summary(&self) -> Option<Summary> {
        let is_shown = |one: &CriterionStanding| one.command.is_some() || one.record.is_some();
        let has_criteria = self.criteria.iter().any(is_shown);
        let has_gates = self.states.is_some();
        let gates = Gate::ALL.iter().copied().filter(|_| has_gates);
        let criteria = self.criteria.iter().filter(|_| has_criteria);
        let of_gates = self
            .causes
            .iter()
            .map(|(gate, cause)| (gate.to_string(), *cause));
        let of_criteria = self.criteria.iter();
        let of_criteria =
            of_criteria.filter_map(|one| Some((format!("criterion {}", one.number), one.cause?)));
        let causes = of_gates.chain(of_criteria);
        (has_gates || has_criteria).then(|| Summary {
            passed: self.passed,
            gates: crate::build_map(gates.map(|gate| (gate, self.state(gate)))),
            criteria: criteria.map(|one| one.state).collect(),
            causes: causes
                .map(|(name, cause)| (name, cause.describe()))
                .collect(),
        })
    }

    pub(super) fn new(
        (workspace, trust): (&Workspace, &Trust),
        task: &Task,
        mut gates: Gates,
        files: Option<Tree>,
        is_run: bool,
    ) -> TaskGates {
        // Evidence from before the task declared other files says nothing about these.
        let fitting = files.as_ref().filter(|files| files.patterns == task.files);
        let key = trust.read_key();
        let judge = |place: Place<'_>, record: &mut Record| {
            let by = (key.as_ref(), workspace);
            let found = judge(by, fitting, is_run, task.id, (place, record));
            record.mark = None;
            found
        };
        let (mut causes, mut unknown) = (BTreeMap::new(), Vec::new());
        for (gate, record) in gates.gates.iter_mut().filter(|(_, record)| record.passed) {
            match judge(Place::Gate(*gate), record) {
                Freshness::Stale(cause) => drop(causes.insert(*gate, cause)),
                Freshness::Unknown => unknown.push(gate.word().to_string()),
                Freshness::Fresh => {}
            }
        }
        let mut criteria = Vec::new();
        for (at, line) in task.acceptance.iter().enumerate() {
            let criterion = Criterion::read(line);
            let mut record = gates.criteria.get(line).cloned();
            let found = record
                .as_mut()
                .map(|record| judge(Place::Criterion(line), record));
            let (state, is_unknown) = find_state(record.as_ref().zip(found));
            let cause = match found {
                Some(Freshness::Stale(cause)) if state == CriterionState::Stale => Some(cause),
                _ => None,
            };
            let is_stale = matches!(found, Some(Freshness::Stale(_)));
            unknown.extend(is_unknown.then(|| format!("`{line}`")));
            criteria.push(CriterionStanding {
                number: at + 1,
                text: criterion.text.to_string(),
                state,
                has_failed_before: is_stale && state == CriterionState::Failed,
                command: criterion.command,
                record,
                line: line.clone(),
                cause,
            });
        }
        let stale: Vec<Gate> = causes.keys().copied().collect();
        TaskGates {
            task_id: task.id,
            passed: gates.open().is_empty() && !stale.iter().any(|gate| gates.needs(*gate)),
            required: gates.list_needed(),
            names_gates: !gates.required.is_empty(),
            missing: list_missing(workspace, task),
            unknown,
            states: GateState::all(&gates, &stale),
            stale,
            causes,
            criteria,
            rounds_max: ROUNDS_MAX,
            round: gates.round,
            gates: gates.gates,
            failures: gates.failures,
            tree: files,
            worktree: workspace.worktree(),
        }
    }
}

/// Returns the state of a criterion, and whether a command proved it without a digest of the files.
fn find_state(judged: Option<(&Record, Freshness)>) -> (CriterionState, bool) {
    let Some((record, found)) = judged else {
        return (CriterionState::Unproven, false);
    };
    let is_run = record.evidence.iter().any(|each| each.outcome().is_some());
    match found {
        _ if !record.passed => (CriterionState::Failed, false),
        Freshness::Stale(_) => (CriterionState::Stale, false),
        found if is_run => (CriterionState::Proven, found == Freshness::Unknown),
        _ => (CriterionState::Claimed, false),
    }
}

/// Reads the gates, evidence and criteria of a task.
pub(crate) fn show(context: &mut Context, which: One) -> Result<TaskGates> {
    gates(context, which.task)
}

pub(super) fn gates(context: &mut Context, task: TaskId) -> Result<TaskGates> {
    gates_with(context, task, None)
}

/// Reads the gates of a task whose files were just digested.
pub(super) fn gates_with(
    context: &mut Context,
    task: TaskId,
    files: Option<Tree>,
) -> Result<TaskGates> {
    let tree = context.find_judged_workspace(task)?;
    let read = context.read(|tasks| Ok((require(tasks, task)?, tasks.gates(task)?)))?;
    judge_gates(context, &tree, read, files)
}

/// Reads the gates of a task to show them, which proves nothing: the workspace counts where no tree can be judged from
/// the folder of the caller, and a damaged record is left out with a warning.
pub(in crate::ops) fn gates_to_show(context: &mut Context, task: TaskId) -> Result<TaskGates> {
    let tree = context.find_judged_workspace(task);
    let tree = tree.unwrap_or_else(|_| context.workspace.clone());
    let read = context.read(|tasks| {
        let gates = tasks.gates_of(&[task])?.remove(&task);
        Ok((require(tasks, task)?, gates.unwrap_or_default()))
    })?;
    judge_gates(context, &tree, read, None)
}

fn judge_gates(
    context: &Context,
    tree: &Workspace,
    (mut task, gates): (Task, Gates),
    known: Option<Tree>,
) -> Result<TaskGates> {
    let assignment = &context.surroundings.assignment;
    let is_run = assignment.criteria.contains_key(&task.id);
    let trust = Trust::new(&context.surroundings, &context.workspace);
    task.acceptance = assignment.criteria_of(&task);
    let known = known.filter(|known| known.patterns == task.files);
    let files = match known {
        None => digest_files(tree, &task, &gates)?,
        known => known,
    };
    Ok(TaskGates::new((tree, &trust), &task, gates, files, is_run))
}

pub(super) fn warn_of_missing(id: TaskId, missing: &[String]) -> Option<String> {
    let names = missing.join(", ");
    (!names.is_empty()).then(|| format!("{id} has deliverables that are not there: {names}"))
}

/// Lists the deliverables of a task that name a file or folder which is not there. Others are words or patterns.
pub(super) fn list_missing(workspace: &Workspace, task: &Task) -> Vec<String> {
    let is_absent = |text: &&String| {
        workspace
            .confine(text)
            .is_ok_and(|path| path.symlink_metadata().is_err())
    };
    let missing = task.deliverables.iter().filter(|it| is_path(it));
    let missing = missing.filter(is_absent);
    missing.cloned().collect()
}
