//! Parts of a task that its agent completed in a worktree. Like the task they count once they hold in the workspace.

use std::collections::BTreeSet;
use std::path::Path;

use super::engine::Engine;
use super::taking_up::completing_agent;
use crate::claim::{Claim, Lease};
use crate::error::{Code, Error, Result};
use crate::gate::{Evidence, Gates, Record};
use crate::id::TaskId;
use crate::ops::complete::Lacking;
use crate::ops::{Context, claims};
use crate::run::Run;
use crate::run::track::Track;
use crate::store::{OperationFilter, Recorded};
use crate::task::Status;

impl Engine<'_> {
    /// Runs the commands of the parts of a task in the workspace. Those that do not hold there are opened again;
    /// returned is what they lack.
    pub(super) fn prove_parts(&mut self, id: TaskId) -> Result<Option<Lacking>> {
        let mut faults = Vec::new();
        for part in find(&mut self.context, &self.track, id, &self.run.id)? {
            let lacking = self.prove_at_home(part, None)?;
            // What only its agent chose is not run here.
            let is_left = |code| matches!(code, Code::EvidenceStale | Code::Untrusted);
            let is_fault = |fault: &Error| !is_left(fault.code);
            if let Some(fault) = lacking.faults.into_iter().find(is_fault) {
                open(&mut self.context, part, self.options.lease())?;
                let message = format!("its part {part} does not hold: {}", fault.message);
                let fix = format!("cleo verify {part}");
                faults.push(Error::new(Code::NotVerified, message).fix(fix));
            }
        }
        Ok((!faults.is_empty()).then(|| Lacking {
            faults,
            ..Lacking::default()
        }))
    }

    /// Opens parts whose work was not merged, and releases what agents claimed and left; warns of the latter.
    pub(super) fn give_back_left(&mut self) -> Result<Vec<String>> {
        let lease = self.options.lease();
        if self.trees.is_some() {
            open_unmerged(&mut self.context, &self.track, &self.run, lease)?;
        }
        let is_of_agent = |id| self.track.task(id).is_none();
        let left = release_all(&mut self.context, &self.run.id, is_of_agent)?.into_iter();
        Ok(left
            .map(|id| format!("{id} is given back: an agent claimed it and left it open"))
            .collect())
    }
}

/// Opens the parts of tasks that are not done: what they were completed by was not merged.
pub(super) fn open_unmerged(
    context: &mut Context,
    track: &Track,
    run: &Run,
    lease: Lease,
) -> Result<()> {
    let unmerged = track.tasks().iter().filter(|task| !task.is_done());
    let unmerged = Vec::from_iter(unmerged.map(|task| task.task_id));
    let mut parts = BTreeSet::from_iter(find_moved(context, run, &unmerged)?);
    for id in unmerged {
        parts.extend(find(context, track, id, &run.id)?);
    }
    for part in parts {
        open(context, part, lease)?;
    }
    Ok(())
}

/// Finds what agents of a run completed in the worktrees of tasks, wherever it was moved since.
fn find_moved(context: &mut Context, run: &Run, tasks: &[TaskId]) -> Result<Vec<TaskId>> {
    let filter = OperationFilter {
        since: Some(run.started_at.clone()),
        ..OperationFilter::default()
    };
    let trees = context
        .workspace
        .root
        .join(".cleo/runs")
        .join(&run.id)
        .join("trees");
    // A worktree is named after its task and the attempt: T3-1.
    let is_meant = |worktree: &str| {
        let below = Path::new(worktree)
            .strip_prefix(&trees)
            .unwrap_or(Path::new(""));
        let name = below.iter().next().unwrap_or_default().to_string_lossy();
        tasks
            .iter()
            .any(|task| name.starts_with(&format!("{task}-")))
    };
    context.read(|transaction| {
        let mut found = Vec::new();
        let (operations, _) = transaction.operations(&filter)?;
        for operation in operations.iter().filter(|operation| operation.by == run.id) {
            for Recorded { change, .. } in transaction.changes_of(operation.number, u32::MAX)? {
                let completed = change
                    .task
                    .filter(|_| change.detail["status"]["to"] == "done");
                if let Some(id) = completed
                    && transaction.status(id).unwrap_or_default() == Some(Status::Done)
                    && completing_agent(transaction, id)?.as_ref() == Some(&run.id)
                    && worktrees_of(&transaction.gates(id)?).any(is_meant)
                {
                    found.push(id);
                }
            }
        }
        Ok(found)
    })
}

/// Finds the tasks below one that agents of this run completed, or those of another one by what was only in a
/// worktree, and that are no tasks of this run.
fn find(context: &mut Context, track: &Track, id: TaskId, run: &str) -> Result<Vec<TaskId>> {
    context.read(|transaction| {
        let (mut found, mut above) = (Vec::new(), vec![id]);
        while let Some(next) = above.pop() {
            let mut below = transaction.children(next)?;
            below.retain(|id| track.task(*id).is_none());
            for part in &below {
                // A damaged task is not done as far as anybody can tell.
                let status = transaction.status(*part).unwrap_or_default();
                if status != Some(Status::Done) {
                    continue;
                }
                let by = completing_agent(transaction, *part)?;
                let is_unmerged =
                    |gates: Gates| by.is_some() && worktrees_of(&gates).next().is_some();
                if by.as_deref() == Some(run) || is_unmerged(transaction.gates(*part)?) {
                    found.push(*part);
                }
            }
            above.extend(below);
        }
        Ok(found)
    })
}

/// Lists the worktrees of runs in which evidence was taken.
fn worktrees_of(gates: &Gates) -> impl Iterator<Item = &str> {
    let records = gates.gates.values().chain(gates.criteria.values());
    records
        .flat_map(|record| &record.evidence)
        .filter_map(worktree_of)
}

fn worktree_of(evidence: &Evidence) -> Option<&str> {
    let worktree = evidence.origin.as_ref()?.worktree.as_deref()?;
    worktree.contains("/.cleo/runs/").then_some(worktree)
}

/// Opens a task that was done without proof. What was only seen in a worktree proves nothing any more.
pub(super) fn open(context: &mut Context, id: TaskId, lease: Lease) -> Result<()> {
    let claim = claims::take_back(context, id, lease)?;
    context.write(|transaction| {
        let mut gates = transaction.gates(id)?;
        let is_kept = |record: &Record| {
            record
                .evidence
                .iter()
                .all(|each| worktree_of(each).is_none())
        };
        gates.gates.retain(|_, record| is_kept(record));
        gates.criteria.retain(|_, record| is_kept(record));
        transaction.put_gates(id, &gates)
    })?;
    claims::release(context, id, Some(claim.epoch), false).map(drop)
}

/// Releases what a run holds, as far as it is to be released.
pub(super) fn release_all(
    context: &mut Context,
    run: &str,
    is_meant: impl Fn(TaskId) -> bool,
) -> Result<Vec<TaskId>> {
    let mut held = context.read(|transaction| transaction.claims_of(run))?;
    held.retain(|claim| is_meant(claim.task));
    let mut released = Vec::new();
    for Claim { task, epoch, .. } in held {
        match claims::release(context, task, Some(epoch), false) {
            Ok(_) => released.push(task),
            // It holds up no other task; who asks for it is told how to remove it.
            Err(error) if error.code == Code::RowDamaged => {}
            Err(error) => return Err(error),
        }
    }
    Ok(released)
}
