//! Which of the ready tasks can be worked on side by side.

use std::collections::HashSet;

use crate::error::Result;
use crate::id::TaskId;
use crate::store::Transaction;
use crate::task::Status;
use crate::task::graph::Conflict;
use crate::task::overlap::{Occupied, patterns};

/// Most tasks under way whose files are kept free.
const WORKING_MAX: u32 = 1_000;
/// How many files a sentence names.
const FILES_TOLD: usize = 3;

/// Ready tasks that share no files, and those that have to wait for the files of others.
#[derive(Debug, Default)]
pub(crate) struct Apart {
    /// Tasks that can be given out at once, most urgent first.
    pub(crate) tasks: Vec<TaskId>,
    /// Tasks that cannot, each with who has its files.
    pub(crate) conflicts: Vec<Conflict>,
}

/// Chooses from ready tasks, most urgent first, at most `limit` that touch neither the files of
/// each other nor those of a task under way at `now` (RFC 3339 in UTC).
pub(crate) fn apart(
    transaction: &dyn Transaction,
    ready: &[TaskId],
    limit: usize,
    now: &str,
) -> Result<Apart> {
    apart_from(transaction, &working(transaction, now)?, ready, limit)
}

/// Reads which tasks are under way: active ones, and those that somebody holds.
pub(super) fn working(transaction: &dyn Transaction, now: &str) -> Result<Vec<TaskId>> {
    let mut working = transaction.recent(None, Status::Active, WORKING_MAX)?;
    let mut known: HashSet<TaskId> = working.iter().copied().collect();
    let held = transaction.running_claims(now, WORKING_MAX)?;
    let held = held.into_iter().map(|claim| claim.task);
    working.extend(held.filter(|id| known.insert(*id)));
    Ok(working)
}

/// Chooses as [`apart`] does, beside these tasks under way.
pub(super) fn apart_from(
    transaction: &dyn Transaction,
    working: &[TaskId],
    ready: &[TaskId],
    limit: usize,
) -> Result<Apart> {
    let mut all: Vec<TaskId> = working.iter().chain(ready).copied().collect();
    all.sort_unstable();
    let outlines = transaction.outlines(&all)?;
    let mut occupied = Occupied::default();
    for id in working {
        occupied.take(id.0, patterns(outlines.files(*id)));
    }
    let mut chosen = Apart::default();
    for id in ready {
        if chosen.tasks.len() == limit {
            break;
        }
        let files = outlines.files(*id);
        let own = patterns(files);
        if let Some(taken) = occupied.conflict(&own) {
            chosen.conflicts.push(Conflict {
                task: *id,
                conflicts_with: TaskId(taken.owner),
                files: taken.texts.iter().map(|at| files[*at].clone()).collect(),
            });
        } else {
            occupied.take(id.0, own);
            chosen.tasks.push(*id);
        }
    }
    Ok(chosen)
}

/// Says why a task has to wait for the files of one under way.
pub(crate) fn told(conflict: &Conflict) -> String {
    let (task, other) = (conflict.task, conflict.conflicts_with);
    let files = &conflict.files[..conflict.files.len().min(FILES_TOLD)];
    let more = match conflict.files.len() - files.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let files = files.join(", ");
    format!("{task} touches files that {other} works on: {files}{more}")
}
