//! Whether each finished task still keeps what its protocols ask for.

use std::collections::HashSet;

use serde::Serialize;

use super::Worked;
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TaskReport {
    /// The task.
    pub task_id: TaskId,
    /// The skill in its prompt.
    pub skill: String,
    /// `pass` or `fail`.
    pub verdict: &'static str,
    /// Every rule that it breaks.
    pub violations: Vec<Violation>,
    /// When its output was last found to hold.
    pub verified_at: Option<String>,
    /// When and by whom it was completed by force, if it was.
    pub forced: Option<String>,
    /// Gates that were passed before their turn.
    pub forced_gates: Vec<Gate>,
}

/// Checks every task that was spawned and is done. The manifest is read once for all.
pub(super) fn reports(
    transaction: &dyn Transaction,
    workspace: &Workspace,
    worked: &[Worked],
    required: &[String],
) -> Result<Vec<TaskReport>> {
    let is_done = |it: &&Worked| it.task.status == Status::Done;
    let spawned = worked.iter().filter(is_done);
    let spawned: Vec<(&Task, &SpawnRecord)> = spawned
        .filter_map(|it| Some((&it.task, it.spawn.as_ref()?)))
        .collect();
    let ids: HashSet<&str> = spawned
        .iter()
        .map(|(_, it)| it.manifest_id.as_str())
        .collect();
    let mut found = log::find_all(&workspace.manifest()?, &ids)?;
    let mut reports = Vec::with_capacity(spawned.len());
    for (task, spawn) in spawned {
        let entry = found.remove(&spawn.manifest_id).unwrap_or_default();
        let verdict = check_found(workspace, spawn, entry, required)?;
        let gates = transaction.gates(task.id)?;
        reports.push(report(task, spawn, verdict, gates));
    }
    reports.sort_by_key(|report| report.task_id);
    Ok(reports)
}

fn report(task: &Task, spawn: &SpawnRecord, verdict: OutputVerdict, gates: Gates) -> TaskReport {
    let mut violations = verdict.verdict.violations.clone();
    violations.extend(unlike(spawn, &verdict));
    violations.extend(open_gates(&gates));
    violations.extend(unproven(task, &gates));
    let skill = spawn.receipt.get("skill").and_then(|skill| skill.as_str());
    let forced = gates.forced.as_ref();
    let forced = forced.map(|forced| format!("{} {}", forced.at, forced.by));
    let passed = gates.gates.iter().filter(|(_, record)| record.passed);
    TaskReport {
        task_id: task.id,
        skill: skill.unwrap_or("unknown").to_string(),
        verdict: if violations.is_empty() {
            "pass"
        } else {
            "fail"
        },
        violations,
        verified_at: spawn.verified_at.clone(),
        forced: spawn.forced.clone().or(forced),
        forced_gates: passed
            .filter(|(_, record)| record.forced)
            .map(|(gate, _)| *gate)
            .collect(),
    }
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
