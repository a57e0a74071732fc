//! Which of the ready tasks can be worked on side by side.

use crate::error::Result;
use crate::id::TaskId;
use crate::store::Transaction;
use crate::task::Status;
use crate::task::graph::Conflict;
use crate::task::overlap::{Occupied, patterns};

/// Most tasks under way whose files are kept free.
const WORKING_MAX: u32 = 1_000;

/// Ready tasks that share no files, and those that have to wait for the files of others.
#[derive(Debug, Default)]
pub struct Apart {
    /// Tasks that can be given out at once, most urgent first.
    pub tasks: Vec<TaskId>,
    /// Tasks that cannot, each with who has its files.
    pub conflicts: Vec<Conflict>,
}

/// Chooses from ready tasks, most urgent first, at most `limit` that touch neither the files of
/// each other nor those of a task under way.
pub fn apart(transaction: &dyn Transaction, ready: &[TaskId], limit: usize) -> Result<Apart> {
    let working = transaction.recent(None, Status::Active, WORKING_MAX)?;
    let mut all: Vec<TaskId> = working.iter().chain(ready).copied().collect();
    all.sort_unstable();
    let outlines = transaction.outlines(&all)?;
    let files = |id: &TaskId| outlines.get(id).map_or(&[][..], |outline| &outline.files);
    let (mut occupied, mut spent) = (Occupied::default(), 0);
    for id in &working {
        occupied.take(id.0, patterns(files(id)));
    }
    let mut chosen = Apart::default();
    for id in ready {
        if chosen.tasks.len() == limit {
            break;
        }
        let own = patterns(files(id));
        if let Some((other, which)) = occupied.conflict(&own, &mut spent) {
            chosen.conflicts.push(Conflict {
                task: *id,
                conflicts_with: TaskId(other),
                files: which.iter().map(|at| files(id)[*at].clone()).collect(),
            });
        } else {
            occupied.take(id.0, own);
            chosen.tasks.push(*id);
        }
    }
    Ok(chosen)
}
