//! Parts of a task that its agent finished in a git worktree and left under review: the run completes them once they
//! hold in the workspace.

use std::collections::HashSet;

use super::engine::Engine;
use crate::claim::Claim;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::proof::Verdict;
use crate::ops::tasks::{claim, find_reviewing_run};

impl Engine<'_> {
    /// Runs the commands of parts in the workspace, which their agent left under review. Parts that do not hold there
    /// are given back; returned is what they lack.
    pub(super) fn prove_parts(&mut self, parts: &[Claim]) -> Result<Option<Verdict>> {
        let mut faults = Vec::new();
        for Claim { task, epoch, .. } in parts {
            let lacking = self.prove_in_workspace(*task, Some(*epoch), true)?;
            if lacking.is_cut_short() {
                return Ok(Some(lacking));
            }
            if let Some(fault) = lacking.faults.first() {
                claim::release(&mut self.context, *task, Some(*epoch), false)?;
                faults.push(part_fault(*task, fault));
            }
        }
        Ok((!faults.is_empty()).then(|| Verdict::from(faults)))
    }

    /// Gives back the parts of a task that are under review: the worktree that they were finished in is not merged.
    pub(super) fn release_parts(&mut self, id: TaskId) -> Result<()> {
        for Claim { task, epoch, .. } in self.parts_under_review(id)? {
            claim::release(&mut self.context, task, Some(epoch), false)?;
        }
        Ok(())
    }

    /// Finds the tasks below one that this run has under review and that are not its own steps, children first.
    pub(super) fn parts_under_review(&mut self, id: TaskId) -> Result<Vec<Claim>> {
        let (run, track) = (&self.recorder.run.id, &self.recorder.track);
        self.context.read(|transaction| {
            let (mut found, mut above, mut seen) = (Vec::new(), vec![id], HashSet::new());
            while let Some(next) = above.pop() {
                let mut below = transaction.children(next)?;
                below.retain(|part| seen.insert(*part));
                for part in &below {
                    // A damaged task counts as not under review.
                    let reviewed = find_reviewing_run(transaction, *part).unwrap_or_default();
                    if reviewed.as_ref() == Some(run) && track.task(*part).is_none() {
                        found.extend(transaction.claim(*part)?);
                    }
                }
                above.extend(below);
            }
            found.reverse();
            Ok(found)
        })
    }

    /// Gives back what agents claimed or left under review, and warns of it.
    pub(super) fn release_remaining(&mut self) -> Result<Vec<String>> {
        // A task that was being proven when the run was asked to end is completed with its parts when it resumes.
        let proving = self.recorder.track.tasks().iter();
        let proving = proving.filter(|task| task.state.is_under_way());
        let proving: Vec<TaskId> = proving.map(|task| task.planned.task_id).collect();
        let mut kept = HashSet::new();
        for id in proving {
            let parts = self.parts_under_review(id)?.into_iter();
            kept.extend(parts.map(|part| part.task));
        }
        let is_of_agent = |id| self.recorder.track.task(id).is_none() && !kept.contains(&id);
        let left = release_all(&mut self.context, &self.recorder.run.id, is_of_agent)?.into_iter();
        Ok(left
            .map(|id| {
                format!("{id} is given back: an agent of the run held it, and it is not done")
            })
            .collect())
    }
}

/// Returns the fault of a task whose part does not hold.
pub(super) fn part_fault(part: TaskId, fault: &Error) -> Error {
    let message = format!("its part {part} does not hold: {}", fault.message);
    let fix = fault.fix.clone();
    Error::new(Code::NotVerified, message).fix(fix.unwrap_or(format!("cleo show {part}")))
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
        match claim::release(context, task, Some(epoch), false) {
            Ok(_) => released.push(task),
            // It holds up no other task; who asks for it is told how to remove it.
            Err(error) if error.code == Code::RowDamaged => {}
            Err(error) => return Err(error),
        }
    }
    Ok(released)
}
