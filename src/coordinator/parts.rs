//! Parts of a task that its agent completed in a worktree. Like the task they count once they hold in the workspace.

use super::engine::Engine;
use super::giving_up::release_all;
use super::taking_up::completion;
use crate::claim::Lease;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::complete::Lacking;
use crate::ops::{Context, claims};
use crate::run::track::Track;
use crate::task::Status;

impl Engine<'_> {
    /// Runs the commands of the parts of a task in the workspace. Those that do not hold there are opened again;
    /// returned is what they lack.
    pub(super) fn prove_parts(&mut self, id: TaskId) -> Result<Option<Lacking>> {
        let mut faults = Vec::new();
        for part in find(&mut self.context, &self.track, id, &self.run.id)? {
            let lacking = self.prove_at_home(part, None)?;
            if let Some(fault) = lacking.faults.into_iter().next() {
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
            open_unmerged(&mut self.context, &self.track, &self.run.id, lease)?;
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
    run: &str,
    lease: Lease,
) -> Result<()> {
    for task in track.tasks().iter().filter(|task| !task.is_done()) {
        for part in find(context, track, task.task_id, run)? {
            open(context, part, lease)?;
        }
    }
    Ok(())
}

/// Finds the tasks below one that agents of a run completed, and that are no tasks of the run.
fn find(context: &mut Context, track: &Track, id: TaskId, run: &str) -> Result<Vec<TaskId>> {
    context.read(|transaction| {
        let (mut found, mut above) = (Vec::new(), vec![id]);
        while let Some(next) = above.pop() {
            let mut below = transaction.children(next)?;
            below.retain(|id| track.task(*id).is_none());
            for part in &below {
                // A damaged task is not done as far as anybody can tell.
                let status = transaction.status(*part).unwrap_or_default();
                let is_done = status == Some(Status::Done);
                if is_done && completion(transaction, *part, run)? == Some(false) {
                    found.push(*part);
                }
            }
            above.extend(below);
        }
        Ok(found)
    })
}

/// Opens a task that was done without proof.
pub(super) fn open(context: &mut Context, id: TaskId, lease: Lease) -> Result<()> {
    let claim = claims::take_back(context, id, lease)?;
    claims::release(context, id, Some(claim.epoch), false).map(drop)
}
