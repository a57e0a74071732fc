//! What was done, and is not any more.

use super::check::refusal;
use super::output::look_at_outputs;
use crate::error::{Error, Result};
use crate::id::TaskId;
use crate::ops::Context;
use crate::task::Status;

/// How a task that was done is not any more.
#[derive(Debug)]
pub(crate) enum Undone {
    /// What its agent left is not there any more or does not verify.
    Broken(Box<Error>),
    /// Somebody has opened it again.
    Open(Status),
}

/// Finds the tasks among these that are done, each under the epoch of a claim, and that something has undone
/// since. Of what is left only entries and files are looked at: evidence may have to be taken again by now, and
/// more may be asked of the task. What is archived, was taken on by somebody else or cannot be read is left alone.
pub(crate) fn find_undone(
    context: &mut Context,
    done: &[(TaskId, Option<u32>)],
) -> Result<Vec<(TaskId, Undone)>> {
    let (mut undone, mut records) = (Vec::new(), Vec::new());
    context.read(|transaction| {
        for (id, epoch) in done {
            match transaction
                .task(*id)?
                .filter(|task| task.archived_at.is_none())
            {
                Some(task) if task.status != Status::Done => {
                    undone.push((*id, Undone::Open(task.status)));
                }
                Some(_) => {
                    let claim = transaction.claim(*id)?;
                    let is_last = claim.is_some_and(|claim| Some(claim.epoch) == *epoch);
                    let record = transaction.latest_spawn(*id)?;
                    let record = record.filter(|record| record.verified_at.is_some());
                    records.extend(record.filter(|_| is_last));
                }
                None => {}
            }
        }
        Ok(())
    })?;
    if records.is_empty() {
        return Ok(undone);
    }
    let required = context.load_sections()?.to_vec();
    let left = look_at_outputs(&context.workspace, &records, &required).unwrap_or_default();
    for left in left.into_iter().flatten() {
        if let Some(fault) = refusal(&left) {
            undone.push((left.task_id, Undone::Broken(Box::new(fault))));
        }
    }
    Ok(undone)
}
