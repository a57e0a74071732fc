//! Whether each finished task still keeps what its protocols ask for.

use std::collections::HashSet;

use serde::Serialize;

use super::{NAMED, Worked};
use crate::error::{Code, Result};
use crate::gate::{Criterion, Gate, Gates};
use crate::id::TaskId;
use crate::manifest::entry::Status as EntryStatus;
use crate::manifest::log;
use crate::ops::verify::{OutputVerdict, Violation, check_found};
use crate::store::{SpawnRecord, Transaction};
use crate::task::{Status, Task};
use crate::workspace::Workspace;

/// What is found of one finished task.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskReport {
    pub(crate) task_id: TaskId,
    /// The skill in its prompt; none when it was never spawned.
    pub(crate) skill: Option<String>,
    /// `pass` or `fail`; none when there is no protocol to check, because it was never spawned.
    pub(crate) verdict: Option<&'static str>,
    /// Every rule that it breaks.
    pub(crate) violations: Vec<Violation>,
    /// When its output was last found to hold.
    pub(crate) verified_at: Option<String>,
    /// When and by whom it was completed by force, if it was.
    pub(crate) forced: Option<String>,
    /// Gates that were passed before their turn.
    pub(crate) forced_gates: Vec<Gate>,
    /// What spoke against it when it was completed by force, such as stale evidence.
    pub(crate) forced_reasons: Vec<String>,
}

impl TaskReport {
    /// Says whether there is nothing to tell of a task but that it was never spawned.
    pub(super) fn is_only_unspawned(&self) -> bool {
        let is_forced = self.forced.is_some() || !self.forced_reasons.is_empty();
        let is_quiet = self.violations.is_empty() && self.forced_gates.is_empty();
        self.skill.is_none() && is_quiet && !is_forced
    }
}

/// Finished tasks of which nothing else is known than that they were never spawned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Unspawned {
    /// How many there are.
    pub(crate) total: usize,
    /// The first ten of them, by id.
    pub(crate) first: Vec<TaskId>,
}

impl Unspawned {
    pub(super) fn of(reports: &[TaskReport]) -> Unspawned {
        let first = reports.iter().take(NAMED).map(|report| report.task_id);
        Unspawned {
            total: reports.len(),
            first: first.collect(),
        }
    }
}

/// Checks every task that is done. The manifest is read once for all, and so are their gates.
pub(super) fn reports(
    transaction: &dyn Transaction,
    workspace: &Workspace,
    worked: &[Worked],
    required: &[String],
) -> Result<Vec<TaskReport>> {
    let is_done = |it: &&Worked| it.task.status == Status::Done;
    let mut done: Vec<&Worked> = worked.iter().filter(is_done).collect();
    done.sort_unstable_by_key(|it| it.task.id);
    let ids: Vec<TaskId> = done.iter().map(|it| it.task.id).collect();
    let mut gates = transaction.gates_of(&ids)?;
    let spawns = done.iter().filter_map(|it| it.spawn.as_ref());
    let entries: HashSet<&str> = spawns.map(|it| it.manifest_id.as_str()).collect();
    let mut found = log::find_all(&workspace.manifest()?, &entries)?;
    let mut reports = Vec::with_capacity(done.len());
    for Worked { task, spawn, .. } in done {
        let mut left = None;
        if let Some(spawn) = spawn {
            let entry = found.remove(&spawn.manifest_id).unwrap_or_default();
            left = Some((spawn, check_found(workspace, spawn, entry, required)?));
        }
        let gates = gates.remove(&task.id).unwrap_or_default();
        reports.push(report(task, left.as_ref(), gates));
    }
    Ok(reports)
}

/// Reports on a task, by what its agent left if it was spawned.
fn report(task: &Task, left: Option<&(&SpawnRecord, OutputVerdict)>, gates: Gates) -> TaskReport {
    let mut violations = left.map_or_else(Vec::new, |(spawn, verdict)| {
        let mut violations = verdict.verdict.violations.clone();
        violations.extend(unlike(spawn, verdict));
        violations
    });
    violations.extend(open_gates(&gates));
    violations.extend(unproven(task, &gates));
    let spawn = left.map(|(spawn, _)| *spawn);
    let forced = gates.forced.as_ref();
    let by_force = forced.map(|forced| format!("{} {}", forced.at, forced.by));
    let passed = gates.gates.iter().filter(|(_, record)| record.passed);
    TaskReport {
        task_id: task.id,
        skill: spawn.map(skill),
        verdict: match spawn {
            _ if !violations.is_empty() => Some("fail"),
            Some(_) => Some("pass"),
            None => None,
        },
        violations,
        verified_at: spawn.and_then(|spawn| spawn.verified_at.clone()),
        forced: spawn.and_then(|spawn| spawn.forced.clone()).or(by_force),
        forced_gates: passed
            .filter(|(_, record)| record.forced)
            .map(|(gate, _)| *gate)
            .collect(),
        forced_reasons: gates.forced.map_or_else(Vec::new, |forced| forced.reasons),
    }
}

fn skill(spawn: &SpawnRecord) -> String {
    let skill = spawn.receipt.get("skill").and_then(|skill| skill.as_str());
    skill.unwrap_or("unknown").to_string()
}

/// What is there is not what was verified, or says itself that it is not finished.
fn unlike(spawn: &SpawnRecord, verdict: &OutputVerdict) -> Vec<Violation> {
    let mut unlike = Vec::new();
    let (then, now) = (&spawn.output_digest, &verdict.output_digest);
    if let (Some(at), true) = (&spawn.verified_at, now.is_some() && then != now) {
        let message = format!("{} was changed after {at}, when it held", spawn.output_file);
        unlike.push(Violation::new(Code::OutputMissing, "OUT-001", message));
    }
    let status = verdict.entry_status;
    if let Some(status) =
        status.filter(|it| !matches!(it, EntryStatus::Complete | EntryStatus::Archived))
    {
        let message = format!("its entry says {status}, not complete");
        unlike.push(Violation::new(Code::NotVerified, "STATUS", message));
    }
    unlike
}

fn open_gates(gates: &Gates) -> Option<Violation> {
    let open: Vec<&str> = gates.open().iter().map(|gate| gate.name()).collect();
    let message = format!(
        "it is done, and gates that it needs are open: {}",
        open.join(", ")
    );
    let is_broken = gates.are_used() && !open.is_empty();
    is_broken.then(|| Violation::new(Code::GateOpen, "GATES", message))
}

fn unproven(task: &Task, gates: &Gates) -> Option<Violation> {
    let has_passed = |line: &String| gates.criteria.get(line).is_some_and(|it| it.passed);
    let is_open = |line: &&String| Criterion::read(line).command.is_some() && !has_passed(line);
    let n_open = task.acceptance.iter().filter(is_open).count();
    let message = format!("{n_open} of its criteria have a command that has not succeeded");
    (n_open > 0).then(|| Violation::new(Code::CriterionOpen, "CRITERIA", message))
}
